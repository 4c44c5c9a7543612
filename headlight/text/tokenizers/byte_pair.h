// Byte-pair encoding (Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", 2016) with a list
// of merges, as in the GPT families.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/text/tokenizers/pair_table.h"
#include "headlight/text/tokenizers/sentencepiece_segmenter.h"
#include "headlight/text/tokenizers/word_table.h"

namespace headlight {

struct BytePairOptions {
  bool bytes = false;  ///< if true, initial symbols are bytes instead of characters
  /// The piece for unknown characters. If not set, unknown characters are skipped.
  std::optional<std::int32_t> unknown;
  bool fuse_unknown = false;                   ///< if true, consecutive unknown characters become one piece
  std::string continuing_subword_prefix = "";  ///< prefix of pieces inside a word
  std::string end_of_word_suffix = "";         ///< suffix of pieces that end a word
  /// If true, an unknown character becomes byte pieces such as <0x0A>, unless a piece is missing.
  bool byte_fallback = false;
  bool ignore_merges = false;  ///< if true, a word that is itself a piece is used without merges
};

/// Returns the piece, such as <0x0A>, that represents each byte, or -1 if there is no such piece.
std::array<std::int32_t, 256> BytePieces(const WordTable& numbers);

/// Segments a word: starts from its bytes or characters and repeatedly merges the adjacent pair with the lowest rank.
/// The rank is the index in the list of merges. If ranks are equal, the leftmost pair is merged.
class BytePairSegmenter {
 public:
  /// Throws Error, with a message that begins with `name`, if the two parts of a merge or its result are not pieces.
  BytePairSegmenter(const std::vector<std::string>& pieces,
                    const std::vector<std::pair<std::string, std::string>>& merges, const BytePairOptions& options,
                    const std::string& name);

  /// Appends the segments of a non-empty word. The word must be UTF-8 unless its symbols are bytes.
  void operator()(std::string_view word, std::vector<Segment>& segments) const;

 private:
  struct Symbol {
    std::int32_t piece, bytes;    // `bytes` is 0 after the symbol is merged into the previous one
    std::int32_t previous, next;  // -1 at the ends
  };
  /// A possible merge of the symbol at `left` with the next one. The heap's top has the lowest rank.
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
  WordTable first_;                      // maps initial symbols, with prefix and suffix, to pieces
  WordTable whole_;                      // words that are a single piece
  std::array<std::int32_t, 256> bytes_;  // result of BytePieces; only for byte_fallback
  PairTable rank_;                       // maps pairs of pieces to ranks
  std::vector<std::int32_t> merged_;     // the resulting piece of each merge, by rank
};

}  // namespace headlight
