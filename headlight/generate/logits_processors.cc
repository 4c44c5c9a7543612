#include "headlight/generate/logits_processors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

// Divides positive scores of the tokens by `penalty`, and multiplies negative scores by it (Keskar et al., "CTRL",
// 2019, section 4.1). Repeated tokens count once.
void Penalize(std::span<float> scores, std::vector<std::int32_t> tokens, double penalty) {
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  const auto factor = static_cast<float>(penalty);
  for (const std::int32_t token : tokens) {
    if (static_cast<std::size_t>(token) >= scores.size()) continue;  // the token occurs only in prompts
    float& score = scores[static_cast<std::size_t>(token)];
    score = score < 0 ? score * factor : score / factor;
  }
}

void Forbid(std::span<float> scores, std::span<const std::int32_t> tokens) {
  for (const std::int32_t token : tokens)
    if (static_cast<std::size_t>(token) < scores.size()) scores[static_cast<std::size_t>(token)] = kImpossible;
}

// Returns true if `written`, followed by the last of `ids`, ends with `ids`.
bool Completes(std::span<const std::int32_t> written, std::span<const std::int32_t> ids) {
  const std::size_t before = ids.size() - 1;
  if (ids.size() > 1 && ids.size() > written.size()) return false;
  return std::ranges::equal(written.last(before), ids.first(before));
}

void AddBiases(std::span<float> scores, std::span<const std::int32_t> written, std::span<const SequenceBias> biases) {
  for (const SequenceBias& bias : biases)
    if (static_cast<std::size_t>(bias.ids.back()) < scores.size() && Completes(written, bias.ids))
      scores[static_cast<std::size_t>(bias.ids.back())] += bias.bias;
}

// Returns the entropy, in nats, of weights that sum to `total`.
double Entropy(std::span<const double> weights, double total) {
  double entropy = 0;
  for (const double weight : weights)
    if (weight > 0) entropy -= weight / total * std::log(weight / total);
  return entropy;
}

// The candidate tokens for sampling.
class Candidates {
 public:
  Candidates(std::span<const float> scores, const SamplingOptions& options, float greatest)
      : scores_(scores), options_(options), greatest_(greatest), tokens_(scores.size()) {
    std::iota(tokens_.begin(), tokens_.end(), 0);
    if (options.top_h < 1) KeepTopH();
    if (options.top_k > 0) KeepLikeliest(static_cast<std::size_t>(options.top_k));
    if (options.top_p < 1) KeepNucleus();
    if (options.min_p > 0) KeepFrom(options.min_p);
    if (options.typical_p < 1) KeepTypical();
    if (options.epsilon_cutoff > 0) KeepFrom(options.epsilon_cutoff * Total());
    if (options.eta_cutoff > 0) {
      const std::vector<double> weights = Weights();
      const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
      const double eta = options.eta_cutoff;
      KeepFrom(std::min(eta, std::sqrt(eta) * std::exp(-Entropy(weights, total))) * total);
    }
  }

  std::int32_t Sample(double point) const {
    std::vector<double> sums;  // cumulative sums of the weights
    double sum = 0;
    for (const std::int32_t token : tokens_) sums.push_back(sum += Weight(token));
    const auto sampled = std::ranges::upper_bound(sums, point * sum);
    return std::isfinite(sum) && sampled != sums.end() ? tokens_[static_cast<std::size_t>(sampled - sums.begin())] : -1;
  }

 private:
  // Returns a weight proportional to the token's probability. The most probable token has the weight 1.
  double Weight(std::int32_t token) const {
    return std::exp((scores_[static_cast<std::size_t>(token)] - greatest_) / options_.temperature);
  }
  std::vector<double> Weights() const {
    std::vector<double> weights;
    for (const std::int32_t token : tokens_) weights.push_back(Weight(token));
    return weights;
  }
  double Total() const {
    double total = 0;
    for (const std::int32_t token : tokens_) total += Weight(token);
    return total;
  }

  auto Greater() const {
    return [this](std::int32_t a, std::int32_t b) {
      const float x = scores_[static_cast<std::size_t>(a)], y = scores_[static_cast<std::size_t>(b)];
      return x != y ? x > y : a < b;
    };
  }

