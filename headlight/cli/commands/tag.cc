// headlight tag: finds named entities and other spans in texts.
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/choice.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/line_batches.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/pipelines/token_classifier.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/text/printable.h"

namespace headlight::tag {
namespace {

struct Options : LineOptions {
  std::string folder;
  std::optional<Compute> compute;
  std::optional<TagAggregation> aggregation;
  std::optional<std::int64_t> max_input_length, stride, top_k;
};

void Run(const Options& options) {
  const TokenClassifier tagger =
      Loaded([&] { return TokenClassifier::Load(options.folder, {.compute = options.compute}); });
  TagOptions how = {.max_input_length = options.max_input_length,
                    .stride = options.stride,
                    .top_k = options.top_k,
                    .aggregation = options.aggregation};
  tagger.Tag({}, how);  // checks the options before any input is read
  const auto rows = [&](const LineBatch& batch) {
    how.name_of = batch.name_of;
    const auto tagged = tagger.Tag(batch.lines, how);
    std::vector<std::string> printed(tagged.size());
    for (std::size_t line = 0; line < tagged.size(); ++line) {
      const std::int64_t number = batch.first + static_cast<std::int64_t>(line);
      Json::Array json;
      for (const NamedSpan& span : tagged[line]) {
        if (!options.json)
          printed[line] += fmt::format("{}\t{}\t{}\t{}\t{:.4f}\t{}\n", number, span.start, span.end, InRow(span.label),
                                       span.score, OnOneLine(span.text));
        json.push_back(Json::Object{{"text", span.text},
                                    {"label", span.label},
                                    {"score", span.score},
                                    {"start", span.start},
                                    {"end", span.end}});
      }
      if (options.json) printed[line] = Json(Json::Object{{"line", number}, {"spans", std::move(json)}}).Line() + "\n";
    }
    return printed;
  };
  ForEachLineBatch(options, "lines tagged", BytesAhead(TagOptions().batch_tokens), rows, /*error_row=*/"");
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "tag", "Find named entities and other spans in texts", Run);
  AddFolder(command, options.folder, "Folder of an encoder with a token-classification head, such as BERT's");
  command.Add("FILE", options.input,
              "Texts, one per line or as records (see --format), plain or gzip; - is standard input [-]");
  command.Add("--json", options.json, "Print one JSON object per line of input");
  AddChoice<TagAggregation>(
      command, "--aggregation", options.aggregation,
      {{"first", TagAggregation::first},
       {"average", TagAggregation::average},
       {"max", TagAggregation::max},
       {"simple", TagAggregation::simple},
       {"none", TagAggregation::none}},
      "Label of a word: that of its first token, of the mean probabilities, or of its most probable "
      "token; simple joins tokens by their own labels, also within a word; none prints each token [first, or "
      "simple if the model has labels S-X or E-X (BIOES)]");
  command.Add("--max-input-length", options.max_input_length, AtLeast(1), "Tokens of a window [the model's maximum]");
  command.Add("--stride", options.stride, AtLeast(0),
              "Tokens that neighboring windows share; windows are tagged independently, and of overlapping spans the "
              "longest counts");
  command.Add("--top-k", options.top_k, AtLeast(1),
              "With --aggregation none: print the N most probable labels of each token, including O");
  Describe(command, options.source);
  AddSkipErrors(command, options);
  AddComputeOption(command, options.compute);
  command.footer =
      "\nEach line of the output is a span: LINE<tab>BEGIN<tab>END<tab>LABEL<tab>SCORE<tab>TEXT. BEGIN and END "
      "are characters from 0. SCORE is the mean probability of the labels of its words. B-X begins a span and "
      "I-X continues it, equal labels without a prefix form one span, and O is no label. With --aggregation "
      "none each token is a span with its whole label.\n\n"
      "A text of more tokens than --max-input-length is read in windows, which share a quarter of their tokens. "
      "The label of a token is from the window whose edges are farthest from it. With --stride windows are "
      "tagged independently, as in Transformers.\n\n"
      "Examples:\n"
      "  echo 'Ada Lovelace was born in London.' | headlight tag bert-ner\n"
      "  headlight tag xlm-roberta-ner articles.txt --json\n"
      "  headlight tag bert-ner articles.txt --aggregation max --stride 64";
}

}  // namespace headlight::tag
