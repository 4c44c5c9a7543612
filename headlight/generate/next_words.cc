#include "headlight/generate/next_words.h"

#include <algorithm>

namespace headlight {

kernels::TopLogits<float> NextWords(const LanguageModel& model, Context& context, const Tensor& hidden,
                                    std::span<const Unfinished> texts, const ChoiceRules& rules, std::int32_t length,
                                    std::int64_t count) {
  const std::int64_t outputs = model.outputs(), at_once = LogitRowsAtOnce(outputs);
  const std::span<const std::int32_t> never = texts.front().never;
  const bool plain = rules.plain() && std::ranges::all_of(texts, [&](const Unfinished& text) {
                       return std::ranges::equal(text.never, never);
                     });

  kernels::TopLogits<float> result(hidden.rows(), std::min(count, outputs));
  for (std::int64_t begin = 0; begin < hidden.rows(); begin += at_once) {
    const std::int64_t rows = std::min(at_once, hidden.rows() - begin);
    const Tensor scores_of_words = model.Logits(context, hidden.ViewRows(begin, rows));
    const Matrix<float> logits = scores_of_words.matrix<float>();
    kernels::TopLogits<float> top(rows, result.k);
    if (plain) {
      kernels::AddColumns<float>(logits, 0, never, top);
      CheckSums(model, top, length);
      kernels::ToLogProbabilities(top);
    } else {
      const auto its_texts = texts.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(rows));
      top = ChooseWords(model, logits, its_texts, rules, length, result.k);
    }
    std::ranges::copy(top.values, result.values.begin() + begin * result.k);
    std::ranges::copy(top.columns, result.columns.begin() + begin * result.k);
  }
  return result;
}

}  // namespace headlight
