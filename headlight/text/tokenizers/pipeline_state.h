// The parts of a PipelineTokenizer.
#pragma once

#include <cstdint>
#include <optional>
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
#include "headlight/text/tokenizers/siglip_text.h"
#include "headlight/text/tokenizers/wordpiece.h"

namespace headlight {

struct PipelineState {
  std::string source;                                     // the file, for errors
  std::vector<std::string> pieces;                        // by id, with those of added tokens
  std::unordered_map<std::string, std::int32_t> ids;      // by piece
  std::vector<bool> special;                              // by id
  std::unordered_map<std::int32_t, std::string> written;  // by id, where Decode does not write the piece itself
  std::optional<SiglipText> siglip;                       // of SigLIP's SentencePiece model, before the normalizers
  AddedTokens raw, normalized;                            // matched in the raw and in the normalized text
  std::vector<Normalizer> normalizers;
  std::vector<PreTokenizer> pre_tokenizers;
  bool byte_level = false;  // the symbols of the model are bytes
  WordModel model;
  std::string continuing_prefix;  // of the model's pieces inside words
  std::int32_t unknown = -1;      // the model's unknown token, if it has one
  bool is_bpe = false;            // the model
  bool split_special = false;     // special tokens in a text are text, always
  bool cleans_up = false;         // Decode removes the spaces before punctuation
  bool cuts_beginning = false;    // of a text that is too long
  PostProcessor post_processor;
  std::vector<TokenDecoder> decoders;
};

}  // namespace headlight
