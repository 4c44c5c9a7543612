#include "headlight/text/tokenizers/unigram_training.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "headlight/base/parallel.h"
#include "headlight/text/characters.h"
#include "headlight/text/tokenizers/byte_trie.h"

namespace headlight {
namespace {

constexpr std::size_t kLongestCandidate = 16;  // characters, as in SentencePiece
constexpr std::size_t kMostSeeds = 1000000;    // initial pieces
constexpr double kLeastExpected = 0.5;         // pieces with a lower expected count are removed
constexpr double kKept = 0.75;                 // fraction of the pieces that each pruning step keeps
constexpr std::int64_t kUnigramTasks = 32;     // fixed, since sums are added in the order of tasks
// The maximum length in bytes. Longer words are divided, so that the probability of a word does not underflow a double.
constexpr std::size_t kLongestWord = 24;

struct Piece {
  std::string text;
  double score;  // log probability
};

// Computes d/dx ln Gamma(x) for x > 0 (Abramowitz and Stegun, 6.3.5 and 6.3.18).
double Digamma(double x) {
  double result = 0;
  for (; x < 7; ++x) result -= 1 / x;
  const double square = 1 / (x * x);
  return result + std::log(x) - 0.5 / x -
         square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square / 240)));
}

std::vector<CountedWord> Parts(const std::vector<CountedWord>& words) {
  std::map<std::string, std::int64_t> parts;
  for (const CountedWord& word : words)
    ForEachPart(word.text, kLongestWord, [&](std::string_view part) { parts[std::string(part)] += word.count; });
  std::vector<CountedWord> result;
  for (const auto& [text, count] : parts)
    if (!text.empty()) result.push_back({text, count});
  return result;
}

// Returns the byte offset of each character, and the length of the text.
std::vector<std::size_t> Boundaries(std::string_view text) {
  std::vector<std::size_t> boundaries;
  ForEachCharacter(text, [&](char32_t, std::size_t begin, std::size_t) { boundaries.push_back(begin); });
  boundaries.push_back(text.size());
  return boundaries;
}

// Returns every character, and the substrings of words that occur at least twice with different continuations. If all
// occurrences have the same continuation, the longer substring is sufficient. The result is sorted by the number of
// characters that a substring covers in the text.
std::vector<Piece> Seeds(const std::vector<CountedWord>& words) {
  struct Suffix {
    std::string_view text;  // the rest of a word from a character on, at most as long as a piece
    std::int64_t count;
  };
  std::vector<Suffix> suffixes;
  std::map<std::string, std::int64_t> characters;
  for (const CountedWord& word : words) {
    const std::vector<std::size_t> boundaries = Boundaries(word.text);
    for (std::size_t i = 0; i + 1 < boundaries.size(); ++i) {
      const std::size_t end = boundaries[std::min(i + kLongestCandidate, boundaries.size() - 1)];
      suffixes.push_back({std::string_view(word.text).substr(boundaries[i], end - boundaries[i]), word.count});
      characters[word.text.substr(boundaries[i], boundaries[i + 1] - boundaries[i])] += word.count;
    }
  }
  std::sort(suffixes.begin(), suffixes.end(), [](const Suffix& a, const Suffix& b) { return a.text < b.text; });

  struct Seed {
    std::string_view text;
    std::int64_t weight;
  };
  std::vector<Seed> seeds;
  // The prefixes of the previous suffix that may also be prefixes of the next suffix, shortest first.
  struct Open {
    std::size_t bytes;
    std::int64_t count;
  };
  std::vector<Open> open;
  for (std::size_t i = 0; i <= suffixes.size(); ++i) {
    std::size_t common = 0;  // length of the common prefix in whole characters
    if (i > 0 && i < suffixes.size()) {
      const std::string_view a = suffixes[i - 1].text, b = suffixes[i].text;
      while (common < a.size() && common < b.size() && a[common] == b[common]) ++common;
      while (common > 0 && common < b.size() && (b[common] & 0xC0) == 0x80) --common;
      while (common > 0 && common < a.size() && (a[common] & 0xC0) == 0x80) --common;
    }
    std::int64_t count = i > 0 ? suffixes[i - 1].count : 0;
    while (!open.empty() && open.back().bytes > common) {
      open.back().count += count;
      count = open.back().count;
      const std::string_view text = suffixes[i - 1].text.substr(0, open.back().bytes);
      const std::int64_t length = CountCharacters(text);
      if (length > 1) seeds.push_back({text, count * length});
      open.pop_back();
    }
    if (common == 0) continue;
    if (!open.empty() && open.back().bytes == common) {
      open.back().count += count;
    } else {
      open.push_back({common, count});
    }
  }
  // The code above does not find a word that is repeated only as a whole.
  for (const CountedWord& word : words) {
    const std::int64_t length = CountCharacters(word.text);
    if (word.count > 1 && length > 1 && length <= static_cast<std::int64_t>(kLongestCandidate))
      seeds.push_back({word.text, word.count * length});
  }
  std::sort(seeds.begin(), seeds.end(),
            [](const Seed& a, const Seed& b) { return a.text != b.text ? a.text < b.text : a.weight > b.weight; });
  seeds.erase(std::unique(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) { return a.text == b.text; }),
              seeds.end());
  std::sort(seeds.begin(), seeds.end(),
            [](const Seed& a, const Seed& b) { return a.weight != b.weight ? a.weight > b.weight : a.text < b.text; });
  seeds.resize(std::min(seeds.size(), kMostSeeds));

  std::vector<Piece> pieces;
  for (const auto& [text, count] : characters) pieces.push_back({text, static_cast<double>(count)});
  for (const Seed& seed : seeds) pieces.push_back({std::string(seed.text), static_cast<double>(seed.weight)});
  double sum = 0;
  for (const Piece& piece : pieces) sum += piece.score;
  for (Piece& piece : pieces) piece.score = std::log(piece.score / sum);
  return pieces;
}

