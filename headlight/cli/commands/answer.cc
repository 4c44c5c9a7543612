// headlight answer: answers to questions, found in passages, or written after reading them or looking at images.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/commands/answer_images.h"
#include "headlight/cli/commands/answer_regions.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/io/model_folder.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/kinds/region_text_encoder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/question_answerer.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/pipelines/translator.h"
#include "headlight/text/printable.h"

namespace headlight::answer {
namespace {

constexpr std::uint64_t kLongestPassage = std::uint64_t{1} << 24;  // bytes

struct Options : ImageQuestionOptions {
  std::string context;
  const Option* question_given = nullptr;
  bool always = false;
};

std::string Row(std::int64_t line, const AnswerSpan& answer, bool json) {
  if (!json) {
    std::string text = answer.answer;
    for (char& c : text)
      if (c == '\n' || c == '\t' || c == '\r') c = ' ';
    return fmt::format("{:.4f}\t{}\t{}\t{}\n", answer.score, answer.start, answer.end, text);
  }
  Json object =
      Json::Object{{"line", line}, {"answer", Json()}, {"score", answer.score}, {"start", Json()}, {"end", Json()}};
  if (answer.found) {
    object.Set("answer", answer.answer);
    object.Set("start", answer.start);
    object.Set("end", answer.end);
  }
  return object.Line() + "\n";
}

using NameOf = std::function<std::string(std::size_t question)>;
// The rows to print for the questions of lines from `first` on.
using Reply = std::function<std::vector<std::string>(const std::vector<Question>& questions, std::int64_t first,
                                                     const NameOf& name_of)>;

// For a model that finds answers in passages.
Reply Finds(const Options& options) {
  const QuestionAnswerer answerer =
      Loaded([&] { return QuestionAnswerer::Load(options.folder, {.compute = options.compute}); });
  AnswerOptions ask{.may_decline = !options.always};
  ask.longest_answer = options.max_length.value_or(ask.longest_answer);
  return [answerer, ask, json = options.json](const std::vector<Question>& questions, std::int64_t first,
                                              const NameOf& name_of) mutable {
    ask.name_of = name_of;
    std::vector<std::string> rows;
    for (const AnswerSpan& answer : answerer.Answer(questions, ask))
      rows.push_back(Row(first + std::ssize(rows), answer, json));
    return rows;
  };
}

// For a model that writes answers, from T5's input for SQuAD (Raffel et al., 2020, appendix D).
Reply Writes(const Options& options) {
  Check(!options.always, "--always is for models that find an answer in the passage; this one always writes one");
  const Translator translator = Loaded([&] { return Translator::Load(options.folder, {.compute = options.compute}); });
  TranslateOptions how;
  Check(options.max_length.value_or(1) <= translator.model().limits().positions,
        "--max-length {}: the model writes at most {} tokens", options.max_length.value_or(1),
        translator.model().limits().positions);
  how.max_length = static_cast<std::int32_t>(options.max_length.value_or(0));
  return [translator, how, json = options.json](const std::vector<Question>& questions, std::int64_t first,
                                                const NameOf& name_of) {
    const std::int64_t most = translator.model().limits().positions;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      Check(!questions[i].context.empty(), "{}: the passage has no tokens", name_of(i));
      texts.push_back(fmt::format("question: {} context: {}", questions[i].question, questions[i].context));
      std::ranges::replace_if(
          texts.back(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
      const std::int64_t tokens = translator.CountTokens(texts.back(), how);
      Check(tokens <= most,
            "{}: with the question {} tokens, and the model reads at most {}: the passage must be shortened",
            name_of(i), tokens, most);
    }
    std::vector<std::string> rows;
    for (const auto& answers : translator.TranslateBatch(texts, how)) {
      const std::string& text = answers.front().text;
      const std::int64_t line = first + std::ssize(rows);
      rows.push_back((json ? Json(Json::Object{{"line", line}, {"answer", text}}).Line() : OnOneLine(text)) + "\n");
    }
    return rows;
  };
}

void Run(const Options& options) {
  Check(!options.question_given->given() || !options.context.empty() || !options.image.empty(),
        "--question needs --context or --image");
  const std::string_view kind = FamilyOf(OpenModelFolder(options.folder)).kind;
  if (kind == CaptionModel::kKind) {
    Check(options.context.empty(), "{}: --context is for models that read passages, and this one reads images",
          options.folder);
    Check(options.detector.empty(), "--detector is for models that read regions; this one reads the whole image");
    Check(!options.always, "--always is for models that find an answer or none; this one writes one always");
    return AnswerImages(options);
  }
  if (kind == RegionTextEncoder::kKind) {
    Check(options.context.empty(), "{}: --context is for models that read passages, and this one reads images",
          options.folder);
    Check(!options.always && !options.max_length,
          "--always and --max-length are for models that read passages; this one chooses one of the answers it knows");
    return AnswerRegions(options);
  }
  Check(options.image.empty() && options.detector.empty(),
        "{}: --image and --detector are for models that read images, and this one reads passages", options.folder);
  const bool writes = kind == EncoderDecoder::kKind;
  const Reply reply = writes ? Writes(options) : Finds(options);
  if (!options.context.empty()) {
    const std::string passage = ReadFile(Input(options.context), kLongestPassage);
    for (const std::string& row : reply({{options.question, passage}}, 1, [&](std::size_t) { return options.context; }))
      WriteResult(row);
    return;
  }
  const auto rows = [&](const LineBatch& batch) {
    std::vector<Question> questions;
    for (std::size_t line = 0; line < batch.lines.size(); ++line) {
      auto [question, passage] = TwoColumns(batch, line, "a question and a passage");
      questions.push_back({std::move(question), std::move(passage)});
    }
    return reply(questions, batch.first, batch.name_of);
  };
  ForEachLineBatch(options, "lines answered", BytesAhead(AnswerOptions().batch_tokens), rows);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "answer", "Answer questions from passages or images", Run);
  AddFolder(
      command, options.folder,
      "Folder of an encoder with a question-answering head, of a T5 or a BART, of a BLIP, or of a ViLBERT, LXMERT, "
      "VisualBERT or ViLT with answers");
  Option& input =
      command.Add("FILE", options.input,
                  "Lines of QUESTION<tab>PASSAGE, or of QUESTION<tab>IMAGE with an image's "
                  "path, plain or gzip, or records of a .jsonl or .csv file with question and context; - is "
                  "standard input [-]");
  Option& question = command.Add("--question", options.question, "One question, instead of a file's");
  Option& context = command.Add("--context", options.context, "The passage: this whole file; - is standard input");
  Option& image =
      command.AddFile("--image", options.image, "The image: JPEG, PNG, WebP, BMP, GIF or TIFF; - is standard input");
  question.Type("TEXT").Excludes(input);
  context.Type("FILE").Needs(question);
  image.Needs(question).Excludes(context);
  options.question_given = &question;
  command.Add("--detector", options.detector, "Folder of a detector that finds what is in the image")
      .Check(ExistingFolder())
      .Type("DIR");
  command.Add("--max-length", options.max_length, AtLeast(1),
              "Most tokens per answer [15; of a written answer the model's]");
  command.Add("--always", options.always, "Answer even where \"no answer\" is more probable");
  command.Add("--json", options.json, "Print one JSON object per answer");
  AddSkipErrors(command, options).Excludes(question);
  AddComputeOption(command, options.compute);
  command.footer =
      "\nPrints SCORE<tab>BEGIN<tab>END<tab>ANSWER: the probability that it begins and ends there, and where that is\n"
      "in the passage, in characters from 0. Where the model finds \"no answer\" more probable, that is its score, "
      "and\n"
      "the answer is empty (null with --json). A passage that has more than 384 tokens with the question, or more "
      "than\n"
      "the model reads, is read in windows that share 128 tokens, or half of what is read at once: the best span of "
      "any\n"
      "counts, and the lowest score of no answer.\n\n"
      "A T5 or a BART reads \"question: QUESTION context: PASSAGE\" and writes an answer in its own words, which is\n"
      "printed alone. A passage that it cannot read as a whole is refused, since its answer may be in any part.\n"
      "A BLIP looks at an image, and writes an answer, too. A ViLT chooses one of those that it knows, which is "
      "printed\n"
      "with its probability and a tab before it; so does a ViLBERT, LXMERT or VisualBERT, which reads what a detector\n"
      "finds in the image.\n\n"
      "Examples:\n"
      "  headlight answer roberta-squad2 --question 'Who wrote it?' --context article.txt\n"
      "  headlight answer roberta-squad2 questions.tsv --json\n"
      "  headlight answer t5-small questions.tsv\n"
      "  headlight answer blip-vqa-base --image cats.jpg --question 'How many cats are there?'\n"
      "  headlight answer vilt-b32-finetuned-vqa --image cats.jpg --question 'How many cats are there?'\n"
      "  headlight answer vilbert --image street.jpg --question 'How many cars are there?' --detector "
      "detr-resnet-50";
}

}  // namespace headlight::answer
