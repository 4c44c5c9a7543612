// Writes tokenizer_config.json for folders with a complete tokenizer.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace headlight {

/// The tokenizer settings that depend on the model.
struct TokenizerOfModel {
  std::optional<std::int64_t> longest;  ///< maximum number of tokens of a text
  bool reads_types = false;             ///< true if the model has token type embeddings
  bool pads_left = false;  ///< if true, pads on the left for generation, so that every text ends in the last column
};

/// Writes a tokenizer_config.json that makes Transformers' AutoTokenizer load tokenizer.json unchanged
/// (PreTrainedTokenizerFast). Without this file, AutoTokenizer uses the class of the model's family, which applies
/// other rules to the vocabulary. The special tokens get their usual roles. `model`, if given, sets the model-dependent
/// settings. An existing file with another class is not changed. Nothing is written if there is no tokenizer.json.
HEADLIGHT_API void WriteFastTokenizerConfig(const std::string& folder,
                                            const std::optional<TokenizerOfModel>& model = {});

}  // namespace headlight
