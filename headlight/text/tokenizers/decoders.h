// From pieces back to text, as the tokenizers library does it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/text_pattern.h"

namespace headlight {

// Turns pieces into the texts that Decode joins.
using TokenDecoder = std::function<void(std::vector<std::string>&)>;

// Byte-level vocabularies spell every byte as a visible character.
std::optional<std::string> BytesOfPiece(std::string_view piece);  // none if a character of it spells no byte
std::string PieceOfBytes(std::string_view bytes);

// The one byte of a piece such as <0x0A>; none for another piece.
std::optional<std::string> ByteOfPiece(std::string_view piece);

// Transformers' `clean_up_tokenization_spaces`: no spaces before punctuation and the ends of English contractions.
std::string WithoutTokenizationSpaces(std::string text);

// Joins the bytes; invalid UTF-8 becomes U+FFFD.
void DecodeByteLevel(std::vector<std::string>& pieces);

struct WordPieceDecoder {
  std::string prefix = "##";
  bool cleanup = true;  // no space before punctuation and the ends of English contractions
  void operator()(std::vector<std::string>& pieces) const;
};

// SentencePiece's: the replacement becomes a space, in the first piece nothing if `drop_first`.
struct MetaspaceDecoder {
  std::string replacement = "\u2581";
  bool drop_first = true;
  void operator()(std::vector<std::string>& pieces) const;
};

// GPT-1's: the suffix becomes a space, in the last piece nothing.
struct BytePairDecoder {
  std::string suffix = "</w>";
  void operator()(std::vector<std::string>& pieces) const;
};

// A run of pieces that spell bytes, such as <0x0A>, becomes those bytes if they are UTF-8, else one U+FFFD each.
void DecodeBytePieces(std::vector<std::string>& pieces);

// All pieces become one.
void FusePieces(std::vector<std::string>& pieces);

struct ReplaceDecoder {
  TextPattern pattern;
  std::string content;
  void operator()(std::vector<std::string>& pieces) const;
};

// Removes `content` from the ends of each piece, at most `start` and `stop` times.
struct StripDecoder {
  std::string content;
  std::int64_t start = 0, stop = 0;
  void operator()(std::vector<std::string>& pieces) const;
};

}  // namespace headlight
