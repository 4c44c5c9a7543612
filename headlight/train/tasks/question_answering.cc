#include "headlight/train/tasks/question_answering.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/sequence_cross_entropy.h"
#include "headlight/text/metrics/answer_score.h"
#include "headlight/text/tokenizers/answer_spans.h"
#include "headlight/train/tasks/encoder_task.h"

namespace headlight {
namespace {

// The text of a span; empty where the model declines to answer.
std::string_view AnswerOf(const AskedQuestion& asked, const FoundSpan& found, bool may_decline) {
  if (may_decline && found.declines()) return {};
  const TextSpan bytes = BytesOfTokens(asked.passage, asked.cut.encoding, found.begin, found.last);
  return std::string_view(asked.passage)
      .substr(static_cast<std::size_t>(bytes.begin), static_cast<std::size_t>(bytes.end - bytes.begin));
}

}  // namespace

TrainingTask QuestionTask(TextEncoder& model, const QuestionSets& texts, const BatchOptions& batches) {
  Check(model.heads().question_spans, "the model has no head for answers");
  CheckTexts(model, texts.train.texts.texts, texts.valid.texts.texts);
  const EncoderHead head{
      .logits = [&model](
                    Context& context,
                    const TokenBatch& batch) { return model.SpanLogits(context, EncodeBatch(model, context, batch)); },
      .loss = [](const Tensor& logits, const TokenBatch& batch,
                 double scale) { return ops::SequenceCrossEntropy(logits, batch.source, batch.labels, scale); }};
  const auto validate = [&valid = texts.valid, head](const CancelCheck& cancelled) {
    std::vector<FoundSpan> best(valid.questions.size());
    std::size_t question = 0, window = 0;  // of the next text
    const TokenExamples examples = ExamplesOf(valid.texts.texts, AppendTextAndLabels);
    ValidationReport report =
        ValidateEncoder(examples, head, cancelled, [&](const TokenBatch& batch, std::size_t, const Tensor& logits) {
          for (const Sequence& rows : batch.source) {
            const std::vector<Window>& windows = valid.questions[question].cut.windows;
            const Tensor scores = logits.ViewRows(rows.begin, rows.length);
            best[question].Add(BestSpan(scores.matrix<float>(), windows[window], kLongestAnswer));
            if (++window == windows.size()) ++question, window = 0;
          }
        });
    const bool may_decline =
        std::ranges::any_of(valid.questions, [](const AskedQuestion& asked) { return asked.answers.empty(); });
    double f1 = 0, exact = 0;
    for (std::size_t i = 0; i < valid.questions.size(); ++i) {
      const AskedQuestion& asked = valid.questions[i];
      const AnswerScore score = ScoreAnswer(AnswerOf(asked, best[i], may_decline), asked.answers);
      f1 += score.f1;
      exact += score.exact ? 1 : 0;
    }
    const auto questions = static_cast<double>(valid.questions.size());
    report.score_name = "f1";
    report.score = 100 * f1 / questions;
    report.more_scores = {{"exact_match", 100 * exact / questions}};
    return report;
  };
  return EncoderTask(model, ExamplesOf(texts.train.texts.texts, AppendTextAndLabels), batches, head, validate,
                     {"f1", "exact_match"});
}

}  // namespace headlight
