// Builds and parses the JSON files of a MarianMT folder. If parsing fails, throws Error with a message that begins with
// `name`, the file's name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"

namespace headlight {

struct SpecialTokens {
  std::string eos = "</s>", unk = "<unk>", pad = "<pad>";
};

/// Build and parse `vocab.json`: the pieces in the order of their ids, which are 0, 1, 2 and so on.
std::string VocabularyJson(const std::vector<std::string>& pieces);
std::vector<std::string> ParseVocabularyJson(std::string_view text, const std::string& name);

/// Build `tokenizer_config.json` and `special_tokens_map.json`.
std::string TokenizerConfigJson(const SpecialTokens& special, std::int64_t longest);
std::string SpecialTokensMapJson(const SpecialTokens& special);
/// Returns the special tokens of a `tokenizer_config.json`, or of TokenizerSettings::config.
SpecialTokens SpecialTokensOf(const JsonView& config);

/// Builds a complete `tokenizer.json` for the tokenizers library. A piece's id is its index in the model.
std::string TokenizerJson(const SentencePieceModel& model, const SpecialTokens& special);

}  // namespace headlight
