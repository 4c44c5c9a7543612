// What the older files of tokenizers have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace headlight {

// What a folder says of its tokenizer besides the vocabulary.
struct TokenizerSettings {
  std::string folder;
  nlohmann::json config;  // tokenizer_config.json, and the special tokens of special_tokens_map.json
  nlohmann::json added;   // added_tokens.json: pieces and their ids
  std::string kind;       // the class of the tokenizer, and the model's type
};
// A special token's text, which may be given as an object; `usual` where it is not given.
std::string SpecialToken(const nlohmann::json& config, const char* name, const char* usual);

// What a `tokenizer.json` would say of the SentencePiece model in the folder; nothing where there is none.
std::optional<nlohmann::json> TokenizerJsonOfSentencePiece(const TokenizerSettings& settings);
// The same of the bytes of such a file.
nlohmann::json TokenizerJsonOfSentencePiece(const TokenizerSettings& settings, std::string_view model,
                                            const std::string& path);

}  // namespace headlight
