#include "headlight/text/tokenizers/byte_pair_training.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "headlight/text/characters.h"
#include "headlight/text/tokenizers/sentencepiece_table.h"

namespace headlight {
namespace {

using Pair = std::uint64_t;  // PairKey of two symbols

std::int32_t Left(Pair pair) { return static_cast<std::int32_t>(pair >> 32); }
std::int32_t Right(Pair pair) { return static_cast<std::int32_t>(pair & 0xFFFFFFFF); }

struct Word {
  std::vector<std::int32_t> symbols;
  std::int64_t count;
};

// An adjacent pair, its frequency when it was queued, and the words in which it has occurred since it was last queued.
struct Candidate {
  std::int64_t count;
  Pair pair;
  std::vector<std::int32_t> words;
  friend bool operator<(const Candidate& a, const Candidate& b) {  // the most frequent pair is at the heap's top
    return a.count != b.count ? a.count < b.count : a.pair > b.pair;
  }
};

class Trainer {
 public:
  Trainer(std::vector<std::string> pieces, std::string prefix) : prefix_(std::move(prefix)) {
    for (std::string& piece : pieces) IdOf(piece);
  }

  BytePairVocabulary Run(const std::vector<CountedWord>& words, std::size_t size,
                         const TrainingProgressCallback& progress) {
    AddWords(words);
    for (std::size_t word = 0; word < words_.size(); ++word) {
      const std::vector<std::int32_t>& symbols = words_[word].symbols;
      for (std::size_t i = 0; i + 1 < symbols.size(); ++i) Change(word, PairKey(symbols[i], symbols[i + 1]), 1);
    }
    QueueChanged();
    std::vector<Pair> merges;
    while (pieces_.size() < size && !queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end());
      Candidate best = std::move(queue_.back());
      queue_.pop_back();
      if (const std::int64_t now = counts_[best.pair]; best.count != now) {
        if (now > 0) Queue({now, best.pair, std::move(best.words)});
        continue;
      }
      const std::string& right = pieces_[Right(best.pair)];
      const std::size_t skipped = right.starts_with(prefix_) ? prefix_.size() : 0;
      const std::int32_t merged = IdOf(pieces_[Left(best.pair)] + right.substr(skipped));
      merges.push_back(best.pair);
      for (const std::int32_t word : best.words) Merge(word, best.pair, merged);
      QueueChanged();
      if (merges.size() % 100 == 0)
        progress(static_cast<std::int64_t>(pieces_.size()), static_cast<std::int64_t>(size));
    }
    return {pieces_, Named(merges)};
  }

 private:
  std::int32_t IdOf(const std::string& piece) {
    const auto [found, is_new] = ids_.emplace(piece, static_cast<std::int32_t>(pieces_.size()));
    if (is_new) pieces_.push_back(piece);
    return found->second;
  }

  void AddWords(const std::vector<CountedWord>& words) {
    std::set<char32_t> alphabet, within;  // sorted, so that ids do not depend on the order of words
    for (const CountedWord& word : words) {
      ForEachCharacter(word.text, [&](char32_t character, std::size_t begin, std::size_t) {
        alphabet.insert(character);
        if (begin > 0) within.insert(character);
      });
    }
    const auto text_of = [](char32_t character) {
      std::string text;
      AppendUtf8(text, character);
      return text;
    };
    for (const char32_t character : alphabet) IdOf(text_of(character));
    if (!prefix_.empty())
      for (const char32_t character : within) IdOf(prefix_ + text_of(character));
    for (const CountedWord& word : words) {
      std::vector<std::int32_t> symbols;
      ForEachCharacter(word.text, [&](char32_t, std::size_t begin, std::size_t end) {
        symbols.push_back(IdOf((begin > 0 ? prefix_ : "") + word.text.substr(begin, end - begin)));
      });
      words_.push_back({std::move(symbols), word.count});
    }
  }

  void Change(std::size_t word, Pair pair, int by) {
    counts_[pair] += by * words_[word].count;
    if (by < 0) return;
    std::vector<std::int32_t>& where = changed_[pair];
    if (where.empty() || where.back() != static_cast<std::int32_t>(word))
      where.push_back(static_cast<std::int32_t>(word));
  }

  void QueueChanged() {
    for (auto& [pair, words] : changed_)
      if (const std::int64_t count = counts_[pair]; count > 0) Queue({count, pair, std::move(words)});
    changed_.clear();
  }

  void Queue(Candidate candidate) {
    queue_.push_back(std::move(candidate));
    std::push_heap(queue_.begin(), queue_.end());
  }

  // Does not update the count of `pair`, which is needed again only if a later merge creates the pair.
  void Merge(std::int32_t index, Pair pair, std::int32_t merged) {
    std::vector<std::int32_t>& symbols = words_[index].symbols;
    std::size_t to = 0;
    for (std::size_t from = 0; from < symbols.size(); ++from) {
      const bool here = from + 1 < symbols.size() && PairKey(symbols[from], symbols[from + 1]) == pair;
      if (!here) {
        symbols[to++] = symbols[from];
        continue;
      }
      if (to > 0) {
        Change(index, PairKey(symbols[to - 1], symbols[from]), -1);
        Change(index, PairKey(symbols[to - 1], merged), 1);
      }
      if (from + 2 < symbols.size()) {
        Change(index, PairKey(symbols[from + 1], symbols[from + 2]), -1);
        Change(index, PairKey(merged, symbols[from + 2]), 1);
      }
      symbols[to++] = merged;
      ++from;
    }
    symbols.resize(to);
  }

  // Returns the merges as texts. If a pair was merged twice, because it occurred again later, its last rank is used.
  std::vector<std::pair<std::string, std::string>> Named(const std::vector<Pair>& merges) const {
    std::unordered_map<Pair, std::size_t> last;
    for (std::size_t i = 0; i < merges.size(); ++i) last[merges[i]] = i;
    std::vector<std::pair<std::string, std::string>> named;
    for (std::size_t i = 0; i < merges.size(); ++i)
      if (last.at(merges[i]) == i) named.emplace_back(pieces_[Left(merges[i])], pieces_[Right(merges[i])]);
    return named;
  }

  std::string prefix_;
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<Word> words_;
  std::unordered_map<Pair, std::int64_t> counts_;
  std::unordered_map<Pair, std::vector<std::int32_t>> changed_;
  std::vector<Candidate> queue_;  // a heap
};

}  // namespace

BytePairVocabulary TrainBytePairs(const std::vector<CountedWord>& words, std::vector<std::string> pieces,
                                  std::size_t size, const std::string& prefix,
                                  const TrainingProgressCallback& progress) {
  return Trainer(std::move(pieces), prefix).Run(words, size, progress);
}

}  // namespace headlight