// Calls body(begin, end, piece) for every occurrence of a piece in the text, from left to right.
template <typename Body>
void ForEachPiece(const ByteTrie& trie, std::string_view text, const Body& body) {
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if ((text[begin] & 0xC0) == 0x80) continue;
    std::int32_t node = 0;
    for (std::size_t end = begin; end < text.size();) {
      node = trie.Child(node, text[end++]);
      if (node < 0) break;
      if (trie.piece(node) >= 0) body(begin, end, trie.piece(node));
    }
  }
}

// Calls body(word, sums) for every word, with one sum per piece. Each task computes separate sums, which are added in
// the order of tasks.
template <typename Body>
std::vector<double> SumOverWords(const std::vector<CountedWord>& words, std::size_t pieces, const Body& body) {
  std::vector<std::vector<double>> sums(kUnigramTasks);
  const auto count = static_cast<std::int64_t>(words.size());
  ParallelFor(kUnigramTasks, [&](std::int64_t task) {
    sums[task].resize(pieces);
    for (std::int64_t i = task * count / kUnigramTasks; i < (task + 1) * count / kUnigramTasks; ++i)
      body(words[i], sums[task]);
  });
  for (std::int64_t task = 1; task < kUnigramTasks; ++task)
    for (std::size_t piece = 0; piece < pieces; ++piece) sums[0][piece] += sums[task][piece];
  return std::move(sums[0]);
}

// The E step: returns the expected count of each piece over all segmentations of the words (forward-backward).
std::vector<double> Expected(const std::vector<CountedWord>& words, const std::vector<Piece>& pieces) {
  const ByteTrie trie = ByteTrie::Of(pieces, &Piece::text);
  std::vector<double> probability;
  for (const Piece& piece : pieces) probability.push_back(std::exp(piece.score));
  return SumOverWords(words, pieces.size(), [&](const CountedWord& word, std::vector<double>& sums) {
    struct Edge {
      std::size_t begin, end;
      std::int32_t piece;
    };
    std::vector<Edge> edges;
    ForEachPiece(trie, word.text, [&](std::size_t begin, std::size_t end, std::int32_t piece) {
      edges.push_back({begin, end, piece});
    });
    std::vector<double> forward(word.text.size() + 1), backward(word.text.size() + 1);
    forward.front() = backward.back() = 1;
    for (const Edge& edge : edges) forward[edge.end] += forward[edge.begin] * probability[edge.piece];
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge)
      backward[edge->begin] += backward[edge->end] * probability[edge->piece];
    const double factor = static_cast<double>(word.count) / backward.front();
    for (const Edge& edge : edges)
      sums[edge.piece] += forward[edge.begin] * probability[edge.piece] * backward[edge.end] * factor;
  });
}

// Returns the pieces of the best segmentation of a text that does not use the piece `without`, last piece first.
std::vector<std::int32_t> BestSegmentation(const ByteTrie& trie, const std::vector<Piece>& pieces,
                                           std::string_view text, std::int32_t without) {
  struct Path {
    double score = 0;
    std::int32_t piece = -1;
    std::size_t begin = 0;
  };
  std::vector<Path> paths(text.size() + 1);
  ForEachPiece(trie, text, [&](std::size_t begin, std::size_t end, std::int32_t piece) {
    if (piece == without || (begin > 0 && paths[begin].piece < 0)) return;
    const double score = paths[begin].score + pieces[piece].score;
    if (paths[end].piece < 0 || score > paths[end].score) paths[end] = {score, piece, begin};
  });
  std::vector<std::int32_t> cut;
  for (std::size_t end = text.size(); end > 0 && paths[end].piece >= 0; end = paths[end].begin)
    cut.push_back(paths[end].piece);
  return cut;
}

