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

/// Writes a tokenizer_config.json with which Transformers' AutoTokenizer loads tokenizer.json without changes
/// (PreTrainedTokenizerFast). The special tokens get their usual roles. Without this file, AutoTokenizer uses the class
/// of the model's family, which applies other rules to the vocabulary. An existing file with another class is not
/// changed. Nothing is written if there is no tokenizer.json. `model`, if given, sets the model-dependent settings.
HEADLIGHT_API void WriteFastTokenizerConfig(const std::string& folder,
                                            const std::optional<TokenizerOfModel>& model = {});

}  // namespace headlight
