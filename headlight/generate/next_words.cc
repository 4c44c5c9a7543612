#include "headlight/generate/next_words.h"

#include <algorithm>

namespace headlight {

kernels::TopLogits<float> NextWords(const LanguageModel& model, Context& context, const Tensor& hidden,
                                    std::span<const Unfinished> texts, const GenerationOptions& options,
                                    std::int32_t length, std::int64_t count) {
  const std::int64_t outputs = model.outputs(), at_once = LogitRowsAtOnce(outputs);
  const ChoiceRules rules = RulesOf(options);
  const bool plain = !rules.sample && rules.repetition_penalty == 1 && rules.no_repeat_ngram_size == 0;
  std::span<const std::int32_t> never;
  if (length <= options.min_new_tokens) never = options.end_ids;

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
