// What happens to a text before it is segmented: SentencePiece's compiled rules (mostly Unicode NFKC), its spaces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/sentencepiece_model.h"

namespace headlight {

class HEADLIGHT_API TextNormalizer {
 public:
  // Throws Error naming `name` where the model's charsmap is broken.
  TextNormalizer(const SentencePieceModel& model, const std::string& name);

  // Replaces, from left to right, the longest text that a rule knows; then collapses spaces and writes them as U+2581,
  // with one in front, as the model's flags say. `origins`, where asked for, gets normalized.size() + 1 entries: the
  // byte in `text` that each byte of `normalized` came from. Bytes that are not UTF-8 become U+FFFD, one each.
  void Normalize(std::string_view text, std::string& normalized, std::vector<std::int32_t>* origins = nullptr) const;

  // What the shortest rule whose text this one begins with writes; nothing where there is none.
  std::optional<std::string_view> ShortestReplacement(std::string_view text) const;

 private:
  struct Replacement {
    std::string_view text;
    std::size_t bytes;  // of the input that it stands for
  };
  template <typename Found>
  void ForEachRule(std::string_view text, const Found& found) const;
  Replacement ReplacePrefix(std::string_view text) const;

  // The rules: a double-array trie (Aoe, 1989; laid out as darts-clone does) from what to replace to the place in
  // `replacements_` of what to write, ended by NUL.
  std::vector<std::uint32_t> trie_;
  std::string replacements_;
  bool add_dummy_prefix_, remove_extra_whitespaces_;
};

}  // namespace headlight
