// SentencePiece models (Kudo and Richardson, "SentencePiece", 2018), and a checked parser for their untrusted files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

enum class SubwordAlgorithm {
  bpe,      ///< merges pairs in descending order of score (Sennrich et al., 2016)
  unigram,  ///< the most probable segmentation (Kudo, "Subword Regularization", 2018)
};

struct SentencePiece {
  /// The values are the same as in the file format. The text of a byte piece has the form <0x0A>.
  enum class Type { normal = 1, unknown = 2, control = 3, user_defined = 4, byte = 6 };
  std::string text;  ///< a space is written as U+2581
  float score = 0;   ///< BPE: the highest score is merged first; unigram: log probability
  Type type = Type::normal;
};

struct SentencePieceModel {
  SubwordAlgorithm algorithm = SubwordAlgorithm::unigram;
  std::vector<SentencePiece> pieces;  ///< exactly one piece is `unknown`
  bool byte_fallback = false;         ///< if true, unknown characters become byte pieces
  std::string unknown_surface = " \u2047 ";
  /// Normalization settings, see TextNormalizer.
  std::string normalization;  ///< the name, such as "nmt_nfkc"
  std::string charsmap;       ///< the compiled rules; empty: none
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
};

inline constexpr std::string_view kSpaceSymbol = "\u2581";

/// Parses the bytes of a `.model` (or `.spm`) file, a protocol buffer. `name` is the file's name in error messages.
/// Throws Error for damaged bytes. Also throws Error naming an unsupported feature: algorithms "word" and "char",
/// unused pieces, white space as a suffix or without escaping, and denormalizers.
HEADLIGHT_API SentencePieceModel ParseSentencePieceModel(std::string_view bytes, const std::string& name);

/// Returns the bytes of a `.model` file for SentencePiece's library. Only for models without byte fallback.
HEADLIGHT_API std::string SerializeSentencePieceModel(const SentencePieceModel& model);

/// Throws Error unless the pieces are valid: UTF-8 without NUL, 1 to 512 bytes, distinct, with finite scores, exactly
/// one unknown and at least one normal piece.
void CheckPieces(const SentencePieceModel& model, const std::string& name);

}  // namespace headlight
