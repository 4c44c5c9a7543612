// The components of a PipelineTokenizer.
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
#include "headlight/text/tokenizers/word_table.h"
#include "headlight/text/tokenizers/wordpiece.h"

namespace headlight {

struct PipelineState {
  std::string source;                                     ///< the file, for error messages
  std::vector<std::string> pieces;                        ///< by id, including added tokens
  WordTable ids;                                          ///< ids by piece
  std::vector<bool> special;                              ///< by id, true for special tokens
  std::unordered_map<std::int32_t, std::string> written;  ///< by id, the decoded text if it differs from the piece
  std::optional<SiglipText> siglip;  ///< for SigLIP's SentencePiece model, applied before the normalizers
  AddedTokens raw, normalized;       ///< matched in the raw and in the normalized text
  std::vector<Normalizer> normalizers;
  std::vector<PreTokenizer> pre_tokenizers;
  bool byte_level = false;  ///< true if the symbols of the model are bytes
  WordModel model;
  std::string continuing_prefix;  ///< prefix of pieces inside words
  std::int32_t unknown = -1;      ///< the model's unknown token, if it has one
  bool is_bpe = false;            ///< true if the model is BPE
  bool split_special = false;     ///< if true, special tokens in a text are always treated as text
  bool cleans_up = false;         ///< if true, Decode removes the spaces before punctuation
  bool cuts_beginning = false;    ///< true if truncation removes the beginning of a text
  PostProcessor post_processor;
  std::vector<TokenDecoder> decoders;
};

}  // namespace headlight
