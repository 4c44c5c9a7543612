#include "headlight/train/objectives/question_answering.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/sequence_cross_entropy.h"
#include "headlight/text/metrics/answer_score.h"
#include "headlight/text/tokenizers/answer_spans.h"
#include "headlight/train/objectives/encoder_task.h"

namespace headlight {
namespace {

// Returns the text of the best answer. Returns an empty text if `may_decline` is set and the model declines to answer.
std::string_view AnswerOf(const AskedQuestion& asked, const FoundAnswers& found, bool may_decline) {
  if (found.answers.empty() || (may_decline && found.declines())) return {};
  const TextSpan bytes = found.best()->bytes;
  return std::string_view(asked.passage)
      .substr(static_cast<std::size_t>(bytes.begin), static_cast<std::size_t>(bytes.end - bytes.begin));
}

EncoderHead SpanHeadOf(const TextEncoder& model) {
  return {.logits =
              [&model](Context& context, const TokenBatch& batch) {
                return model.SpanLogits(context, EncodeBatch(model, context, batch));
              },
          .loss = [](const Tensor& logits, const TokenBatch& batch,
                     double scale) { return ops::SequenceCrossEntropy(logits, batch.source, batch.labels, scale); }};
}

}  // namespace

ValidationReport ValidateAnswers(const TextEncoder& model, const QuestionTexts& texts, const PassWatch& watch) {
  Check(model.heads().question_spans, "the model has no head for answers");
  CheckTexts(model, texts.texts.texts, "validate on");
  struct WindowOfQuestion {
    std::size_t question;
    const Window* window;
  };
  std::vector<WindowOfQuestion> windows;  // windows of all texts
  for (std::size_t question = 0; question < texts.questions.size(); ++question)
    for (const Window& window : texts.questions[question].cut.windows) windows.push_back({question, &window});
  std::vector<FoundAnswers> best(texts.questions.size());
  ValidationReport report = ValidateEncoder(
      ExamplesOf(texts.texts.texts, AppendTextAndLabels), SpanHeadOf(model), watch,
      [&](const TokenBatch& batch, std::size_t first, const Tensor& logits) {
        std::vector<double> numbers;  // FoundAnswers of each window, padded with empty answers
        for (std::size_t i = 0; i < batch.source.size(); ++i) {
          const Tensor rows = logits.ViewRows(batch.source[i].begin, batch.source[i].length);
          const auto [question, window] = windows[first + i];
          FoundAnswers found = BestAnswers(rows.matrix<float>(), *window, texts.questions[question].passage);
          found.answers.resize(kMostSpans);
          numbers.push_back(found.no_answer);
          for (const FoundAnswer& answer : found.answers)
            for (const double number : {double(answer.bytes.begin), double(answer.bytes.end), double{answer.score}})
              numbers.push_back(number);
        }
        return numbers;
      },
      [&](const TokenBatch& batch, std::size_t first, std::span<const double> numbers) {
        for (std::size_t i = 0; i < batch.source.size(); ++i) {
          constexpr std::size_t each = 1 + 3 * kMostSpans;
          const std::span<const double> of = numbers.subspan(each * i, each);
          FoundAnswers found{{}, static_cast<float>(of[0])};
          for (std::size_t at = 1; at < each; at += 3)
            if (of[at + 1] > 0)
              found.answers.push_back({{static_cast<std::int32_t>(of[at]), static_cast<std::int32_t>(of[at + 1])},
                                       static_cast<float>(of[at + 2])});
          const std::size_t question = windows[first + i].question;
          best[question].Add(texts.questions[question].passage, found);
        }
      });
  const bool may_decline =
      std::ranges::any_of(texts.questions, [](const AskedQuestion& asked) { return asked.answers.empty(); });
  double f1 = 0, exact = 0;
  for (std::size_t i = 0; i < texts.questions.size(); ++i) {
    const AskedQuestion& asked = texts.questions[i];
    const AnswerScore score = ScoreAnswer(AnswerOf(asked, best[i], may_decline), asked.answers);
    f1 += score.f1;
    exact += score.exact ? 1 : 0;
  }
  const auto questions = static_cast<double>(texts.questions.size());
  report.score_name = "f1";
  report.score = 100 * f1 / questions;
  report.more_scores = {{"exact_match", 100 * exact / questions}};
  return report;
}

TrainingTask QuestionTask(TextEncoder& model, const QuestionSets& texts, const BatchOptions& batches) {
  Check(model.heads().question_spans, "the model has no head for answers");
  CheckTexts(model, texts.train.texts.texts, "train on");
  CheckTexts(model, texts.valid.texts.texts, "validate on");
  return EncoderTask(model, ExamplesOf(texts.train.texts.texts, AppendTextAndLabels), batches, SpanHeadOf(model),
                     [&model, &texts](const PassWatch& watch) { return ValidateAnswers(model, texts.valid, watch); },
                     {"f1", "exact_match"});
}

}  // namespace headlight
