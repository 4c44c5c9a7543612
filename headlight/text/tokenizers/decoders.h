// From pieces back to text, as the tokenizers library does it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headlight {

// Makes of pieces the texts that are then joined.
using Decoder = std::function<void(std::vector<std::string>&)>;

// Byte-level vocabularies spell every byte as a visible character.
std::optional<std::string> BytesOfPiece(std::string_view piece);  // nothing where one of its characters is no byte's
std::string PieceOfBytes(std::string_view bytes);

// Joins the bytes; what is not UTF-8 among them becomes U+FFFD.
void DecodeByteLevel(std::vector<std::string>& pieces);

struct WordPieceDecoder {
  std::string prefix = "##";
  bool cleanup = true;  // no space before punctuation and the ends of English contractions
  void operator()(std::vector<std::string>& pieces) const;
};

// SentencePiece's: the replacement becomes a space, but at the beginning where a space was put there (drop_first).
struct MetaspaceDecoder {
  std::string replacement = "\u2581";
  bool drop_first = true;
  void operator()(std::vector<std::string>& pieces) const;
};

// GPT-1's: the suffix becomes a space, but in the last piece.
struct BytePairDecoder {
  std::string suffix = "</w>";
  void operator()(std::vector<std::string>& pieces) const;
};

// Pieces that spell bytes, such as <0x0A>, become those bytes where several together are UTF-8, else U+FFFD each.
void DecodeBytePieces(std::vector<std::string>& pieces);

// All pieces become one.
void FusePieces(std::vector<std::string>& pieces);

struct ReplaceDecoder {
  std::string pattern, content;
  void operator()(std::vector<std::string>& pieces) const;
};

// Takes the character off each piece's ends, at most that many times.
struct StripDecoder {
  std::string content;
  std::int64_t start = 0, stop = 0;
  void operator()(std::vector<std::string>& pieces) const;
};

}  // namespace headlight
