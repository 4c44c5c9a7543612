// headlight answer: answers questions from passages or images.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/pipelines/folder_answerer.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/text/printable.h"

namespace headlight::answer {
namespace {

constexpr std::uint64_t kLongestPassage = std::uint64_t{1} << 24;  // bytes
constexpr std::size_t kQuestionsAhead = 1 << 12;                   // in bytes; about fifty questions and their images

struct Options : LineOptions {
  std::string folder, question, context, image;
  const Option* question_given = nullptr;
  FolderAnswererOptions answerer;
  bool cuts_words = false;
};

Json WithAnswer(Json object, const FolderAnswer& answer, AnswerForm form) {
  object.Set("answer", answer.found ? Json(answer.answer) : Json());
  if (answer.score) object.Set("score", *answer.score);
  if (form == AnswerForm::found) {
    object.Set("start", answer.found ? Json(answer.start) : Json());
    object.Set("end", answer.found ? Json(answer.end) : Json());
  }
  return object;
}

std::string JsonRow(std::int64_t line, const FolderAnswer& answer, AnswerForm form, bool several) {
  Json object = Json::Object{{"line", line}};
  if (!several) return WithAnswer(std::move(object), answer, form).Line() + "\n";
  Json::Array all = {WithAnswer(Json::Object{}, answer, form)};
  for (const FolderAnswer& one : answer.further) all.push_back(WithAnswer(Json::Object{}, one, form));
  object.Set("answers", std::move(all));
  return object.Line() + "\n";
}

std::string ColumnsOf(const FolderAnswer& answer, AnswerForm form) {
  if (form == AnswerForm::chosen) return fmt::format("{:.3f}\t{}", answer.score.value(), answer.answer);
  if (form == AnswerForm::written) return OnOneLine(answer.answer);
  return fmt::format("{:.4f}\t{}\t{}\t{}", answer.score.value(), answer.start, answer.end, OnOneLine(answer.answer));
}

std::string Row(std::int64_t line, const FolderAnswer& answer, AnswerForm form, const Options& options) {
  if (options.json) return JsonRow(line, answer, form, options.answerer.top_k.has_value());
  std::string row = ColumnsOf(answer, form);
  for (const FolderAnswer& one : answer.further) row += "\t" + ColumnsOf(one, form);
  return row + "\n";
}

// Returns the rows to print for the answers to questions. `first` is the number of the first line.
std::vector<std::string> RowsOf(const std::vector<FolderAnswer>& answers, std::int64_t first, AnswerForm form,
                                const Options& options) {
  std::vector<std::string> rows;
  for (const FolderAnswer& answer : answers) rows.push_back(Row(first + std::ssize(rows), answer, form, options));
  return rows;
}

std::vector<FolderAnswer> AnswerPassages(const FolderAnswerer& answerer, const LineBatch& batch) {
  std::vector<Question> questions;
  for (std::size_t line = 0; line < batch.lines.size(); ++line) {
    auto [question, passage] = TwoColumns(batch, line, "a question and a passage");
    questions.push_back({std::move(question), std::move(passage)});
  }
  return answerer.passages(questions, batch.name_of);
}

std::vector<FolderAnswer> AnswerImages(const FolderAnswerer& answerer, const LineBatch& batch) {
  std::vector<Image> images;
  std::vector<std::string> paths;
  std::vector<ImageQuestion> questions;
  std::map<std::string, std::size_t> read;  // index of each image by its path
  for (std::size_t line = 0; line < batch.lines.size(); ++line) {
    auto [question, path] = TwoColumns(batch, line, "a question and an image's path");
    const auto [known, is_new] = read.emplace(path, images.size());
    if (is_new) {
      try {
        images.push_back(ReadImage(path));
      } catch (const Error& error) {
        throw Error(batch.name_of(line) + ": " + error.what(), error.cause());
      }
      paths.push_back(std::move(path));
    }
    questions.push_back({known->second, std::move(question)});
  }
  return answerer.images(
      images, questions, [&](std::size_t image) { return paths[image]; }, batch.name_of);
}

// Returns the answer to --question.
FolderAnswer AnswerOne(const FolderAnswerer& answerer, const Options& options) {
  if (answerer.images) {
    const std::vector<Image> image = {ReadImage(Input(options.image))};
    const std::vector<ImageQuestion> question = {{0, options.question}};
    return answerer.images(image, question, [&](std::size_t) { return options.image; }, {}).front();
  }
  const std::vector<Question> question = {{options.question, ReadFile(Input(options.context), kLongestPassage)}};
  return answerer.passages(question, [&](std::size_t) { return options.context; }).front();
}

void Run(const Options& options) {
  Check(!options.question_given->given() || !options.context.empty() || !options.image.empty(),
        "--question needs --context or --image");
  if (options.question_given->given()) RefuseTextOptions(options.source, "--question is one question");
  const bool passages = AnswersFromOf(options.folder) == AnswersFrom::passages;
  Check(passages || options.context.empty(),
        "{}: --context is for models that read passages, and this one reads images", options.folder);
  Check(!passages || (options.image.empty() && options.answerer.detector.empty()),
        "{}: --image and --detector are for models that read images, and this one reads passages", options.folder);
  FolderAnswererOptions how = options.answerer;
  how.truncate = options.truncate;
  how.on_truncated = NoteTruncated;
  how.align_words = !options.cuts_words;
  const FolderAnswerer answerer = Loaded([&] { return FolderAnswerer::Load(options.folder, how); });
  if (!options.context.empty() || !options.image.empty())
    return WriteResult(Row(1, AnswerOne(answerer, options), answerer.form, options));
  const auto rows = [&](const LineBatch& batch) {
    return RowsOf(passages ? AnswerPassages(answerer, batch) : AnswerImages(answerer, batch), batch.first,
                  answerer.form, options);
  };
  ForEachLineBatch(options, "lines answered", passages ? BytesAhead(AnswerOptions().batch_tokens) : kQuestionsAhead,
                   rows);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "answer", "Answer questions from passages or images", Run);
  AddFolder(command, options.folder,
            "Folder of an encoder with a question-answering head, a T5, BART or BLIP, a ViLT with answers, or a "
            "ViLBERT, LXMERT or VisualBERT that reads pixels of regions; or GGUF file of a T5");
  Option& input = command.Add("FILE", options.input,
                              "Lines of QUESTION<tab>PASSAGE, or of QUESTION<tab>IMAGE with the path of an image, "
                              "or records with question and context or image (see --format), plain or gzip; - is "
                              "standard input [-]");
  Option& question = command.Add("--question", options.question, "One question, instead of those of FILE");
  Option& context = command.Add("--context", options.context, "File with the passage; - is standard input");
  Option& image = command.AddFile("--image", options.image,
                                  "File with the image: JPEG, PNG, WebP, BMP, GIF or TIFF; - is standard input");
  question.Type("TEXT").Excludes(input);
  context.Type("FILE").Needs(question);
  image.Needs(question).Excludes(context);
  options.question_given = &question;
  command.Add("--detector", options.answerer.detector, "Folder of a detector that finds the regions of the image")
      .Model()
      .Type("DIR");
  command.Add("--max-length", options.answerer.max_length, AtLeast(1),
              "Maximum tokens of an answer [15; of a written answer the model's]");
  command.Add("--always", options.answerer.always, "Answer even if \"no answer\" is more probable");
  command.Add("--top-k", options.answerer.top_k, Between(1, 100),
              "Print the N best answers, which may include \"no answer\" [1]");
  command.Add("--no-align-words", options.cuts_words, "Allow answers that begin or end within a word");
  command.Add("--max-input-length", options.answerer.max_input_length, AtLeast(1),
              "Tokens of a window over a longer passage, with the question [384, or the model's maximum]");
  command.Add("--stride", options.answerer.stride, AtLeast(0),
              "Tokens that neighboring windows share [128, at most half of a window]");
  command.Add("--json", options.json, "Print one JSON object per answer");
  options.source.asked = TextsAsked::texts;
  Describe(command, options.source);
  AddTruncate(command, options);
  AddSkipErrors(command, options).Excludes(question);
  AddComputeOption(command, options.answerer.load.compute, ModelFiles::folders_and_gguf);
  command.footer =
      "\nEach line of the output is SCORE<tab>BEGIN<tab>END<tab>ANSWER. SCORE is the probability of the answer, "
      "summed over its occurrences. BEGIN and END are characters of the passage, counted from 0. If \"no "
      "answer\" is more probable, SCORE is its probability, and ANSWER is empty. With --top-k further answers "
      "follow after tabs.\n\n"
      "A T5 or BART writes an answer, which is printed without a score. So does a BLIP, which reads an image. A "
      "ViLT, ViLBERT, LXMERT or VisualBERT chooses one of its answers; the line is SCORE<tab>ANSWER.\n\n"
      "Examples:\n"
      "  headlight answer roberta-squad2 --question 'Who wrote it?' --context article.txt\n"
      "  headlight answer roberta-squad2 questions.tsv --json --top-k 3\n"
      "  headlight answer t5-small questions.tsv\n"
      "  headlight answer blip-vqa-base --image cats.jpg --question 'How many cats are there?'\n"
      "  headlight answer vilt-b32-finetuned-vqa --image cats.jpg --question 'How many cats are there?'\n"
      "  headlight answer vilbert --image scenes/test/0.png --question 'How many shapes are there?' --detector detr";
}

}  // namespace headlight::answer
