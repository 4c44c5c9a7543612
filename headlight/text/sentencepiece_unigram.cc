#include <algorithm>
#include <cstring>
#include <limits>

#include "headlight/text/sentencepiece_segmenter.h"
#include "headlight/text/utf8.h"

namespace headlight {

UnigramSegmenter::UnigramSegmenter(const SentencePieceModel& model) {
  std::vector<std::pair<std::string_view, std::int32_t>> pieces;
  float least = std::numeric_limits<float>::max();
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const SentencePiece& piece = model.pieces[id];
    score_.push_back(piece.score);
    if (piece.type == SentencePiece::Type::unknown) unknown_ = static_cast<std::int32_t>(id);
    if (piece.type != SentencePiece::Type::normal) continue;
    least = std::min(least, piece.score);
    pieces.emplace_back(piece.text, static_cast<std::int32_t>(id));
  }
  unknown_score_ = least - 10;  // SentencePiece's penalty

  // A node stands for the sorted pieces that begin with the same `depth` bytes.
  struct Node {
    std::size_t begin, end, depth;
  };
  std::sort(pieces.begin(), pieces.end());
  std::vector<Node> nodes = {{0, pieces.size(), 0}};
  label_ = {0};
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    auto [begin, end, depth] = nodes[index];
    first_child_.push_back(static_cast<std::int32_t>(nodes.size()));
    const bool ends = pieces[begin].first.size() == depth;  // the shortest is sorted first
    piece_.push_back(ends ? pieces[begin++].second : -1);
    while (begin < end) {
      const char byte = pieces[begin].first[depth];
      const std::size_t first = begin;
      while (begin < end && pieces[begin].first[depth] == byte) ++begin;
      nodes.push_back({first, begin, depth + 1});
      label_.push_back(static_cast<unsigned char>(byte));
    }
  }
  first_child_.push_back(static_cast<std::int32_t>(nodes.size()));
}

std::int32_t UnigramSegmenter::Child(std::int32_t node, unsigned char byte) const {
  const std::int32_t begin = first_child_[node];
  const void* found = std::memchr(label_.data() + begin, byte, first_child_[node + 1] - begin);
  return found == nullptr ? -1 : static_cast<std::int32_t>(static_cast<const unsigned char*>(found) - label_.data());
}

std::vector<Segment> UnigramSegmenter::Segments(std::string_view text) const {
  // The best path to each byte: its score, its last piece and where that begins.
  struct Path {
    float score = 0;
    std::int32_t piece = 0, begin = -1;
  };
  std::vector<Path> paths(text.size() + 1);
  const auto extend = [&](std::size_t begin, std::size_t end, std::int32_t piece, float score) {
    Path& path = paths[end];
    const float candidate = score + paths[begin].score;
    if (path.begin < 0 || candidate > path.score) path = {candidate, piece, static_cast<std::int32_t>(begin)};
  };
  std::size_t furthest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    // In a very long text the scores begin anew, as SentencePiece's do, before float loses what tells paths apart.
    if (const float score = paths[begin].score; score < -1e5f || score > 1e5f) {
      for (std::size_t end = begin; end <= furthest; ++end) {
        if (paths[end].begin >= 0) paths[end].score -= score;
      }
    }
    const std::size_t character = DecodeUtf8(text.substr(begin)).bytes;
    bool alone = false;  // a piece is this character alone
    std::int32_t node = 0;
    for (std::size_t end = begin; end < text.size();) {
      node = Child(node, static_cast<unsigned char>(text[end++]));
      if (node < 0) break;
      if (piece_[node] < 0) continue;
      extend(begin, end, piece_[node], score_[piece_[node]]);
      furthest = std::max(furthest, end);
      alone = alone || end - begin == character;
    }
    if (!alone) {
      extend(begin, begin + character, unknown_, unknown_score_);
      furthest = std::max(furthest, begin + character);
    }
    begin += character;
  }
  std::vector<Segment> segments;
  for (auto end = static_cast<std::int32_t>(text.size()); end > 0; end = paths[end].begin) {
    segments.push_back({paths[end].piece, end});
  }
  std::reverse(segments.begin(), segments.end());
  return segments;
}

}  // namespace headlight
