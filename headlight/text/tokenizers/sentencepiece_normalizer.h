// SentencePiece's normalization: its compiled rules (mostly Unicode NFKC) and its treatment of spaces.
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
  // Throws Error naming `name` where the model's charsmap is broken.
  TextNormalizer(const SentencePieceModel& model, const std::string& name);

  // Applies, from left to right, the rule of the longest match; then collapses spaces, writes them as U+2581 and puts
  // one in front, depending on the model's flags. `origins`, unless null, gets normalized.size() + 1 entries: the byte
  // of `text` that each byte of `normalized` came from. Bytes that are not UTF-8 become U+FFFD, one each.
  void Normalize(std::string_view text, std::string& normalized, std::vector<std::int32_t>* origins = nullptr) const;

  // The output of the rule with the shortest match at the beginning of the text, if there is one.
  std::optional<std::string_view> ShortestReplacement(std::string_view text) const;

 private:
  struct Replacement {
    std::string_view text;
    std::size_t bytes;  // of the input
  };
  template <typename Found>
  void ForEachRule(std::string_view text, const Found& found) const;
  Replacement ReplacePrefix(std::string_view text) const;

  // The rules: a double-array trie (Aoe, 1989; in the layout of darts-clone) from input to the offset in
  // `replacements_` of the output, which ends with NUL.
  std::vector<std::uint32_t> trie_;
  std::string replacements_;
  bool add_dummy_prefix_, remove_extra_whitespaces_;
};

}  // namespace headlight
