#include <algorithm>
#include <array>
#include <limits>

#include "headlight/text/tokenizers/sentencepiece_segmenter.h"
#include "headlight/text/utf8.h"

namespace headlight {

template <typename Score>
UnigramSegmenter<Score>::UnigramSegmenter(std::vector<std::pair<std::string_view, std::int32_t>> pieces,
                                          std::vector<Score> scores, std::int32_t unknown)
    : scores_(std::move(scores)), unknown_(unknown) {
  Score least = std::numeric_limits<Score>::max();
  for (const auto& [text, piece] : pieces) least = std::min(least, scores_[piece]);
  unknown_score_ = least - 10;  // the penalty in SentencePiece
  trie_ = ByteTrie(std::move(pieces));
}

template <typename Score>
std::vector<Segment> UnigramSegmenter<Score>::Segments(std::string_view text) const {
  std::vector<Segment> segments;
  Append(text, segments);
  return segments;
}

template <typename Score>
void UnigramSegmenter<Score>::Append(std::string_view text, std::vector<Segment>& segments) const {
  // Most texts are single words, for which no allocation is needed.
  std::array<Path, 48> few;
  std::vector<Path> many(text.size() < few.size() ? 0 : text.size() + 1);
  Path* const paths = many.empty() ? few.data() : many.data();
  const auto extend = [&](std::size_t begin, std::size_t end, std::int32_t piece, Score score) {
    Path& path = paths[end];
    const Score candidate = score + paths[begin].score;
    if (path.begin < 0 || candidate > path.score) path = {candidate, piece, static_cast<std::int32_t>(begin)};
  };
  std::size_t furthest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    // In a very long text, the scores are rebased as in SentencePiece, since float would be too imprecise to compare
    // paths.
    if (const Score score = paths[begin].score; score < -1e5f || score > 1e5f) {
      for (std::size_t end = begin; end <= furthest; ++end) {
        if (paths[end].begin >= 0) paths[end].score -= score;
      }
    }
    const std::size_t character = DecodeUtf8(text.substr(begin)).bytes;
    bool alone = false;  // true if this single character is a piece
    std::int32_t node = 0;
    for (std::size_t end = begin; end < text.size();) {
      node = trie_.Child(node, text[end++]);
      if (node < 0) break;
      const std::int32_t piece = trie_.piece(node);
      if (piece < 0) continue;
      extend(begin, end, piece, scores_[piece]);
      furthest = std::max(furthest, end);
      alone = alone || end - begin == character;
    }
    if (!alone) {
      extend(begin, begin + character, unknown_, unknown_score_);
      furthest = std::max(furthest, begin + character);
    }
    begin += character;
  }
  const auto before = static_cast<std::ptrdiff_t>(segments.size());
  for (auto end = static_cast<std::int32_t>(text.size()); end > 0; end = paths[end].begin) {
    segments.push_back({paths[end].piece, end});
  }
  std::reverse(segments.begin() + before, segments.end());
}

template class UnigramSegmenter<float>;
template class UnigramSegmenter<double>;

UnigramSegmenter<float> UnigramSegmenterOf(const SentencePieceModel& model) {
  std::vector<std::pair<std::string_view, std::int32_t>> pieces;
  std::vector<float> scores;
  std::int32_t unknown = 0;
  for (const SentencePiece& piece : model.pieces) {
    const auto id = static_cast<std::int32_t>(scores.size());
    if (piece.type == SentencePiece::Type::unknown) unknown = id;
    if (piece.type == SentencePiece::Type::normal) pieces.emplace_back(piece.text, id);
    scores.push_back(piece.score);
  }
  return UnigramSegmenter<float>(std::move(pieces), std::move(scores), unknown);
}

}  // namespace headlight
