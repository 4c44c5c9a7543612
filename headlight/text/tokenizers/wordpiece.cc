#include "headlight/text/tokenizers/wordpiece.h"

#include "headlight/text/characters.h"

namespace headlight {

WordPieceSegmenter::WordPieceSegmenter(const std::vector<std::string>& pieces, const WordPieceOptions& options)
    : options_(options) {
  std::vector<std::pair<std::string_view, std::int32_t>> numbered;
  for (std::size_t id = 0; id < pieces.size(); ++id)
    if (!pieces[id].empty()) numbered.emplace_back(pieces[id], static_cast<std::int32_t>(id));
  trie_ = ByteTrie(std::move(numbered));
  continuing_ = trie_.Find(options.continuing_subword_prefix);
}

void WordPieceSegmenter::operator()(std::string_view word, std::vector<Segment>& segments) const {
  const std::size_t before = segments.size();
  const auto size = static_cast<std::int32_t>(word.size());
  const auto unknown = [&] {
    segments.resize(before);
    segments.push_back({options_.unknown, size});
  };
  if (CountCharacters(word) > options_.max_input_chars_per_word) return unknown();
  for (std::int32_t begin = 0; begin < size;) {
    Segment longest{-1, begin};
    std::int32_t node = begin == 0 ? 0 : continuing_;
    for (std::int32_t end = begin; node >= 0;) {
      if (end > begin && trie_.piece(node) >= 0) longest = {trie_.piece(node), end};
      if (end == size) break;
      node = trie_.Child(node, word[end++]);
    }
    if (longest.piece < 0) return unknown();
    segments.push_back(longest);
    begin = longest.end;
  }
}

}  // namespace headlight
