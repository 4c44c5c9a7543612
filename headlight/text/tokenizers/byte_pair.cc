#include "headlight/text/tokenizers/byte_pair.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/text/characters.h"

namespace headlight {

std::array<std::int32_t, 256> BytePieces(const WordTable& numbers) {
  std::array<std::int32_t, 256> pieces;
  for (std::size_t byte = 0; byte < pieces.size(); ++byte) pieces[byte] = numbers.Find(fmt::format("<0x{:02X}>", byte));
  return pieces;
}

BytePairSegmenter::BytePairSegmenter(const std::vector<std::string>& pieces,
                                     const std::vector<std::pair<std::string, std::string>>& merges,
                                     const BytePairOptions& options, const std::string& name)
    : options_(options) {
  WordTable numbers;
  for (std::size_t id = 0; id < pieces.size(); ++id)
    if (!pieces[id].empty()) numbers.Insert(pieces[id], static_cast<std::int32_t>(id));
  const std::string& prefix = options.continuing_subword_prefix;
  std::vector<PairTable::Pair> pairs;
  pairs.reserve(merges.size());
  merged_.reserve(merges.size());
  for (const std::pair<std::string, std::string>& merge : merges) {
    const auto number = [&](const std::string& piece) {
      const std::int32_t found = numbers.Find(piece);
      Check(found >= 0, "{}: merge {} (\"{}\" with \"{}\") needs \"{}\", which is not in the vocabulary", name,
            merged_.size(), merge.first, merge.second, piece);
      return found;
    };
    Check(merge.second.starts_with(prefix), "{}: merge {} (\"{}\" with \"{}\"): the second must begin with \"{}\"",
          name, merged_.size(), merge.first, merge.second, prefix);
    pairs.push_back({number(merge.first), number(merge.second)});
    merged_.push_back(number(merge.first + merge.second.substr(prefix.size())));
  }
  rank_ = PairTable(pairs, pieces.size());
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::string& suffix = options.end_of_word_suffix;
    std::string_view text = pieces[id];
    // An initial symbol can have the prefix, the suffix, both or neither, depending on its position in the word.
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
    if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
    const auto characters = options.bytes ? static_cast<std::int64_t>(text.size()) : CountCharacters(text);
    if (characters <= 1) first_.Insert(pieces[id], static_cast<std::int32_t>(id));
  }
  bytes_ = BytePieces(numbers);
  // Caches the words that are a single piece, since these are most words of a text.
  const auto word_of = [&](std::size_t id) {
    return std::string_view(pieces[id]).substr(0, pieces[id].size() - options.end_of_word_suffix.size());
  };
  std::vector<char> is_whole(pieces.size());
  constexpr std::size_t chunk = 1024;
  ParallelFor(static_cast<std::int64_t>((pieces.size() + chunk - 1) / chunk), [&](std::int64_t index) {
    const std::size_t begin = static_cast<std::size_t>(index) * chunk;
    for (std::size_t id = begin; id < std::min(begin + chunk, pieces.size()); ++id) {
      if (!pieces[id].ends_with(options.end_of_word_suffix)) continue;
      const std::string_view word = word_of(id);
      if (word.empty() || (!options.bytes && ValidUtf8(word) != word.size())) continue;
      std::vector<Symbol> symbols = Symbols(word);
      MergeAll(symbols);
      const bool is_one = !symbols.empty() && symbols[0].piece == static_cast<std::int32_t>(id) && symbols[0].next < 0;
      is_whole[id] = is_one || options.ignore_merges;
    }
  });
  for (std::size_t id = 0; id < pieces.size(); ++id)
    if (is_whole[id]) whole_.Insert(word_of(id), static_cast<std::int32_t>(id));
}

bool BytePairSegmenter::HasBytes(std::string_view text) const {
  return std::all_of(text.begin(), text.end(),
                     [&](char byte) { return bytes_[static_cast<unsigned char>(byte)] >= 0; });
}

std::vector<BytePairSegmenter::Symbol> BytePairSegmenter::Symbols(std::string_view word) const {
  std::vector<Symbol> symbols;
  bool last_unknown = false;
  std::string text;
  const auto add = [&](std::size_t begin, std::size_t end) {
    text.clear();
    if (begin > 0) text += options_.continuing_subword_prefix;
    text += word.substr(begin, end - begin);
    if (end == word.size()) text += options_.end_of_word_suffix;
    const std::int32_t found = first_.Find(text);
    const bool unknown = found < 0;
    const auto bytes = static_cast<std::int32_t>(end - begin);
    const auto push = [&](std::int32_t piece, std::int32_t size) {
      const auto index = static_cast<std::int32_t>(symbols.size());
      symbols.push_back({piece, size, index - 1, index + 1});
    };
    if (unknown && options_.byte_fallback && HasBytes(text)) {
      for (const char byte : text) push(bytes_[static_cast<unsigned char>(byte)], 1);
      last_unknown = false;
      return;
    }
    if (unknown && !options_.unknown) return;
    if (unknown && last_unknown && options_.fuse_unknown) {
      symbols.back().bytes += bytes;
      return;
    }
    last_unknown = unknown;
    push(unknown ? *options_.unknown : found, bytes);
  };
  if (options_.bytes) {
    for (std::size_t at = 0; at < word.size(); ++at) add(at, at + 1);
  } else {
    ForEachCharacter(word, [&](char32_t, std::size_t begin, std::size_t end) { add(begin, end); });
  }
  if (!symbols.empty()) symbols.back().next = -1;
  return symbols;
}

void BytePairSegmenter::MergeAll(std::vector<Symbol>& symbols) const {
  std::vector<Merge> heap;
  const auto consider = [&](std::int32_t left) {
    if (left < 0 || symbols[left].next < 0) return;
    const std::int32_t rank = rank_.Find(symbols[left].piece, symbols[symbols[left].next].piece);
    if (rank < 0) return;
    heap.push_back({rank, left});
    std::push_heap(heap.begin(), heap.end());
  };
  for (std::size_t left = 0; left < symbols.size(); ++left) consider(static_cast<std::int32_t>(left));
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Merge merge = heap.back();
    heap.pop_back();
    Symbol& left = symbols[merge.left];
    if (left.bytes == 0 || left.next < 0) continue;
    Symbol& right = symbols[left.next];
    // Skips the merge if its symbols have changed. As in the tokenizers library, the merge remains valid if the new
    // pair has the same result.
    const std::int32_t rank = rank_.Find(left.piece, right.piece);
    if (rank < 0 || merged_[rank] != merged_[merge.rank]) continue;
    left.piece = merged_[merge.rank];
    left.bytes += right.bytes;
    left.next = right.next;
    right.bytes = 0;
    if (left.next >= 0) symbols[left.next].previous = merge.left;
    consider(left.previous);
    consider(merge.left);
  }
}

void BytePairSegmenter::operator()(std::string_view word, std::vector<Segment>& segments) const {
  if (const std::int32_t whole = whole_.Find(word); whole >= 0) {
    segments.push_back({whole, static_cast<std::int32_t>(word.size())});
    return;
  }
  std::vector<Symbol> symbols = Symbols(word);
  MergeAll(symbols);
  std::int32_t end = 0;
  for (std::size_t index = 0; index < symbols.size(); ++index) {
    if (symbols[index].bytes == 0) continue;
    end += symbols[index].bytes;
    segments.push_back({symbols[index].piece, end});
  }
}

}  // namespace headlight
