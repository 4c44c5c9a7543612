// headlight train tokenizer: trains a tokenizer on text.
#include "headlight/recipes/train_tokenizer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"

namespace headlight::train_tokenizer {
namespace {

TrainedTokenizer Train(const TokenizerTraining& options) {
  std::string stage;
  std::optional<Progress> shown;
  return TrainTokenizer(options, {.progress = [&](std::string_view what, std::int64_t done, std::int64_t total) {
                          if (what != stage) shown.emplace(stage = what);
                          shown->Show(done, total);
                        }});
}

void Run(const TokenizerTraining& options) {
  CheckOutputs({{"--out", options.out + "/tokenizer.json"}}, options.files);
  for (const std::string& file : options.files) Input(file);
  const TrainedTokenizer tokenizer = Train(options);
  Note("{}: {} tokens{}", tokenizer.path, tokenizer.tokens,
       tokenizer.text_allows_no_more ? ", the maximum for this text" : "");
}

}  // namespace

void Add(Command& train) {
  const auto [command, options] = NewCommand(train, "tokenizer", "Train a tokenizer on text", Run);
  Describe(command, options);
  command.footer =
      "Examples:\n"
      "  headlight train tokenizer --byte-level --vocabulary-size 8000 --out gpt2-tokens news.en.gz\n"
      "  headlight train tokenizer --subword-type wordpiece --lowercase --strip-accents --out bert-tokens a.txt b.txt\n"
      "  headlight train tokenizer --subword-type unigram --sentinels 100 --out t5-tokens a.txt\n"
      "  headlight train tokenizer --byte-level --special '<s>' --special '<pad>' --special '</s>' --special '<mask>' "
      "\\\n    --out bart-tokens a.txt";
}

}  // namespace headlight::train_tokenizer
