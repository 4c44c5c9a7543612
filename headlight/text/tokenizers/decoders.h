// Decoders that convert tokens to text, with the results of the tokenizers library.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/text_pattern.h"

namespace headlight {

/// Converts pieces in place to the texts that Decode joins.
using TokenDecoder = std::function<void(std::vector<std::string>&)>;

/// Convert between bytes and the visible characters that represent them in byte-level vocabularies.
std::optional<std::string> BytesOfPiece(std::string_view piece);  ///< empty if a character represents no byte
std::string PieceOfBytes(std::string_view bytes);

/// Returns the byte of a piece such as <0x0A>, or nothing for other pieces.
std::optional<std::string> ByteOfPiece(std::string_view piece);

/// Removes spaces before punctuation and the ends of English contractions, as in Transformers'
/// `clean_up_tokenization_spaces`.
std::string WithoutTokenizationSpaces(std::string text);

/// Joins the bytes of the pieces. Invalid UTF-8 becomes U+FFFD.
void DecodeByteLevel(std::vector<std::string>& pieces);

struct WordPieceDecoder {
  std::string prefix = "##";
  bool cleanup = true;  ///< if true, removes spaces before punctuation and the ends of English contractions
  void operator()(std::vector<std::string>& pieces) const;
};

/// SentencePiece's decoder: replaces `replacement` with a space. If `drop_first` is true, removes `replacement` from
/// the beginning of the first piece.
struct MetaspaceDecoder {
  std::string replacement = "\u2581";
  bool drop_first = true;
  void operator()(std::vector<std::string>& pieces) const;
};

/// GPT-1's decoder: replaces the suffix with a space, and removes the suffix of the last piece.
struct BytePairDecoder {
  std::string suffix = "</w>";
  void operator()(std::vector<std::string>& pieces) const;
};

/// Converts each run of byte pieces such as <0x0A> to text. If the run is not UTF-8, each byte becomes U+FFFD.
void DecodeBytePieces(std::vector<std::string>& pieces);

/// Joins all pieces into one piece.
void FusePieces(std::vector<std::string>& pieces);

struct ReplaceDecoder {
  TextPattern pattern;
  std::string content;
  void operator()(std::vector<std::string>& pieces) const;
};

/// Removes `content` up to `start` times from the beginning of each piece, and up to `stop` times from its end.
struct StripDecoder {
  std::string content;
  std::int64_t start = 0, stop = 0;
  void operator()(std::vector<std::string>& pieces) const;
};

}  // namespace headlight