  // Keeps the `count` most probable tokens. In ties, smaller ids have priority.
  void KeepLikeliest(std::size_t count) {
    if (count >= tokens_.size()) return;
    std::ranges::nth_element(tokens_, tokens_.begin() + static_cast<std::ptrdiff_t>(count), Greater());
    tokens_.resize(count);
  }

  // Keeps the tokens with a weight of at least `least`, and always the most probable token.
  void KeepFrom(double least) {
    std::erase_if(tokens_, [&](std::int32_t token) { return Weight(token) < std::min(1.0, least); });
  }

  void KeepTopH() {
    constexpr std::size_t most = 100;
    KeepLikeliest(most);
    std::ranges::sort(tokens_, Greater());
    const std::vector<double> weights = Weights();
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double limit = options_.top_h * Entropy(weights, total);
    double sum = 0;
    std::size_t kept = 0;
    for (; kept < weights.size(); ++kept) {
      const double probability = weights[kept] / total;
      if (probability > 0) sum -= probability * std::log(probability);
      if (sum > limit) break;
    }
    tokens_.resize(std::max<std::size_t>(1, kept));
  }

  void KeepNucleus() {
    const double total = Total();
    // Tokens are sorted incrementally, because a few tokens are usually enough.
    double before = 0;
    std::size_t kept = 0;
    for (std::size_t sorted = 0; sorted < tokens_.size();) {
      const std::size_t end = std::min(tokens_.size(), std::max<std::size_t>(64, 4 * sorted));
      const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(sorted),
                 last = tokens_.begin() + static_cast<std::ptrdiff_t>(end);
      if (last != tokens_.end()) std::nth_element(first, last, tokens_.end(), Greater());
      std::sort(first, last, Greater());
      for (; kept < end && before < options_.top_p * total; ++kept) before += Weight(tokens_[kept]);
      if (kept < end) break;
      sorted = end;
    }
    tokens_.resize(std::max<std::size_t>(1, kept));
  }

  void KeepTypical() {
    const std::vector<double> weights = Weights();
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0), entropy = Entropy(weights, total);
    struct Typical {
      double distance, probability;
      std::int32_t token;
    };
    std::vector<Typical> all;
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (weights[i] > 0)
        all.push_back({std::abs(-std::log(weights[i] / total) - entropy), weights[i] / total, tokens_[i]});
    std::ranges::sort(all, {}, [](const Typical& one) { return std::pair(one.distance, one.token); });
    std::size_t last = 0;
    for (double sum = 0; last + 1 < all.size() && (sum += all[last].probability) < options_.typical_p;) ++last;
    const double farthest = all[last].distance;
    tokens_.clear();
    for (const Typical& one : all)
      if (one.distance <= farthest) tokens_.push_back(one.token);
  }

  const std::span<const float> scores_;
  const SamplingOptions& options_;
  const float greatest_;
  std::vector<std::int32_t> tokens_;
};

}  // namespace

bool LogitsProcessors::any() const { return *this != LogitsProcessors{}; }

bool DependsOnShift(const LogitsProcessors& processors) {
  return processors.repetition_penalty != 1 || processors.encoder_repetition_penalty != 1 ||
         processors.exponential_decay_length_penalty;
}

void CheckProcessors(const LogitsProcessors& processors, std::int64_t vocabulary) {
  const auto penalty = [](const char* name, double value) {
    Check(value > 0 && std::isfinite(value), "`{}` must be a finite number above 0, not {}", name, value);
  };
  const auto size = [](const char* name, std::int32_t value) {
    Check(value >= 0, "`{}` must be at least 0, not {}", name, value);
  };
  const auto ids = [&](const char* name, std::span<const std::int32_t> values) {
    for (const std::int32_t id : values)
      Check(id >= 0 && id < vocabulary, "`{}` has the token {}, outside the vocabulary of {}", name, id, vocabulary);
  };
  penalty("repetition_penalty", processors.repetition_penalty);
  penalty("encoder_repetition_penalty", processors.encoder_repetition_penalty);
  size("no_repeat_ngram_size", processors.no_repeat_ngram_size);
  size("encoder_no_repeat_ngram_size", processors.encoder_no_repeat_ngram_size);
  for (const SequenceBias& bias : processors.sequence_bias) {
    Check(!bias.ids.empty() && std::isfinite(bias.bias),
          "`sequence_bias`: each entry needs at least one token and a finite bias");
    ids("sequence_bias", bias.ids);
  }
  for (const std::vector<std::int32_t>& bad : processors.bad_words) {
    Check(!bad.empty(), "`bad_words`: each needs tokens");
    ids("bad_words", bad);
  }
  ids("suppress_tokens", processors.suppress_tokens);
  ids("begin_suppress_tokens", processors.begin_suppress_tokens);
  if (const auto& decay = processors.exponential_decay_length_penalty; decay)
    Check(decay->start >= 0 && decay->factor > 0 && std::isfinite(decay->factor),
          "`exponential_decay_length_penalty` must be a start from 0 and a factor above 0, not {} and {}", decay->start,
          decay->factor);
}

