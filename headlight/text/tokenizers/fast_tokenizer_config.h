// Writes tokenizer_config.json for folders whose tokenizer.json is the whole tokenizer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace headlight {

/// Settings of a tokenizer that depend on the model.
struct TokenizerOfModel {
  std::optional<std::int64_t> longest;  // maximum tokens of a text
  bool reads_types = false;             // the model reads token types
  bool pads_left = false;               // as generation needs, so that every text ends in the last column
};

/// Writes a tokenizer_config.json with which Transformers' AutoTokenizer reads tokenizer.json without changes
/// (PreTrainedTokenizerFast), with the special tokens in their usual roles. Without it, AutoTokenizer uses the class of
/// the model's family, which builds its own rules around the vocabulary. An existing file with another class is not
/// changed, and nothing is written if there is no tokenizer.json. `model` sets what depends on the model, if it is
/// given.
HEADLIGHT_API void WriteFastTokenizerConfig(const std::string& folder,
                                            const std::optional<TokenizerOfModel>& model = {});

}  // namespace headlight
