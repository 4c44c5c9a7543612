#include "headlight/generate/choose_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/random.h"

namespace headlight {

kernels::TopLogits<float> ChooseTokens(const Model& model, const Matrix<float>& logits,
                                       std::span<const Unfinished> texts, const SearchOptions& options,
                                       std::int32_t length, std::int64_t count) {
  constexpr float impossible = -std::numeric_limits<float>::infinity();
  // Log-probabilities are normalized by the sums of the model's own logits.
  kernels::TopLogits<float> own(logits.rows, 1), top(logits.rows, count);
  kernels::AddColumns<float>(logits, 0, {}, own);
  CheckSums(model, own, length);  // must be before the comparison of logits, because NaN cannot be ordered
  const bool process = options.processors.any(), beams = options.beam_size > 1;
  std::vector<float> before;  // the model's own logits, [rows, vocab]
  if (process && !beams)
    for (std::int64_t row = 0; row < logits.rows; ++row)
      before.insert(before.end(), logits.row(row), logits.row(row) + logits.columns);
  for (std::int64_t row = 0; row < logits.rows; ++row) {
    const auto index = static_cast<std::size_t>(row);
    const std::span<float> scores(logits.row(row), static_cast<std::size_t>(logits.columns));
    const Unfinished& text = texts[index];
    const float normalizer = options.guidance != 1 ? text.shift : beams ? own.max[index] + std::log(own.sum[index]) : 0;
    if (normalizer != 0)
      for (float& score : scores) score -= normalizer;
    if (process) ProcessLogits(scores, text, options.processors);
    for (const std::int32_t token : text.never)
      if (static_cast<std::size_t>(token) < scores.size()) scores[static_cast<std::size_t>(token)] = impossible;
    if (!options.sample) continue;
    if (const std::int32_t token = Sample(scores, options.sampling, text.random->Uniform()); token >= 0) {
      top.columns[index] = token;
      top.values[index] = scores[static_cast<std::size_t>(token)];
    }
  }
  if (!options.sample) kernels::AddColumns<float>(logits, 0, {}, top);
  if (!beams) {
    for (std::size_t row = 0; row < texts.size() && process; ++row)
      if (!std::isinf(top.values[row]))
        top.values[row] =
            before[row * static_cast<std::size_t>(logits.columns) + static_cast<std::size_t>(top.columns[row])];
    top.max = own.max;
    top.sum = own.sum;
  } else {
    for (std::size_t row = 0; row < texts.size(); ++row)
      if (!options.processors.renormalize || std::isinf(top.max[row])) top.max[row] = 0, top.sum[row] = 1;
  }
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
