// WordPiece (Wu et al., "Google's Neural Machine Translation System", 2016), as BERT cuts words with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/text/tokenizers/byte_trie.h"
#include "headlight/text/tokenizers/sentencepiece_segmenter.h"

namespace headlight {

struct WordPieceOptions {
  std::int32_t unknown = 0;                      // the piece of a word that cannot be cut
  std::string continuing_subword_prefix = "##";  // of pieces that go on within a word
  std::int64_t max_input_chars_per_word = 100;   // longer words are unknown
};

// Of a word the longest piece that it begins with, then the longest that goes on from there, up to its end.
class WordPieceSegmenter {
 public:
  WordPieceSegmenter(const std::vector<std::string>& pieces, const WordPieceOptions& options);

  // Adds the segments of a word that is UTF-8 and not empty.
  void operator()(std::string_view word, std::vector<Segment>& segments) const;

 private:
  WordPieceOptions options_;
  ByteTrie trie_;
  std::int32_t continuing_ = -1;  // the prefix's node
};

}  // namespace headlight
