#include "headlight/generate/choose_words.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/beam_search.h"

namespace headlight {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

std::vector<std::int32_t> Words(const Unfinished& text) {
  std::vector<std::int32_t> words(text.prompt.begin(), text.prompt.end());
  words.insert(words.end(), text.ids.begin(), text.ids.end());
  return words;
}

// A token and its logit before the penalty.
using Changed = std::vector<std::pair<std::int32_t, float>>;

// Applies the repetition penalty and the n-gram ban to one row of logits. With beams the penalty is on
// log-probabilities, logit - log_sum.
Changed ApplyRules(std::span<float> logits, const Unfinished& text, const ChoiceRules& rules, float log_sum) {
  Changed changed;
  std::vector<std::int32_t> words = Words(text);
  const std::vector<std::int32_t> banned = Repeating(words, rules.no_repeat_ngram_size);
  if (rules.repetition_penalty != 1) {
    const auto penalty = static_cast<float>(rules.repetition_penalty);
    const float zero = rules.beams ? log_sum : 0;
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (const std::int32_t word : words) {
      if (static_cast<std::size_t>(word) >= logits.size()) continue;  // it only begins texts
      float& logit = logits[static_cast<std::size_t>(word)];
      changed.emplace_back(word, logit);
      const float score = logit - zero;
      logit = (score < 0 ? score * penalty : score / penalty) + zero;
    }
  }
  for (const std::int32_t word : banned)
    if (static_cast<std::size_t>(word) < logits.size()) logits[static_cast<std::size_t>(word)] = kImpossible;
  return changed;
}

// The nucleus: the rules.top_k greatest logits, descending, of equals the smaller id first, and of those the first
// whose probabilities sum to rules.top_p.
std::vector<std::int32_t> Nucleus(std::span<const float> logits, const ChoiceRules& rules, float greatest) {
  const auto weight = [&](std::int32_t word) {
    return std::exp((logits[static_cast<std::size_t>(word)] - greatest) / rules.temperature);
  };
  const auto greater = [&](std::int32_t a, std::int32_t b) {
    const float x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::vector<std::int32_t> words(logits.size());
  std::iota(words.begin(), words.end(), 0);
  if (rules.top_k > 0 && static_cast<std::size_t>(rules.top_k) < words.size()) {
    std::ranges::nth_element(words, words.begin() + rules.top_k, greater);
    words.resize(static_cast<std::size_t>(rules.top_k));
  }
  if (rules.top_p >= 1) return words;
  double total = 0;
  for (const std::int32_t word : words) total += weight(word);
  // Mostly a few are enough: sorting all takes long.
  double before = 0;
  std::size_t kept = 0;
  for (std::size_t sorted = 0; sorted < words.size();) {
    const std::size_t end = std::min(words.size(), std::max<std::size_t>(64, 4 * sorted));
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(sorted),
               last = words.begin() + static_cast<std::ptrdiff_t>(end);
    if (last != words.end()) std::nth_element(first, last, words.end(), greater);
    std::sort(first, last, greater);
    for (; kept < end && before < rules.top_p * total; ++kept) before += weight(words[kept]);
    if (kept < end) break;
    sorted = end;
  }
  words.resize(std::max<std::size_t>(1, kept));
  return words;
}

// A token sampled from the softmax, or -1 where none has a probability.
std::int32_t Draw(std::span<const float> logits, const ChoiceRules& rules, Random& random) {
  const double point = random.Uniform();
  const float greatest = *std::ranges::max_element(logits);
  if (!std::isfinite(greatest)) return -1;
  const std::vector<std::int32_t> words = Nucleus(logits, rules, greatest);
  std::vector<double> sums;  // of the weights up to each word
  double sum = 0;
  for (const std::int32_t word : words)
    sums.push_back(sum += std::exp((logits[static_cast<std::size_t>(word)] - greatest) / rules.temperature));
  const auto drawn = std::ranges::upper_bound(sums, point * sum);
  return std::isfinite(sum) && drawn != sums.end() ? words[static_cast<std::size_t>(drawn - sums.begin())] : -1;
}

}  // namespace

void CheckRules(const ChoiceRules& rules) {
  Check(!rules.sample || !rules.beams, "sampling is for a beam_size of 1");
  if (rules.sample) {
    Check(rules.temperature > 0 && std::isfinite(rules.temperature),
          "temperature must be a finite number above 0, not {}", rules.temperature);
    Check(rules.top_k >= 0, "top_k must be at least 0, not {}", rules.top_k);
    Check(rules.top_p > 0 && rules.top_p <= 1, "top_p must be above 0 and at most 1, not {}", rules.top_p);
  }
  Check(rules.repetition_penalty > 0 && std::isfinite(rules.repetition_penalty),
        "repetition_penalty must be a finite number above 0, not {}", rules.repetition_penalty);
  Check(rules.no_repeat_ngram_size >= 0, "no_repeat_ngram_size must be at least 0, not {}", rules.no_repeat_ngram_size);
}

kernels::TopLogits<float> ChooseWords(const Model& model, const Matrix<float>& logits,
                                      std::span<const Unfinished> texts, const ChoiceRules& rules, std::int32_t length,
                                      std::int64_t count) {
  // The normaliser is that of the model's own logits.
  kernels::TopLogits<float> own(logits.rows, 1), top(logits.rows, count);
  kernels::AddColumns<float>(logits, 0, {}, own);
  CheckSums(model, own, length);  // before sampling compares logits: NaN has no order
  std::vector<Changed> changed(texts.size());
  for (std::int64_t row = 0; row < logits.rows; ++row) {
    const auto index = static_cast<std::size_t>(row);
    const std::span<float> scores(logits.row(row), static_cast<std::size_t>(logits.columns));
    const Unfinished& text = texts[index];
    changed[index] = ApplyRules(scores, text, rules, own.max[index] + std::log(own.sum[index]));
    for (const std::int32_t word : text.never) scores[static_cast<std::size_t>(word)] = kImpossible;
    if (!rules.sample) continue;
    if (const std::int32_t word = Draw(scores, rules, *text.random); word >= 0) {
      top.columns[index] = word;
      top.values[index] = scores[static_cast<std::size_t>(word)];
    }
  }
  if (!rules.sample) kernels::AddColumns<float>(logits, 0, {}, top);
  if (!rules.beams)  // report the model's own log-probability
    for (std::size_t row = 0; row < changed.size(); ++row)
      for (const auto& [word, logit] : changed[row])
        if (word == top.columns[row] && !std::isinf(top.values[row])) top.values[row] = logit;
  top.max = own.max;
  top.sum = own.sum;
  kernels::ToLogProbabilities(top);
  return top;
}

std::int64_t LogitRowsAtOnce(std::int64_t vocabulary) {
  constexpr std::int64_t logits = 1 << 22;
  return std::max<std::int64_t>(1, logits / vocabulary);
}

void CheckSums(const Model& model, const kernels::TopLogits<float>& top, std::int32_t length) {
  for (const float sum : top.sum)
    if (!(sum > 0 && std::isfinite(sum))) model.parameters().FailNotFinite(fmt::format("decoding step {}", length));
}

}  // namespace headlight
