// The parts of a PipelineTokenizer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headlight/text/tokenizers/added_tokens.h"
#include "headlight/text/tokenizers/byte_pair.h"
#include "headlight/text/tokenizers/decoders.h"
#include "headlight/text/tokenizers/normalizers.h"
#include "headlight/text/tokenizers/post_processors.h"
#include "headlight/text/tokenizers/pre_tokenizers.h"
#include "headlight/text/tokenizers/wordpiece.h"

namespace headlight {

struct PipelineState {
  std::vector<std::string> pieces;                        // by id, those of added tokens too
  std::unordered_map<std::string, std::int32_t> ids;      // by piece
  std::vector<bool> special;                              // by id
  std::unordered_map<std::int32_t, std::string> written;  // by id, where Decode writes another text than the piece
  AddedTokens raw, normalized;                            // those looked for in the text and in its normalized form
  std::vector<Normalizer> normalizers;
  std::vector<PreTokenizer> pre_tokenizers;
  bool byte_level = false;                                                  // the model cuts bytes, not characters
  std::function<void(std::string_view word, std::vector<Segment>&)> model;  // adds the word's segments
  PostProcessor post_processor;
  std::vector<Decoder> decoders;
};

}  // namespace headlight
