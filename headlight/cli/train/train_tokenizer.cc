// headlight train tokenizer: from text to a tokenizer.json.
#include <filesystem>
#include <memory>
#include <optional>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/in_file.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/data/lines.h"
#include "headlight/io/model_folder.h"
#include "headlight/text/tokenizers/fast_tokenizer_config.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/tokenizers/tokenizer_training.h"

namespace headlight::train_tokenizer {
namespace {

struct Flags {
  TokenizerTrainingOptions options;
  std::vector<std::string> files;
  std::string out;
  int sentinels = 0;
};

// T5's, which stand behind the other special tokens; the first is the last of them.
void AddSentinels(int count, TokenizerTrainingOptions& options) {
  if (count == 0) return;
  if (options.special.empty()) options.special = UsualSpecialTokens(options);
  for (int sentinel = count - 1; sentinel >= 0; --sentinel)
    options.special.push_back(fmt::format("<extra_id_{}>", sentinel));
}

void TrainInto(Flags& flags) {
  AddSentinels(flags.sentinels, flags.options);
  const std::string path = flags.out + "/tokenizer.json";
  CheckOutputs({{"--out", path}}, flags.files);
  CheckWritable(path);

  std::size_t file = 0;
  std::optional<LineReader> lines;
  const auto next = [&](std::string_view& line) {
    for (; file < flags.files.size(); ++file, lines.reset()) {
      if (!lines) lines.emplace(Input(flags.files[file]));
      if (const std::optional<std::string_view> found = lines->Next()) {
        line = *found;
        return true;
      }
    }
    return false;
  };
  std::string json;
  {
    std::string stage;
    std::optional<Progress> shown;
    const auto show = [&](std::string_view what, std::int64_t done, std::int64_t total) {
      if (what != stage) shown.emplace(stage = what);
      shown->Show(done, total);
    };
    json = InFiles(flags.files, [&] { return TrainTokenizer(next, flags.options, show); });
  }
  const PipelineTokenizer tokenizer = PipelineTokenizer::Parse(json, path);
  WriteFile(path, json);
  std::error_code ignored;
  std::filesystem::remove(flags.out + "/tokenizer_config.json", ignored);  // the former tokenizer's
  WriteFastTokenizerConfig(flags.out);
  Note("{}: {} tokens", path, tokenizer.size());
}

void Run(Flags& flags) {
  CheckTokenizerReplaceable(flags.out);
  std::error_code error;
  const bool made = std::filesystem::create_directories(flags.out, error);
  Check(!error, "{}: cannot create the folder: {}", flags.out, error.message());
  try {
    TrainInto(flags);
  } catch (...) {
    if (made) std::filesystem::remove(flags.out, error);  // only where it is empty
    throw;
  }
}

}  // namespace

void Add(Command& train) {
  const auto flags = std::make_shared<Flags>();
  Command& command = train.AddCommand("tokenizer", "Train a tokenizer on text");
  command.Add("FILES", flags->files, "Texts, plain or gzip").Required().Type("");
  AddChoice<TokenizerAlgorithm>(command, "--algorithm", flags->options.algorithm,
                                {{"bpe", TokenizerAlgorithm::bpe},
                                 {"wordpiece", TokenizerAlgorithm::wordpiece},
                                 {"unigram", TokenizerAlgorithm::unigram}},
                                "Subword algorithm");
  command.Add("--byte-level", flags->options.byte_level, "Byte-level BPE, as GPT-2's, to which no text is unknown");
  command.Add("--vocabulary-size", flags->options.size, AtLeast(1), "Most tokens, special ones included").ShowDefault();
  command
      .Add("--special", flags->options.special,
           "A token that is never divided; repeated, these are the first ids in this order [the usual ones]")
      .Check(NotEmpty())
      .Type("TOKEN")
      .OneAtATime();  // else [PAD] would be read as a list
  command.Add("--sentinels", flags->sentinels, Between(0, 1000),
              "Add N of T5's sentinels, <extra_id_0> and on, as special tokens");
  command.Add("--split-digits", flags->options.split_digits,
              "Make each digit a token of its own, which helps arithmetic");
  command.Add("--lowercase", flags->options.lowercase, "Convert text to lower case");
  command.Add("--nfkc", flags->options.nfkc,
              "Normalize text to Unicode's NFKC, as BPE of characters and unigram always do");
  command.Add("--strip-accents", flags->options.strip_accents, "Remove accents and other marks");
  command.Add("--out", flags->out, "Folder for tokenizer.json").Required().Type("DIR");
  command.footer =
      "Examples:\n"
      "  headlight train tokenizer --byte-level --vocabulary-size 8000 --out gpt2 news.en.gz\n"
      "  headlight train tokenizer --algorithm wordpiece --lowercase --strip-accents --out bert a.txt b.txt\n"
      "  headlight train tokenizer --algorithm unigram --sentinels 100 --out t5 a.txt\n"
      "  headlight train tokenizer --byte-level --special '<s>' --special '<pad>' --special '</s>' --special '<mask>' "
      "\\\n    --out bart a.txt";
  command.run = [flags] { Run(*flags); };
}

}  // namespace headlight::train_tokenizer
