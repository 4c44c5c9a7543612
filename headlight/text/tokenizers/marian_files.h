// The JSON files of a Hugging Face tokenizer, to text and from it. Parsing throws Error that begins with `name`, the
// file's; what nests deeper than such files do is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/sentencepiece_model.h"

namespace headlight {

struct SpecialTokens {
  std::string eos = "</s>", unk = "<unk>", pad = "<pad>";
};

// `vocab.json`: the pieces in the order of their ids, which count from 0 without a gap.
std::string VocabularyJson(const std::vector<std::string>& pieces);
std::vector<std::string> ParseVocabularyJson(std::string_view text, const std::string& name);

// `tokenizer_config.json` and `special_tokens_map.json`.
std::string TokenizerConfigJson(const SpecialTokens& special, std::int64_t longest);
std::string SpecialTokensMapJson(const SpecialTokens& special);
SpecialTokens ParseTokenizerConfigJson(std::string_view text, const std::string& name);

// `tokenizer.json`, the whole tokenizer in the tokenizers library's terms; the model's pieces are numbered as they
// stand. What is read must be what would be written: any other part is refused by its name.
std::string TokenizerJson(const SentencePieceModel& model, const SpecialTokens& special);
SentencePieceModel ParseTokenizerJson(std::string_view text, const SpecialTokens& special, const std::string& name);

}  // namespace headlight
