// From pieces back to text, as the tokenizers library does it.
#pragma once

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

}  // namespace headlight
