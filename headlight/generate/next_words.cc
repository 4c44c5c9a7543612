#include "headlight/generate/next_words.h"

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
Changed ApplyRules(std::span<float> logits, const Unfinished& text, const GenerationOptions& options, float log_sum) {
  Changed changed;
  std::vector<std::int32_t> words = Words(text);
  const std::vector<std::int32_t> banned = Repeating(words, options.no_repeat_ngram_size);
  if (options.repetition_penalty != 1) {
    const auto penalty = static_cast<float>(options.repetition_penalty);
    const float zero = options.beam_size > 1 ? log_sum : 0;
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (const std::int32_t word : words) {
      float& logit = logits[static_cast<std::size_t>(word)];
      changed.emplace_back(word, logit);
      const float score = logit - zero;
      logit = (score < 0 ? score * penalty : score / penalty) + zero;
    }
  }
  for (const std::int32_t word : banned) logits[static_cast<std::size_t>(word)] = kImpossible;
  return changed;
}

// The nucleus: the options.top_k greatest logits, descending, of equals the smaller id first, and of those the first
// whose probabilities sum to options.top_p.
std::vector<std::int32_t> Nucleus(std::span<const float> logits, const GenerationOptions& options, float greatest) {
  const auto weight = [&](std::int32_t word) {
    return std::exp((logits[static_cast<std::size_t>(word)] - greatest) / options.temperature);
  };
  const auto greater = [&](std::int32_t a, std::int32_t b) {
    const float x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::vector<std::int32_t> words(logits.size());
  std::iota(words.begin(), words.end(), 0);
  if (options.top_k > 0 && static_cast<std::size_t>(options.top_k) < words.size()) {
    std::ranges::nth_element(words, words.begin() + options.top_k, greater);
    words.resize(static_cast<std::size_t>(options.top_k));
  }
  if (options.top_p >= 1) return words;
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
    for (; kept < end && before < options.top_p * total; ++kept) before += weight(words[kept]);
    if (kept < end) break;
    sorted = end;
  }
  words.resize(std::max<std::size_t>(1, kept));
  return words;
}

// A token sampled from the softmax, or -1 where none has a probability.
std::int32_t Draw(std::span<const float> logits, const GenerationOptions& options, Random& random) {
  const double point = random.Uniform();
  const float greatest = *std::ranges::max_element(logits);
  if (!std::isfinite(greatest)) return -1;
  const std::vector<std::int32_t> words = Nucleus(logits, options, greatest);
  std::vector<double> sums;  // of the weights up to each word
  double sum = 0;
  for (const std::int32_t word : words)
    sums.push_back(sum += std::exp((logits[static_cast<std::size_t>(word)] - greatest) / options.temperature));
  const auto drawn = std::ranges::upper_bound(sums, point * sum);
  return std::isfinite(sum) && drawn != sums.end() ? words[static_cast<std::size_t>(drawn - sums.begin())] : -1;
}

}  // namespace

std::int64_t LogitRowsAtOnce(const LanguageModel& model) {
  constexpr std::int64_t logits = 1 << 22;
  return std::max<std::int64_t>(1, logits / model.limits().vocabulary);
}

kernels::TopLogits<float> NextWords(const LanguageModel& model, Context& context, const Tensor& hidden,
                                    std::span<const Unfinished> texts, const GenerationOptions& options,
                                    std::int32_t length, std::int64_t count) {
  const std::int64_t vocabulary = model.limits().vocabulary, at_once = LogitRowsAtOnce(model);
  const bool rules = options.repetition_penalty != 1 || options.no_repeat_ngram_size > 0;
  std::vector<std::int32_t> never;
  if (length <= options.min_new_tokens) never = options.end_ids;

  kernels::TopLogits<float> result(hidden.rows(), std::min(count, vocabulary));
  for (std::int64_t begin = 0; begin < hidden.rows(); begin += at_once) {
    const std::int64_t rows = std::min(at_once, hidden.rows() - begin);
    const Tensor scores_of_words = model.Logits(context, hidden.ViewRows(begin, rows));
    const Matrix<float> logits = scores_of_words.matrix<float>();
    // The normaliser is that of the model's own logits.
    kernels::TopLogits<float> own(rows, rules || options.sample ? 1 : result.k);
    kernels::AddColumns<float>(logits, 0, rules || options.sample ? std::span<const std::int32_t>() : never, own);
    for (const float sum : own.sum)  // before sampling compares logits: NaN has no order
      if (!(sum > 0 && std::isfinite(sum))) model.parameters().FailNotFinite(fmt::format("decoding step {}", length));
    kernels::TopLogits<float> top = own;
    if (rules || options.sample) {
      std::vector<Changed> changed(static_cast<std::size_t>(rows));
      top = kernels::TopLogits<float>(rows, result.k);
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto index = static_cast<std::size_t>(row);
        const std::span<float> scores(logits.row(row), static_cast<std::size_t>(vocabulary));
        const Unfinished& text = texts[static_cast<std::size_t>(begin) + index];
        if (rules) changed[index] = ApplyRules(scores, text, options, own.max[index] + std::log(own.sum[index]));
        if (!options.sample) continue;
        for (const std::int32_t end : never) scores[static_cast<std::size_t>(end)] = kImpossible;
        if (const std::int32_t word = Draw(scores, options, *text.random); word >= 0) {
          top.columns[index] = word;
          top.values[index] = scores[static_cast<std::size_t>(word)];
        }
      }
      if (!options.sample) kernels::AddColumns<float>(logits, 0, never, top);
      if (options.beam_size == 1)  // report the model's own log-probability
        for (std::size_t row = 0; row < changed.size(); ++row)
          for (const auto& [word, logit] : changed[row])
            if (word == top.columns[row] && !std::isinf(top.values[row])) top.values[row] = logit;
      top.max = own.max;
      top.sum = own.sum;
    }
    kernels::ToLogProbabilities(top);
    std::ranges::copy(top.values, result.values.begin() + begin * result.k);
    std::ranges::copy(top.columns, result.columns.begin() + begin * result.k);
  }
  return result;
}

}  // namespace headlight