bool IsCharacter(const Piece& piece) { return CountCharacters(piece.text) == 1; }

// The M step: returns new probabilities, and omits pieces with a low expected count.
std::vector<Piece> Maximized(const std::vector<Piece>& pieces, const std::vector<double>& expected) {
  std::vector<Piece> kept;
  double sum = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (expected[i] < kLeastExpected && !IsCharacter(pieces[i])) continue;
    kept.push_back({pieces[i].text, std::max(expected[i], kLeastExpected)});
    sum += kept.back().score;
  }
  // Applies a sparse Dirichlet prior (variational Bayes).
  const double log_sum = Digamma(sum);
  for (Piece& piece : kept) piece.score = Digamma(piece.score) - log_sum;
  return kept;
}

// Returns at most `size` pieces: the characters, and the pieces whose removal would decrease the likelihood the most.
std::vector<Piece> Pruned(const std::vector<CountedWord>& words, const std::vector<Piece>& pieces, std::size_t size) {
  const ByteTrie trie = ByteTrie::Of(pieces, &Piece::text);
  const std::vector<double> used = SumOverWords(words, pieces.size(), [&](const CountedWord& word, auto& sums) {
    for (const std::int32_t piece : BestSegmentation(trie, pieces, word.text, -1))
      sums[piece] += static_cast<double>(word.count);
  });
  double sum = 0;
  for (const double count : used) sum += count;
  // The decrease of the log likelihood if the occurrences of a piece are segmented into other pieces.
  std::vector<double> loss(pieces.size());
  ParallelFor(kUnigramTasks, [&](std::int64_t task) {
    const auto count = static_cast<std::int64_t>(pieces.size());
    for (std::int64_t i = task * count / kUnigramTasks; i < (task + 1) * count / kUnigramTasks; ++i) {
      if (used[i] == 0 || IsCharacter(pieces[i])) continue;
      const std::vector<std::int32_t> cut =
          BestSegmentation(trie, pieces, pieces[i].text, static_cast<std::int32_t>(i));
      const double log_sum = std::log(sum + used[i] * static_cast<double>(cut.size() - 1));
      double then = 0;
      for (const std::int32_t part : cut) then += std::log(used[part] + used[i]) - log_sum;
      loss[i] = used[i] * (std::log(used[i]) - std::log(sum) - then);
    }
  });
  std::vector<Piece> kept;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (IsCharacter(pieces[i])) {
      kept.push_back(pieces[i]);
    } else if (used[i] > 0) {
      others.push_back(i);
    }
  }
  std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) { return loss[a] > loss[b]; });
  for (const std::size_t i : others)
    if (kept.size() < size) kept.push_back(pieces[i]);
  return kept;
}

}  // namespace

std::vector<std::pair<std::string, double>> TrainUnigram(const std::vector<CountedWord>& words, std::size_t size,
                                                         const TrainingProgressCallback& progress) {
  const std::vector<CountedWord> parts = Parts(words);
  std::vector<Piece> pieces = Seeds(parts);
  const std::size_t seeds = pieces.size();
  // Keeps slightly more than `size` pieces, since the final pieces are selected by probability.
  const std::size_t enough = size + size / 10;
  while (true) {
    for (int round = 0; round < 2; ++round) pieces = Maximized(pieces, Expected(parts, pieces));
    progress(static_cast<std::int64_t>(seeds - pieces.size()),
             static_cast<std::int64_t>(seeds - std::min(seeds, enough)));
    if (pieces.size() <= enough) break;
    const auto fewer = static_cast<std::size_t>(kKept * static_cast<double>(pieces.size()));
    const std::size_t before = pieces.size();
    pieces = Pruned(parts, pieces, std::max(enough, fewer));
    if (pieces.size() == before) break;  // only single characters are left
  }
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    const bool a_stays = IsCharacter(a), b_stays = IsCharacter(b);
    return a_stays != b_stays ? a_stays : a.score > b.score;
  });
  pieces.resize(std::min(pieces.size(), size));
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.score != b.score ? a.score > b.score : a.text < b.text; });
  std::vector<std::pair<std::string, double>> result;
  // Sums of multiples of 2^-10 are exact, so that equally likely segmentations compare equal in every implementation.
  for (Piece& piece : pieces) result.emplace_back(std::move(piece.text), std::round(piece.score * 1024) / 1024);
  return result;
}

}  // namespace headlight