void ProcessLogits(std::span<float> scores, const Unfinished& text, const LogitsProcessors& processors) {
  std::vector<std::int32_t> written(text.prompt.begin(), text.prompt.end());
  written.insert(written.end(), text.ids.begin(), text.ids.end());
  AddBiases(scores, written, processors.sequence_bias);
  if (processors.encoder_repetition_penalty != 1)
    Penalize(scores, {text.source.begin(), text.source.end()}, 1 / processors.encoder_repetition_penalty);
  if (processors.repetition_penalty != 1) Penalize(scores, written, processors.repetition_penalty);
  Forbid(scores, Repeating(written, written, processors.no_repeat_ngram_size));
  Forbid(scores, Repeating(written, text.source, processors.encoder_no_repeat_ngram_size));
  for (const std::vector<std::int32_t>& bad : processors.bad_words)
    if (!std::ranges::equal(bad, text.ends) && Completes(written, bad)) Forbid(scores, {&bad.back(), 1});
  if (const auto& decay = processors.exponential_decay_length_penalty; decay) {
    const std::int64_t beyond = std::ssize(written) - text.given - decay->start;
    for (const std::int32_t end : text.ends)
      if (float& score = scores[static_cast<std::size_t>(end)]; beyond > 0 && std::isfinite(score)) {
        const double grown = std::abs(score) * (std::pow(decay->factor, static_cast<double>(beyond)) - 1);
        score += static_cast<float>(std::min<double>(grown, std::numeric_limits<float>::max() / 2));
      }
  }
  Forbid(scores, processors.suppress_tokens);
  if (std::ssize(written) == text.begin) Forbid(scores, processors.begin_suppress_tokens);
}

std::vector<std::int32_t> Repeating(std::span<const std::int32_t> written, std::span<const std::int32_t> seen,
                                    std::int32_t size) {
  std::vector<std::int32_t> tokens;
  const auto before = static_cast<std::size_t>(size) - 1;
  if (size == 0 || written.size() < before) return tokens;
  const auto last = written.last(before);
  for (std::size_t end = before; end < seen.size(); ++end)
    if (std::ranges::equal(seen.subspan(end - before, before), last)) tokens.push_back(seen[end]);
  return tokens;
}

void CheckSampling(const SamplingOptions& options) {
  const auto& [temperature, top_h, top_k, top_p, min_p, typical_p, epsilon_cutoff, eta_cutoff] = options;
  Check(temperature > 0 && std::isfinite(temperature), "`temperature` must be a finite number above 0, not {}",
        temperature);
  Check(top_k >= 0, "`top_k` must be at least 0, not {}", top_k);
  const auto above = [](const char* name, double value) {
    Check(value > 0 && value <= 1, "`{}` must be above 0 and at most 1, not {}", name, value);
  };
  above("top_h", top_h);
  above("top_p", top_p);
  above("typical_p", typical_p);
  Check(min_p >= 0 && min_p <= 1, "`min_p` must be from 0 to 1, not {}", min_p);
  const auto cutoff = [](const char* name, double value) {
    Check(value >= 0 && value < 1, "`{}` must be at least 0 and below 1, not {}", name, value);
  };
  cutoff("epsilon_cutoff", epsilon_cutoff);
  cutoff("eta_cutoff", eta_cutoff);
}

std::int32_t Sample(std::span<const float> scores, const SamplingOptions& options, double point) {
  const float greatest = *std::ranges::max_element(scores);
  if (!std::isfinite(greatest)) return -1;
  return Candidates(scores, options, greatest).Sample(point);
}

}  // namespace headlight
