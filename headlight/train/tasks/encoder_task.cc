#include "headlight/train/tasks/encoder_task.h"

#include <algorithm>
#include <any>
#include <iterator>
#include <utility>

namespace headlight {

void CheckTexts(const TextEncoder& model, const std::vector<TextExample>& train,
                const std::vector<TextExample>& valid) {
  CheckTexts(train, "learn from", 1, model.limits().positions);
  CheckTexts(valid, "validate on", 1, model.limits().positions);
}

void AppendSource(const TextExample& text, const std::vector<std::int32_t>& ids, TokenBatch& batch) {
  AppendRows(batch.source_ids, batch.source, ids);
  batch.source_types.insert(batch.source_types.end(), text.types.begin(), text.types.end());
}

void AppendTextAndLabels(const TextExample& text, Random&, TokenBatch& batch) {
  AppendSource(text, text.ids, batch);
  AppendRows(batch.labels, batch.target, text.labels);
}

Tensor EncodeBatch(const TextEncoder& model, Context& context, const TokenBatch& batch) {
  const std::span<const std::int32_t> types = batch.source_types;
  return model.Encode(context, batch.source_ids, model.limits().types <= 1 ? types.first(0) : types, batch.source);
}

std::vector<std::int32_t> AskedLabels(const TokenBatch& batch) {
  std::vector<std::int32_t> asked;
  std::ranges::copy_if(batch.labels, std::back_inserter(asked), [](std::int32_t label) { return label >= 0; });
  return asked;
}

TrainingTask EncoderTask(TextEncoder& model, TokenExamples train, const BatchOptions& batches, const EncoderHead& head,
                         std::function<ValidationReport(const CancelCheck& cancelled)> validate,
                         std::vector<std::string> scores) {
  return {.model = &model,
          .batches = BatchesOf(std::move(train), batches),
          .loss =
              [head](Context& context, const std::any& part, double scale) {
                const auto& batch = std::any_cast<const TokenBatch&>(part);
                return head.loss(head.logits(context, batch), batch, scale);
              },
          .validate = std::move(validate),
          .scores = std::move(scores)};
}

ValidationReport ValidateEncoder(
    const TokenExamples& valid, const EncoderHead& head, const CancelCheck& cancelled,
    const std::function<void(const TokenBatch& batch, std::size_t first, const Tensor& logits)>& body) {
  double loss = 0;
  std::int64_t labels = 0;
  ForBatches(valid, cancelled, [&](const TokenBatch& batch, std::size_t first) {
    Context context;
    const Tensor logits = head.logits(context, batch);
    loss += static_cast<double>(head.loss(logits, batch, 1).data<float>()[0]);
    labels += LabelCount(batch);
    body(batch, first, logits);
  });
  return LossReport(loss, labels);
}

std::function<ValidationReport(const CancelCheck& cancelled)> ValidateAccuracy(TokenExamples valid, EncoderHead head) {
  return [valid = std::move(valid), head = std::move(head)](const CancelCheck& cancelled) {
    std::int64_t right = 0, all = 0;
    ValidationReport report =
        ValidateEncoder(valid, head, cancelled, [&](const TokenBatch& batch, std::size_t, const Tensor& logits) {
          const std::vector<std::int32_t> labels = AskedLabels(batch);
          for (std::size_t row = 0; row < labels.size(); ++row)
            if (LargestOf(logits, static_cast<std::int64_t>(row)) == labels[row]) ++right;
          all += std::ssize(labels);
        });
    report.score_name = "accuracy";
    report.score = PerCent(right, all);
    return report;
  };
}

std::int32_t LargestOf(const Tensor& rows, std::int64_t row) {
  const float* const first = rows.matrix<float>().row(row);
  return static_cast<std::int32_t>(std::max_element(first, first + rows.columns()) - first);
}

}  // namespace headlight
