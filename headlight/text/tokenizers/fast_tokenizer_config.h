// tokenizer_config.json for folders whose tokenizer.json is the whole tokenizer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace headlight {

// Settings of a tokenizer that depend on the model.
struct TokenizerOfModel {
  std::optional<std::int64_t> longest;  // tokens of a text
  bool reads_types = false;             // the model reads token types
  bool pads_left = false;               // as generation does, so that every text ends in the last column
};

// Writes tokenizer_config.json, by which Transformers' AutoTokenizer reads tokenizer.json as it stands
// (PreTrainedTokenizerFast), with the special tokens under their usual names. Without it, AutoTokenizer takes the class
// of the model's family, which builds its own rules around the vocabulary. An existing file of another class stays as
// it is; nothing is written where there is no tokenizer.json. `model`, where given, sets what is the model's.
HEADLIGHT_API void WriteFastTokenizerConfig(const std::string& folder,
                                            const std::optional<TokenizerOfModel>& model = {});

}  // namespace headlight
