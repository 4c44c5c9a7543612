#include "headlight/recipes/train_tokenizer.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/in_file.h"
#include "headlight/base/option_checks.h"
#include "headlight/io/model_folder.h"
#include "headlight/text/tokenizers/fast_tokenizer_config.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {
namespace {

constexpr std::int32_t kMostSentinels = 1000;

// Adds T5's sentinels after the other special tokens, in reverse order, so that the first sentinel is last.
TokenizerTrainingOptions WithSentinels(const TokenizerTraining& options) {
  Check(options.sentinels >= 0 && options.sentinels <= kMostSentinels, "`sentinels` must be from 0 to {}, not {}",
        kMostSentinels, options.sentinels);
  TokenizerTrainingOptions how = options.tokenizer;
  if (options.sentinels > 0 && how.special.empty()) how.special = UsualSpecialTokens(how);
  for (std::int32_t sentinel = options.sentinels - 1; sentinel >= 0; --sentinel)
    how.special.push_back(fmt::format("<extra_id_{}>", sentinel));
  return how;
}

TrainedTokenizer TrainInto(const TokenizerTraining& options, const TokenizerTrainingObserver& observer) {
  const TokenizerTrainingOptions how = WithSentinels(options);
  const std::string path = options.out + "/tokenizer.json";
  { const AtomicFile probe(path); }  // throws Error if the file cannot be written

  std::size_t file = 0;
  std::optional<TextReader> texts;
  SourceText held;  // owns the text while it is used
  const auto next = [&](std::string_view& text) {
    for (; file < options.files.size(); ++file, texts.reset()) {
      if (!texts) texts.emplace(options.files[file], options.source);
      if (std::optional<SourceText> found = texts->Next()) {
        held = *std::move(found);
        text = held.text;
        return true;
      }
    }
    return false;
  };
  const std::string json = InFiles(options.files, [&] { return TrainTokenizer(next, how, observer.progress); });
  const PipelineTokenizer tokenizer = PipelineTokenizer::Parse(json, path);
  WriteFile(path, json);
  std::error_code ignored;
  std::filesystem::remove(options.out + "/tokenizer_config.json", ignored);  // belongs to the previous tokenizer
  WriteFastTokenizerConfig(options.out);
  return {path, tokenizer.size(), tokenizer.size() < how.size};
}

}  // namespace

void Describe(OptionTable& table, TokenizerTraining& options) {
  TokenizerTrainingOptions& how = options.tokenizer;
  table.Add("FILES", options.files, "Texts, one per line or as records (see --format), plain or gzip")
      .Required()
      .Type("");
  Describe(table, options.source);
  AddChoice<TokenizerAlgorithm>(table, "--subword-type", how.algorithm,
                                {{"bpe", TokenizerAlgorithm::bpe},
                                 {"wordpiece", TokenizerAlgorithm::wordpiece},
                                 {"unigram", TokenizerAlgorithm::unigram}},
                                "Subword algorithm");
  table.Add("--byte-level", how.byte_level, "Byte-level BPE, as in GPT-2, without unknown tokens");
  table.Add("--vocabulary-size", how.size, AtLeast(1), "Most tokens, special ones included").ShowDefault();
  table
      .Add("--special", how.special,
           "A token that is never split; may be repeated; these are the first ids in this order [byte-level: "
           "<|endoftext|>; wordpiece: [PAD] [UNK] [CLS] [SEP] [MASK]; others: <pad> </s> <unk>]")
      .Check(NotEmpty())
      .Type("TOKEN")
      .OneAtATime();  // otherwise [PAD] would be parsed as a list
  table.Add("--sentinels", options.sentinels, Between(0, kMostSentinels),
            "Add N of T5's sentinels, <extra_id_0> and on, as special tokens");
  table.Add("--split-digits", how.split_digits, "Make each digit a separate token, which helps arithmetic");
  table.Add("--lowercase", how.lowercase, "Convert text to lower case");
  table.Add("--nfkc", how.nfkc, "Normalize text to Unicode's NFKC, as BPE of characters and unigram always do");
  table.Add("--strip-accents", how.strip_accents, "Remove accents and other marks");
  table.Add("--out", options.out, "Folder for tokenizer.json").Required().Type("DIR");
}

TrainedTokenizer TrainTokenizer(const TokenizerTraining& options, const TokenizerTrainingObserver& observer) {
  Check(!options.files.empty(), "`files`: texts are required");
  Check(!options.out.empty(), "`out`: a folder is needed");
  CheckTokenizerReplaceable(options.out);
  std::error_code error;
  const bool made = std::filesystem::create_directories(options.out, error);
  Check(!error, "{}: cannot create the folder: {}", options.out, error.message());
  try {
    return TrainInto(options, observer);
  } catch (...) {
    if (made) std::filesystem::remove(options.out, error);  // remove() only removes an empty folder
    throw;
  }
}

}  // namespace headlight
