// SentencePiece's normalization: compiled rules (mostly Unicode NFKC) and the handling of spaces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/sentencepiece_model.h"

namespace headlight {

class TextNormalizer {
 public:
  /// Throws Error, with a message that begins with `name`, if the model's charsmap is invalid.
  TextNormalizer(const SentencePieceModel& model, const std::string& name);

  /// Replaces leftmost longest matches. Then, depending on the model's flags, collapses spaces, writes them as U+2581,
  /// and prepends a U+2581. Each byte that is not UTF-8 becomes U+FFFD. `origins`, unless null, receives
  /// normalized.size() + 1 entries: for each byte of `normalized`, the offset of the original byte in `text`.
  void Normalize(std::string_view text, std::string& normalized, std::vector<std::int32_t>* origins = nullptr) const;

  /// Returns the replacement of the shortest rule that matches the beginning of the text, if there is one.
  std::optional<std::string_view> ShortestReplacement(std::string_view text) const;

 private:
  struct Replacement {
    std::string_view text;
    std::size_t bytes;  // length of the input
  };
  template <typename Found>
  void ForEachRule(std::string_view text, const Found& found) const;
  Replacement ReplacePrefix(std::string_view text) const;

  /// The rules: a double-array trie (Aoe, 1989; in the layout of darts-clone) that maps an input to the offset of its
  /// output in `replacements_`, which ends with NUL.
  std::vector<std::uint32_t> trie_;
  std::string replacements_;
  bool add_dummy_prefix_, remove_extra_whitespaces_;
};

}  // namespace headlight
