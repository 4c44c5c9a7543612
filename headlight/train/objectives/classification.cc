#include "headlight/train/objectives/classification.h"

#include "headlight/base/error.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/train/objectives/encoder_task.h"

namespace headlight {
namespace {

EncoderHead HeadOf(const TextEncoder& model, const std::vector<double>& class_weights) {
  return {
      .logits =
          [&model](Context& context, const TokenBatch& batch) {
            return model.SequenceClassLogits(context, EncodeBatch(model, context, batch), batch.source);
          },
      .loss = [class_weights](const Tensor& logits, const TokenBatch& batch,
                              double scale) { return ops::CrossEntropy(logits, batch.labels, scale, class_weights); }};
}

void CheckClasses(const TextEncoder& model, const std::vector<TextExample>& texts, const char* purpose) {
  Check(model.heads().sequence_classes, "the model has no head for classes of texts");
  Check(model.heads().problem == Problem::one_label,
        "{}: its problem_type is multi-label classification or regression, and a text of this set has one class",
        model.parameters().source());
  CheckTexts(model, texts, purpose);
  const auto classes = static_cast<std::int32_t>(model.heads().labels.size());
  for (const TextExample& text : texts)
    Check(text.labels.size() == 1 && text.labels[0] >= 0 && text.labels[0] < classes,
          "a text must have one of {} classes", classes);
}

}  // namespace

ValidationReport ValidateClasses(const TextEncoder& model, const std::vector<TextExample>& texts,
                                 const PassWatch& watch) {
  CheckClasses(model, texts, "validate on");
  ClassScores scores(model.heads().labels.size());
  ValidationReport report = ValidateEncoder(
      ExamplesOf(texts, AppendTextAndLabels), HeadOf(model, {}), watch,
      [](const TokenBatch&, std::size_t, const Tensor& logits) { return LargestOfRows(logits); },
      [&](const TokenBatch& batch, std::size_t, std::span<const double> found) {
        for (std::size_t row = 0; row < batch.labels.size(); ++row)
          scores.Add(batch.labels[row], static_cast<std::int32_t>(found[row]));
      });
  report.score_name = "accuracy";
  report.score = 100 * scores.accuracy();
  report.more_scores = {{"macro_f1", 100 * scores.macro_f1()}};
  report.classes = ClassesOf(model.heads().labels, scores);
  return report;
}

TrainingTask ClassificationTask(TextEncoder& model, const TextSets& texts, const BatchOptions& batches,
                                const std::vector<double>& class_weights) {
  CheckClasses(model, texts.train, "learn from");
  CheckClasses(model, texts.valid, "validate on");
  return EncoderTask(model, ExamplesOf(texts.train, AppendTextAndLabels), batches, HeadOf(model, class_weights),
                     [&model, &texts](const PassWatch& watch) { return ValidateClasses(model, texts.valid, watch); },
                     {"accuracy", "macro_f1"});
}

}  // namespace headlight
