// From normalized text to pieces, as SentencePiece does it: the same merges in the same order, the same best path.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/text/sentencepiece_model.h"
#include "headlight/text/sentencepiece_table.h"

namespace headlight {

// Text that is one piece: from where the one before ends up to byte `end`. A character that the model lacks is a
// segment of its unknown piece.
struct Segment {
  std::int32_t piece = 0, end = 0;
  bool operator==(const Segment&) const = default;
};

// Byte-pair encoding: begins with characters and merges, again and again, the two neighbours that together are the
// piece of the highest score, the leftmost of equals.
class BpeSegmenter {
 public:
  explicit BpeSegmenter(const SentencePieceModel& model);

  // `text` is normalized UTF-8. With `random`, BPE-dropout (Provilkov et al., 2020): each merge is left out with the
  // probability `dropout`.
  std::vector<Segment> Segments(std::string_view text, Random* random, double dropout) const;

 private:
  struct Symbol {
    std::int32_t id;              // -1: a character that no piece has
    std::int32_t previous, next;  // -1 at the ends
    std::int32_t bytes;           // 0 once merged into the symbol before
  };
  // A possible merge of two neighbours.
  struct Merge {
    std::uint64_t order;  // rank of the merged piece's score, then the place of its left symbol: least first
    std::int32_t right, merged;
    std::int32_t left() const { return static_cast<std::int32_t>(order & 0xFFFFFFFF); }
    friend bool operator<(const Merge& a, const Merge& b) { return a.order > b.order; }  // the heap's top is the least
  };
  void MergeWord(std::vector<Symbol>& symbols, std::vector<Merge>& heap, Random* random, double dropout) const;

  // A symbol is a piece (its id) or a character that only stands within pieces (from pieces on).
  std::vector<std::int32_t> rank_;   // of a piece's score among all, 0 is the highest; equal scores share one
  std::vector<std::int32_t> bytes_;  // of a piece
  NumberTable merged_;               // (left symbol << 32 | right symbol) to piece
  NumberTable symbol_of_character_;
  std::array<std::int32_t, 128> symbol_of_ascii_;
  std::int32_t unknown_ = 0;
  bool words_stand_alone_ = true;  // no piece has a space but in front, so that no merge crosses one
};

// Unigram: of all ways to cut the text into pieces, the one with the highest sum of scores (Viterbi).
class UnigramSegmenter {
 public:
  explicit UnigramSegmenter(const SentencePieceModel& model);

  std::vector<Segment> Segments(std::string_view text) const;

 private:
  // A trie over bytes, its nodes numbered level by level, so that a node's children follow one another: node n has the
  // children [first_child_[n], first_child_[n + 1]). Node 0 is the root.
  std::int32_t Child(std::int32_t node, unsigned char byte) const;  // -1 for none
  std::vector<unsigned char> label_;                                // the byte that leads to a node
  std::vector<std::int32_t> first_child_;
  std::vector<std::int32_t> piece_;  // that ends at a node, -1 for none
  std::vector<float> score_;         // of a piece
  float unknown_score_ = 0;
  std::int32_t unknown_ = 0;
};

}  // namespace headlight
