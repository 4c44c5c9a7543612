// Segments normalized text with the results of SentencePiece.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/text/tokenizers/byte_trie.h"
#include "headlight/text/tokenizers/sentencepiece_model.h"
#include "headlight/text/tokenizers/sentencepiece_table.h"

namespace headlight {

/// A piece and the byte offset of its end. A segment begins at the end of the previous segment. An unknown character is
/// a segment with the unknown piece.
struct Segment {
  std::int32_t piece = 0, end = 0;
  bool operator==(const Segment&) const = default;
};

/// Byte-pair encoding: starts from characters and repeatedly merges the adjacent pair whose result has the highest
/// score. If scores are equal, the leftmost pair is merged.
class BpeSegmenter {
 public:
  explicit BpeSegmenter(const SentencePieceModel& model);

  /// Segments a normalized UTF-8 text. If `random` is given, applies BPE-dropout (Provilkov et al., 2020): each merge
  /// is skipped with the probability `dropout`.
  std::vector<Segment> Segments(std::string_view text, Random* random, double dropout) const;

 private:
  struct Symbol {
    std::int32_t id;              // -1: a character without a symbol
    std::int32_t previous, next;  // -1 at the ends
    std::int32_t bytes;           // 0 after the symbol is merged into the previous symbol
  };
  /// A possible merge of two adjacent symbols.
  struct Merge {
    // The rank of the merged piece's score in the upper 32 bits, and the position of the left symbol in the lower 32
    // bits.
    std::uint64_t order;
    std::int32_t right, merged;
    std::int32_t left() const { return static_cast<std::int32_t>(order & 0xFFFFFFFF); }
    // The lowest order is at the heap's top.
    friend bool operator<(const Merge& a, const Merge& b) { return a.order > b.order; }
  };
  void MergeWord(std::vector<Symbol>& symbols, std::vector<Merge>& heap, Random* random, double dropout) const;

  /// A symbol is a piece, identified by its id, or a character that occurs only inside pieces. Such characters are
  /// numbered after the pieces.
  std::vector<std::int32_t> rank_;   // rank of a piece's score, 0 for the highest; equal scores have equal ranks
  std::vector<std::int32_t> bytes_;  // length of a piece
  NumberTable merged_;               // maps (left symbol << 32 | right symbol) to the piece
  NumberTable symbol_of_character_;
  std::array<std::int32_t, 128> symbol_of_ascii_;
  std::int32_t unknown_ = 0;
  bool words_stand_alone_ = true;  // pieces have spaces only at their beginning, so no merge crosses a word boundary
};

/// Unigram segmentation: finds the segmentation with the highest sum of scores (Viterbi). SentencePiece adds scores in
/// float and the tokenizers library in double. The results can differ if segmentations have nearly equal scores.
template <typename Score>
class UnigramSegmenter {
 public:
  /// `pieces` has at least one piece, and each distinct piece has the index of its score. `unknown` is the piece for
  /// characters without a piece.
  UnigramSegmenter(std::vector<std::pair<std::string_view, std::int32_t>> pieces, std::vector<Score> scores,
                   std::int32_t unknown);

  std::vector<Segment> Segments(std::string_view text) const;
  /// Segments a text, and appends its segments to `segments`.
  void Append(std::string_view text, std::vector<Segment>& segments) const;

 private:
  /// The best path to a byte: its score, its last piece, and the first byte of that piece.
  struct Path {
    Score score = 0;
    std::int32_t piece = 0, begin = -1;
  };

  ByteTrie trie_;
  std::vector<Score> scores_;
  Score unknown_score_ = 0;
  std::int32_t unknown_ = 0;
};

UnigramSegmenter<float> UnigramSegmenterOf(const SentencePieceModel& model);

}  // namespace headlight
