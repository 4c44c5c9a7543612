// WordPiece segmentation (Wu et al., "Google's Neural Machine Translation System", 2016), as in BERT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/byte_trie.h"
#include "headlight/text/tokenizers/sentencepiece_segmenter.h"

namespace headlight {

struct WordPieceOptions {
  std::int32_t unknown = 0;                      ///< the piece for a word that cannot be segmented
  std::string continuing_subword_prefix = "##";  ///< prefix of pieces that do not begin a word
  std::int64_t max_input_chars_per_word = 100;   ///< longer words are unknown
};

/// Segments a word greedily: uses the longest piece at the beginning of the word, then the longest piece at each
/// following position.
class WordPieceSegmenter {
 public:
  /// `pieces` is indexed by id. Empty pieces are ignored. At least one piece must not be empty.
  WordPieceSegmenter(const std::vector<std::string>& pieces, const WordPieceOptions& options);

  /// Segments a non-empty word, and appends its segments to `segments`.
  void operator()(std::string_view word, std::vector<Segment>& segments) const;

 private:
  WordPieceOptions options_;
  ByteTrie trie_;
  std::int32_t continuing_ = -1;  // the node of the prefix; -1: none
};

}  // namespace headlight
