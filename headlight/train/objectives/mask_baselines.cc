#include "headlight/train/objectives/mask_baselines.h"

#include <cmath>
#include <unordered_map>

namespace headlight {
namespace {

constexpr std::int32_t kNone = -1;  // neighbor outside the text

// Counts how often each token occurs in each context.
class Counts {
 public:
  void Add(std::uint64_t context, std::int32_t token) {
    Context& of = contexts_[context];
    ++of.all;
    if (pairs_[Key(context, token)]++ == 0) ++of.different;
  }

  double Probability(std::uint64_t context, std::int32_t token, double otherwise) const {
    const auto of = contexts_.find(context);
    if (of == contexts_.end()) return otherwise;
    const auto pair = pairs_.find(Key(context, token));
    const double seen = pair == pairs_.end() ? 0 : static_cast<double>(pair->second);
    const auto all = static_cast<double>(of->second.all), different = static_cast<double>(of->second.different);
    return (seen + different * otherwise) / (all + different);
  }

 private:
  struct Context {
    std::int64_t all = 0, different = 0;
  };
  static std::uint64_t Key(std::uint64_t context, std::int32_t token) {
    return context * kTokens + static_cast<std::uint64_t>(token + 1);
  }

 public:
  static constexpr std::uint64_t kTokens = std::uint64_t{1} << 21;  // limit on the vocabulary size, including kNone
  static std::uint64_t ContextOf(std::int32_t one, std::int32_t other) {
    return static_cast<std::uint64_t>(one + 1) * kTokens + static_cast<std::uint64_t>(other + 1);
  }

 private:
  std::unordered_map<std::uint64_t, Context> contexts_;
  std::unordered_map<std::uint64_t, std::int64_t> pairs_;
};

// The tokens to the left and to the right of a position, or kNone.
struct Neighbors {
  std::int32_t left, right;
};
Neighbors NeighborsOf(const std::vector<std::int32_t>& ids, std::size_t position) {
  return {position == 0 ? kNone : ids[position - 1], position + 1 == ids.size() ? kNone : ids[position + 1]};
}

}  // namespace

MaskBaselines ScoreMaskBaselines(const std::vector<TextExample>& train, const std::vector<TextExample>& valid,
                                 const MaskingOptions& masking, std::int64_t vocabulary) {
  std::vector<std::int64_t> frequencies(static_cast<std::size_t>(vocabulary), 1);
  auto tokens = static_cast<double>(vocabulary);
  Counts by_left, by_right, by_both;
  for (const TextExample& text : train) {
    for (std::size_t position = 0; position < text.ids.size(); ++position) {
      if (text.words[position] < 0) continue;
      const std::int32_t token = text.ids[position];
      const auto [left, right] = NeighborsOf(text.ids, position);
      ++frequencies[static_cast<std::size_t>(token)];
      ++tokens;
      by_left.Add(Counts::ContextOf(left, kNone), token);
      by_right.Add(Counts::ContextOf(right, kNone), token);
      by_both.Add(Counts::ContextOf(left, right), token);
    }
  }
  MaskBaselines bits;
  std::int64_t masks = 0;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    Random random = RandomOfValidation(static_cast<std::int64_t>(i));
    const MaskedText masked = MaskWords(valid[i], masking, vocabulary, random);
    for (std::size_t position = 0; position < masked.ids.size(); ++position) {
      const std::int32_t token = masked.labels[position];
      if (token < 0 || masked.ids[position] != masking.mask_id) continue;
      ++masks;
      const auto [left, right] = NeighborsOf(masked.ids, position);
      const double frequency = static_cast<double>(frequencies[static_cast<std::size_t>(token)]) / tokens;
      const double by_one = (by_left.Probability(Counts::ContextOf(left, kNone), token, frequency) +
                             by_right.Probability(Counts::ContextOf(right, kNone), token, frequency)) /
                            2;
      bits.by_frequency -= std::log2(frequency);
      bits.by_neighbors -= std::log2(by_both.Probability(Counts::ContextOf(left, right), token, by_one));
    }
  }
  if (masks > 0) {
    bits.by_frequency /= static_cast<double>(masks);
    bits.by_neighbors /= static_cast<double>(masks);
  }
  return bits;
}

}  // namespace headlight
