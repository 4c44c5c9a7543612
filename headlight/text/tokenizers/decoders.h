// Decoders, which turn pieces into text as in the tokenizers library.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/text_pattern.h"

namespace headlight {

/// Turns pieces into the texts that Decode joins.
using TokenDecoder = std::function<void(std::vector<std::string>&)>;

/// Byte-level vocabularies represent each byte by a visible character.
std::optional<std::string> BytesOfPiece(std::string_view piece);  // empty if a character represents no byte
std::string PieceOfBytes(std::string_view bytes);

/// The byte of a piece such as <0x0A>; empty for other pieces.
std::optional<std::string> ByteOfPiece(std::string_view piece);

/// Transformers' `clean_up_tokenization_spaces`: removes spaces before punctuation and the ends of English
/// contractions.
std::string WithoutTokenizationSpaces(std::string text);

/// Joins the bytes. Invalid UTF-8 becomes U+FFFD.
void DecodeByteLevel(std::vector<std::string>& pieces);

struct WordPieceDecoder {
  std::string prefix = "##";
  bool cleanup = true;  // remove spaces before punctuation and the ends of English contractions
  void operator()(std::vector<std::string>& pieces) const;
};

/// SentencePiece's decoder: replaces `replacement` by a space, or in the first piece by nothing if `drop_first`.
struct MetaspaceDecoder {
  std::string replacement = "\u2581";
  bool drop_first = true;
  void operator()(std::vector<std::string>& pieces) const;
};

/// GPT-1's decoder: replaces the suffix by a space, or in the last piece by nothing.
struct BytePairDecoder {
  std::string suffix = "</w>";
  void operator()(std::vector<std::string>& pieces) const;
};

/// Converts each run of byte pieces such as <0x0A> to its bytes if they are UTF-8, and otherwise to one U+FFFD each.
void DecodeBytePieces(std::vector<std::string>& pieces);

/// Joins all pieces to one.
void FusePieces(std::vector<std::string>& pieces);

struct ReplaceDecoder {
  TextPattern pattern;
  std::string content;
  void operator()(std::vector<std::string>& pieces) const;
};

/// Removes `content` from the ends of each piece, at most `start` and `stop` times.
struct StripDecoder {
  std::string content;
  std::int64_t start = 0, stop = 0;
  void operator()(std::vector<std::string>& pieces) const;
};

}  // namespace headlight
