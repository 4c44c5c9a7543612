#include "headlight/train/learn_shortlist.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr std::size_t kMostWordPairs = std::size_t{1} << 25, kMostTokens = std::size_t{1} << 26;
constexpr std::size_t kLongest =
    256;  // tokens per sentence; longer sentences give little information about single words
constexpr int kRounds = 5;
// The smallest translation probability that is used. Lower probabilities come from chance co-occurrences.
constexpr float kLeastProbability = 1e-4F;

// The sentences of one language, concatenated.
struct Sentences {
  std::vector<std::int32_t> ids;
  std::vector<std::size_t> begins = {0};

  void Add(std::span<const std::int32_t> sentence) {
    ids.insert(ids.end(), sentence.begin(), sentence.end());
    begins.push_back(ids.size());
  }
  std::size_t size() const { return begins.size() - 1; }
  std::span<const std::int32_t> operator[](std::size_t i) const {
    return std::span(ids).subspan(begins[i], begins[i + 1] - begins[i]);
  }
};

// Sorts the keys and removes duplicates.
void MakeSet(std::vector<std::uint64_t>& keys) {
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

// Stores the word pairs that occur together in a sentence pair, grouped by source word, with translation probabilities.
class Lexicon {
 public:
  Lexicon(std::span<const std::uint64_t> keys, std::int64_t source_words)
      : begins_(static_cast<std::size_t>(source_words) + 1), targets_(keys.size()), probabilities_(keys.size(), 1.0F) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ++begins_[static_cast<std::size_t>(keys[i] >> 32) + 1];
      targets_[i] = static_cast<std::int32_t>(keys[i] & 0xffffffff);
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  }

  // Runs one EM iteration (Brown et al., 1993, equation 17).
  void Improve(const Sentences& sources, const Sentences& targets) {
    std::vector<float> counts(targets_.size());
    std::vector<std::size_t> indices;
    for (std::size_t pair = 0; pair < sources.size(); ++pair)
      for (const std::int32_t target : targets[pair]) {
        indices.clear();
        float sum = 0;
        for (const std::int32_t source : sources[pair]) {
          indices.push_back(Find(source, target));
          sum += probabilities_[indices.back()];
        }
        if (sum == 0) continue;  // all probabilities underflowed
        for (const std::size_t index : indices) counts[index] += probabilities_[index] / sum;
      }
    for (std::size_t source = 0; source + 1 < begins_.size(); ++source) {
      const std::size_t begin = begins_[source], end = begins_[source + 1];
      double sum = 0;
      for (std::size_t i = begin; i < end; ++i) sum += counts[i];
      for (std::size_t i = begin; i < end; ++i) probabilities_[i] = sum == 0 ? 0 : static_cast<float>(counts[i] / sum);
    }
  }

  // Returns the `most` likeliest translations of a source word, or all if there are fewer.
  std::vector<std::int32_t> Best(std::size_t source, std::size_t most) const {
    std::vector<std::size_t> indices(begins_[source + 1] - begins_[source]);
    std::iota(indices.begin(), indices.end(), begins_[source]);
    std::erase_if(indices, [&](std::size_t index) { return probabilities_[index] < kLeastProbability; });
    std::ranges::stable_sort(indices, std::ranges::greater{}, [&](std::size_t index) { return probabilities_[index]; });
    indices.resize(std::min(indices.size(), most));
    std::vector<std::int32_t> words;
    for (const std::size_t index : indices) words.push_back(targets_[index]);
    return words;
  }

 private:
  std::size_t Find(std::int32_t source, std::int32_t target) const {
    const auto begin = targets_.begin() + static_cast<std::ptrdiff_t>(begins_[static_cast<std::size_t>(source)]);
    const auto end = targets_.begin() + static_cast<std::ptrdiff_t>(begins_[static_cast<std::size_t>(source) + 1]);
    return static_cast<std::size_t>(std::lower_bound(begin, end, target) - targets_.begin());
  }

  std::vector<std::size_t> begins_;    // index of each source word's first target
  std::vector<std::int32_t> targets_;  // target words, in ascending order for each source word
  std::vector<float> probabilities_;
};

std::vector<std::int32_t> MostFrequent(const Sentences& sentences, std::int64_t vocabulary, std::int32_t count) {
  std::vector<std::int64_t> times(static_cast<std::size_t>(vocabulary));
  for (const std::int32_t id : sentences.ids) ++times[static_cast<std::size_t>(id)];
  std::vector<std::int32_t> words(times.size());
  std::iota(words.begin(), words.end(), 0);
  std::ranges::stable_sort(words, std::ranges::greater{},
                           [&](std::int32_t word) { return times[static_cast<std::size_t>(word)]; });
  words.resize(std::min(words.size(), static_cast<std::size_t>(count)));
  std::ranges::sort(words);
  return words;
}

}  // namespace

LearnedShortlist LearnShortlist(const std::function<bool(EncodedPair&)>& next, std::int64_t source_vocabulary,
                                std::int64_t target_vocabulary, const ShortlistOptions& options) {
  Check(options.frequent >= 1 && options.per_word >= 1,
        "a shortlist needs at least 1 frequent word and 1 per source word, not {} frequent ones and {} per source word",
        options.frequent, options.per_word);
  LearnedShortlist result;
  Sentences sources, targets;
  std::vector<std::uint64_t> keys;
  std::size_t distinct = 0;  // number of keys after the last deduplication
  for (EncodedPair pair; next(pair);) {
    if (pair.source.size() > kLongest || pair.target.size() > kLongest) continue;
    if (distinct >= kMostWordPairs || sources.ids.size() + targets.ids.size() >= kMostTokens) {
      result.all = false;
      break;
    }
    sources.Add(pair.source);
    targets.Add(pair.target);
    for (const std::int32_t source : pair.source)
      for (const std::int32_t target : pair.target)
        keys.push_back(static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(target));
    if (keys.size() >= distinct + kMostWordPairs / 2) {
      MakeSet(keys);
      distinct = keys.size();
    }
  }
  MakeSet(keys);
  Check(!keys.empty(), "there is no sentence pair to train a shortlist on");

  Lexicon lexicon(keys, source_vocabulary);
  keys = {};
  for (int round = 0; round < kRounds; ++round) lexicon.Improve(sources, targets);
  result.pairs = static_cast<std::int64_t>(sources.size());
  Shortlist& shortlist = result.shortlist;
  shortlist.always = MostFrequent(targets, target_vocabulary, options.frequent);
  shortlist.begins.push_back(0);
  for (std::size_t source = 0; source < static_cast<std::size_t>(source_vocabulary); ++source) {
    const std::vector<std::int32_t> words = lexicon.Best(source, static_cast<std::size_t>(options.per_word));
    shortlist.words.insert(shortlist.words.end(), words.begin(), words.end());
    shortlist.begins.push_back(static_cast<std::int32_t>(shortlist.words.size()));
  }
  return result;
}

}  // namespace headlight
