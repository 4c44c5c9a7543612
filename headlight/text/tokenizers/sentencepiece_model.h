// A SentencePiece model (Kudo and Richardson, "SentencePiece", 2018) and its file, which is untrusted and read by our
// own checked reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

enum class SubwordAlgorithm {
  bpe,      // merges pairs, best first (Sennrich et al., "Neural Machine Translation of Rare Words", 2016)
  unigram,  // the likeliest path (Kudo, "Subword Regularization", 2018)
};

struct SentencePiece {
  // Numbered as in the file. A byte's text is as <0x0A>.
  enum class Type { normal = 1, unknown = 2, control = 3, user_defined = 4, byte = 6 };
  std::string text;  // a space is written as U+2581
  float score = 0;   // BPE: higher merges earlier; unigram: log probability
  Type type = Type::normal;
};

struct SentencePieceModel {
  SubwordAlgorithm algorithm = SubwordAlgorithm::unigram;
  std::vector<SentencePiece> pieces;  // one of them is `unknown`
  bool byte_fallback = false;         // characters without a piece become byte pieces
  std::string unknown_surface = " \u2047 ";
  // Normalisation, see TextNormalizer.
  std::string normalization;  // its name, such as "nmt_nfkc"
  std::string charsmap;       // its compiled rules; none where empty
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
};

inline constexpr std::string_view kSpaceSymbol = "\u2581";

// Reads the bytes of a `.model` (or `.spm`) file, a protocol buffer. `name` is the file's, for errors. Throws Error
// where the bytes are broken and where the model asks for what is not supported, naming it: algorithms "word" and
// "char", unused pieces, whitespace as a suffix or unescaped, a denormalizer.
HEADLIGHT_API SentencePieceModel ParseSentencePieceModel(std::string_view bytes, const std::string& name);

// The bytes of a `.model` file, which SentencePiece's own library reads too; of a model without byte fallback.
HEADLIGHT_API std::string SerializeSentencePieceModel(const SentencePieceModel& model);

// Throws Error unless the pieces are usable: UTF-8 without NUL, 1 to 512 bytes, distinct, with finite scores, exactly
// one unknown and at least one normal.
void CheckPieces(const SentencePieceModel& model, const std::string& name);

}  // namespace headlight
