// headlight answer: answers to questions, found in passages.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/line_batches.h"
#include "headlight/cli/output.h"
#include "headlight/cli/translation_options.h"
#include "headlight/io/json.h"
#include "headlight/serve/answerer.h"

namespace headlight {
namespace {

constexpr std::uint64_t kLongestPassage = std::uint64_t{1} << 24;  // bytes

struct Options {
  std::string folder, input = "-", question, context;
  std::int64_t max_length = AnswerOptions().longest_answer;
  std::optional<kernels::Compute> compute;
  bool always = false, json = false;
};

void Print(const Answer& answer, bool json) {
  if (!json) {
    std::string text = answer.text;
    for (char& c : text)
      if (c == '\n' || c == '\t' || c == '\r') c = ' ';
    WriteResult(fmt::format("{:.4f}\t{}\t{}\t{}\n", answer.score, answer.begin, answer.end, text));
    return;
  }
  Json object = Json::Object{{"score", answer.score}, {"answer", Json()}};
  if (answer.found) {
    object.Set("answer", answer.text);
    object.Set("begin", answer.begin);
    object.Set("end", answer.end);
  }
  WriteResult(object.Line() + "\n");
}

void Run(const Options& options) {
  Check(options.max_length >= 1, "--max-length must be at least 1, not {}", options.max_length);
  const Answerer answerer = Answerer::Load(options.folder, options.compute);
  AnswerOptions ask{.longest_answer = options.max_length, .may_decline = !options.always};
  if (!options.context.empty()) {
    ask.name_of = [&](std::size_t) { return options.context; };
    const Question question{options.question, ReadFile(options.context, kLongestPassage)};
    Print(answerer.Ask({&question, 1}, ask).front(), options.json);
    return;
  }
  ForEachLineBatch(options.input, "answered", [&](const LineBatch& batch) {
    std::vector<Question> questions;
    for (std::size_t line = 0; line < batch.lines.size(); ++line) {
      const std::string& text = batch.lines[line];
      const std::size_t tab = text.find('\t');
      Check(tab != std::string::npos && text.find('\t', tab + 1) == std::string::npos,
            "{}: a line is a question and a passage with a tab between them", batch.name_of(line));
      questions.push_back({text.substr(0, tab), text.substr(tab + 1)});
    }
    ask.name_of = batch.name_of;
    for (const Answer& answer : answerer.Ask(questions, ask)) Print(answer, options.json);
  });
}

}  // namespace

void AddAnswer(CLI::App& program) {
  CLI::App& command = *program.add_subcommand("answer", "Find the answer to a question in a passage");
  const auto options = std::make_shared<Options>();
  command.add_option("DIR", options->folder, "A folder of an encoder for answers, such as BERT's")->required();
  CLI::Option& input = *command.add_option("FILE", options->input,
                                           "QUESTION<tab>PASSAGE, one a line, plain or gzip; - is standard input [-]");
  CLI::Option& question = *command.add_option("--question", options->question, "One question instead of a file's");
  CLI::Option& context = *command.add_option("--context", options->context, "The passage, all of a file");
  question.type_name("TEXT")->needs(&context)->excludes(&input);
  context.type_name("FILE")->needs(&question);
  command.add_option("--max-length", options->max_length, "The most tokens of an answer [15]")->type_name("TOKENS");
  command.add_flag("--always", options->always, "Answer even where the model would rather not");
  command.add_flag("--json", options->json, "Print an object an answer");
  AddComputeOption(command, options->compute);
  AddCommonOptions(command);
  command.footer(
      "\nPrints SCORE<tab>BEGIN<tab>END<tab>ANSWER: the probability that it begins and ends there, and where that is\n"
      "in the passage, in characters from 0. Where the model finds \"no answer\" more probable, that is its score, "
      "and\n"
      "the answer is empty (null with --json). A passage that has more than 384 tokens with the question, or more "
      "than\n"
      "the model reads, is read in windows that share 128 tokens, or half of what is read at once: the best span of "
      "any\n"
      "counts, and the lowest score of no answer.\n\n"
      "Examples:\n"
      "  headlight answer roberta-squad2 --question 'Who wrote it?' --context article.txt\n"
      "  headlight answer roberta-squad2 questions.tsv --json");
  command.callback([options] { Run(*options); });
}

}  // namespace headlight
