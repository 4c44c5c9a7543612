// Segmentation of normalized text with the results of SentencePiece: the same order of merges, the same best path.
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

/// A piece and the byte at which it ends. It begins at the end of the previous segment. An unknown character is a
/// segment with the unknown piece.
struct Segment {
  std::int32_t piece = 0, end = 0;
  bool operator==(const Segment&) const = default;
};

/// Byte-pair encoding: starts from characters and repeatedly merges the adjacent pair whose result has the highest
/// score, the leftmost one if scores are equal.
class BpeSegmenter {
 public:
  explicit BpeSegmenter(const SentencePieceModel& model);

  /// `text` is normalized UTF-8. With `random`, applies BPE-dropout (Provilkov et al., 2020): each merge is skipped
  /// with the probability `dropout`.
  std::vector<Segment> Segments(std::string_view text, Random* random, double dropout) const;

 private:
  struct Symbol {
    std::int32_t id;              // -1: a character without a symbol
    std::int32_t previous, next;  // -1 at the ends
    std::int32_t bytes;           // 0 once merged into the previous symbol
  };
  /// A possible merge of two neighbours.
  struct Merge {
    std::uint64_t order;  // rank of the merged piece's score, then the position of its left symbol: least first
    std::int32_t right, merged;
    std::int32_t left() const { return static_cast<std::int32_t>(order & 0xFFFFFFFF); }
    friend bool operator<(const Merge& a, const Merge& b) { return a.order > b.order; }  // the heap's top is the least
  };
  void MergeWord(std::vector<Symbol>& symbols, std::vector<Merge>& heap, Random* random, double dropout) const;

  /// A symbol is a piece, identified by its id, or a character that occurs only inside pieces, numbered after the
  /// pieces.
  std::vector<std::int32_t> rank_;   // of a piece's score, 0 for the highest; equal scores have equal ranks
  std::vector<std::int32_t> bytes_;  // of a piece
  NumberTable merged_;               // from (left symbol << 32 | right symbol) to piece
  NumberTable symbol_of_character_;
  std::array<std::int32_t, 128> symbol_of_ascii_;
  std::int32_t unknown_ = 0;
  bool words_stand_alone_ = true;  // pieces have spaces only at the beginning, so that no merge crosses one
};

/// Unigram: the segmentation with the highest sum of scores (Viterbi). SentencePiece adds float numbers and the
/// tokenizers library double ones, which decides between nearly equal segmentations.
template <typename Score>
class UnigramSegmenter {
 public:
  /// Distinct pieces, at least one, with the index of their score; `unknown` is used for characters without a piece.
  UnigramSegmenter(std::vector<std::pair<std::string_view, std::int32_t>> pieces, std::vector<Score> scores,
                   std::int32_t unknown);

  std::vector<Segment> Segments(std::string_view text) const;
  /// Appends the segments to `segments`.
  void Append(std::string_view text, std::vector<Segment>& segments) const;

 private:
  /// The best path to a byte: its score, its last piece and where that begins.
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
