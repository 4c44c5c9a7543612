#include <algorithm>
#include <unordered_map>

#include "headlight/text/characters.h"
#include "headlight/text/tokenizers/sentencepiece_segmenter.h"

namespace headlight {
BpeSegmenter::BpeSegmenter(const SentencePieceModel& model) {
  const auto size = static_cast<std::int32_t>(model.pieces.size());
  std::unordered_map<std::string_view, std::int32_t> symbols;
  std::vector<float> scores;
  for (std::int32_t id = 0; id < size; ++id) {
    const SentencePiece& piece = model.pieces[id];
    if (piece.type == SentencePiece::Type::unknown) unknown_ = id;
    if (piece.type != SentencePiece::Type::normal) continue;
    symbols.emplace(piece.text, id);
    scores.push_back(piece.score);
    if (piece.text.find(kSpaceSymbol, 1) != std::string::npos) words_stand_alone_ = false;
  }
  std::sort(scores.begin(), scores.end(), std::greater<>());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());

  symbol_of_ascii_.fill(-1);
  for (const SentencePiece& piece : model.pieces) {
    if (piece.type != SentencePiece::Type::normal) continue;
    const std::string_view text = piece.text;
    ForEachCharacter(text, [&](char32_t code, std::size_t begin, std::size_t end) {
      const std::int32_t fresh = size + static_cast<std::int32_t>(symbols.size());
      const std::int32_t symbol = symbols.emplace(text.substr(begin, end - begin), fresh).first->second;
      symbol_of_character_.Insert(code, symbol);
      if (code < symbol_of_ascii_.size()) symbol_of_ascii_[code] = symbol;
    });
  }
  // Finds every pair of symbols that forms a piece. All symbols must already be known.
  rank_.resize(size);
  bytes_.resize(size);
  for (std::int32_t id = 0; id < size; ++id) {
    const SentencePiece& piece = model.pieces[id];
    if (piece.type != SentencePiece::Type::normal) continue;
    rank_[id] = static_cast<std::int32_t>(
        std::lower_bound(scores.begin(), scores.end(), piece.score, std::greater<>()) - scores.begin());
    bytes_[id] = static_cast<std::int32_t>(piece.text.size());
    const std::string_view text = piece.text;
    ForEachCharacter(text, [&](char32_t, std::size_t at, std::size_t) {
      if (at == 0) return;
      const auto left = symbols.find(text.substr(0, at)), right = symbols.find(text.substr(at));
      if (left != symbols.end() && right != symbols.end()) merged_.Insert(PairKey(left->second, right->second), id);
    });
  }
}

void BpeSegmenter::MergeWord(std::vector<Symbol>& symbols, std::vector<Merge>& heap, Random* random,
                             double dropout) const {
  const auto consider = [&](std::int32_t left, std::int32_t right) {
    if (symbols[left].id < 0 || symbols[right].id < 0) return;
    const std::int32_t merged = merged_.Find(PairKey(symbols[left].id, symbols[right].id));
    if (merged < 0) return;
    heap.push_back({PairKey(rank_[merged], left), right, merged});
    std::push_heap(heap.begin(), heap.end());
  };
  heap.clear();
  for (std::size_t right = 1; right < symbols.size(); ++right) consider(right - 1, right);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Merge merge = heap.back();
    heap.pop_back();
    Symbol& left = symbols[merge.left()];
    Symbol& right = symbols[merge.right];
    // Symbols only grow or merge into their left neighbor, so both are unchanged if their sizes are unchanged.
    if (left.bytes == 0 || right.bytes == 0 || left.bytes + right.bytes != bytes_[merge.merged]) continue;
    if (random != nullptr && random->Uniform() < dropout) continue;
    left.id = merge.merged;
    left.bytes += right.bytes;
    left.next = right.next;
    right.bytes = 0;
    if (left.next >= 0) {
      symbols[left.next].previous = merge.left();
      consider(merge.left(), left.next);
    }
    if (left.previous >= 0) consider(left.previous, merge.left());
  }
}

std::vector<Segment> BpeSegmenter::Segments(std::string_view text, Random* random, double dropout) const {
  std::vector<Segment> segments;
  std::vector<Symbol> symbols;
  std::vector<Merge> heap;
  const auto pieces = static_cast<std::int32_t>(rank_.size());
  std::int32_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    // Segments the next word up to a space, or the whole text.
    symbols.clear();
    for (const std::size_t begin = at; at < text.size();) {
      if (words_stand_alone_ && at > begin && text.substr(at).starts_with(kSpaceSymbol)) break;
      const auto index = static_cast<std::int32_t>(symbols.size());
      const auto byte = static_cast<unsigned char>(text[at]);
      if (byte < symbol_of_ascii_.size()) {
        symbols.push_back({symbol_of_ascii_[byte], index - 1, index + 1, 1});
      } else {
        const Utf8Character character = DecodeUtf8(text.substr(at));
        symbols.push_back({symbol_of_character_.Find(character.code), index - 1, index + 1, character.bytes});
      }
      at += symbols.back().bytes;
    }
    symbols.back().next = -1;
    MergeWord(symbols, heap, random, dropout);
    for (std::int32_t index = 0; index >= 0; index = symbols[index].next) {
      const Symbol& symbol = symbols[index];
      end += symbol.bytes;
      segments.push_back({symbol.id >= 0 && symbol.id < pieces ? symbol.id : unknown_, end});
    }
  }
  return segments;
}

}  // namespace headlight
