// Byte-pair encoding (Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", 2016) by a list
// of merges, as GPT and its kin cut words with it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "headlight/text/tokenizers/sentencepiece_segmenter.h"
#include "headlight/text/tokenizers/sentencepiece_table.h"

namespace headlight {

struct BytePairOptions {
  bool bytes = false;                          // a word begins as bytes, else as characters
  std::optional<std::int32_t> unknown;         // the piece of a character that has none; without it, it is left out
  bool fuse_unknown = false;                   // several such characters are one piece
  std::string continuing_subword_prefix = "";  // of pieces that go on within a word
  std::string end_of_word_suffix = "";         // of pieces that end a word
  bool byte_fallback = false;                  // a character without a piece is its bytes', such as <0x0A>, if all have
  bool ignore_merges = false;                  // a word that is a piece stays one, whatever the merges say
};

// Of each byte the piece that spells it, such as <0x0A>; -1 where there is none.
std::array<std::int32_t, 256> BytePieces(const std::unordered_map<std::string_view, std::int32_t>& numbers);

// Begins with the bytes or characters of a word and merges, again and again, the two neighbours that come first in the
// list, the leftmost of equals.
class BytePairSegmenter {
 public:
  // The merges are two pieces each, which together are a third. `name` is the file's: throws Error where they are not.
  BytePairSegmenter(const std::vector<std::string>& pieces,
                    const std::vector<std::pair<std::string, std::string>>& merges, const BytePairOptions& options,
                    const std::string& name);

  // Adds the segments of a word that is not empty, and is UTF-8 unless it is cut into bytes. A byte's segment ends with
  // that byte.
  void operator()(std::string_view word, std::vector<Segment>& segments) const;

 private:
  struct Symbol {
    std::int32_t piece, bytes;    // no bytes once it is merged into the symbol before
    std::int32_t previous, next;  // -1 at the ends
  };
  // A possible merge of the symbol at `left` with the next one; the heap's top comes first in the list.
  struct Merge {
    std::int32_t rank, left;
    friend bool operator<(const Merge& a, const Merge& b) {
      return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
    }
  };
  std::vector<Symbol> Symbols(std::string_view word) const;
  bool HasBytes(std::string_view text) const;
  void MergeAll(std::vector<Symbol>& symbols) const;

  BytePairOptions options_;
  std::unordered_map<std::string, std::int32_t> first_;  // of a symbol's text, with prefix and suffix, its piece
  std::unordered_map<std::string, std::int32_t> whole_;  // words that end up as one piece
  std::array<std::int32_t, 256> bytes_;                  // of a byte its piece, for byte_fallback; -1: none
  NumberTable rank_;                                     // (left piece << 32 | right piece) to a place in the list
  std::vector<std::int32_t> merged_;                     // by that place, the piece that both are together
};

}  // namespace headlight
