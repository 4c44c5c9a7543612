#include "headlight/train/tasks/classification.h"

#include "headlight/base/error.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/train/tasks/encoder_task.h"

namespace headlight {

TrainingTask ClassificationTask(TextEncoder& model, const TextSets& texts, const BatchOptions& batches) {
  Check(model.heads().sequence_classes, "the model has no head for classes of texts");
  Check(model.heads().problem == Problem::one_label, "only one class a text can be learned");
  CheckTexts(model, texts.train, texts.valid);
  const auto classes = static_cast<std::int32_t>(model.heads().labels.size());
  for (const std::vector<TextExample>* set : {&texts.train, &texts.valid})
    for (const TextExample& text : *set)
      Check(text.labels.size() == 1 && text.labels[0] >= 0 && text.labels[0] < classes,
            "a text must have one of {} classes", classes);
  const EncoderHead head{.logits =
                             [&model](Context& context, const TokenBatch& batch) {
                               return model.SequenceClassLogits(context, EncodeBatch(model, context, batch),
                                                                batch.source);
                             },
                         .loss = [](const Tensor& logits, const TokenBatch& batch,
                                    double scale) { return ops::CrossEntropy(logits, batch.labels, scale); }};
  return EncoderTask(model, ExamplesOf(texts.train, AppendTextAndLabels), batches, head,
                     ValidateAccuracy(ExamplesOf(texts.valid, AppendTextAndLabels), head), {"accuracy"});
}

}  // namespace headlight
