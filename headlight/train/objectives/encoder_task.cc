#include "headlight/train/objectives/encoder_task.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace headlight {

void CheckTexts(const TextEncoder& model, const std::vector<TextExample>& texts, const char* purpose) {
  CheckTexts(texts, purpose, 1, model.limits().positions);
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
  return model.Encode(context, batch.source_ids, model.reads_types() ? types : types.first(0), batch.source);
}

std::vector<std::int32_t> LabelsToPredict(const TokenBatch& batch) {
  std::vector<std::int32_t> asked;
  std::ranges::copy_if(batch.labels, std::back_inserter(asked), [](std::int32_t label) { return label >= 0; });
  return asked;
}

TrainingTask EncoderTask(TextEncoder& model, TokenExamples train, const BatchOptions& batches, const EncoderHead& head,
                         std::function<ValidationReport(const PassWatch& watch)> validate,
                         std::vector<std::string> scores) {
  return {.model = &model,
          .batches = BatchesOf(std::move(train), batches),
          .loss =
              [head](Context& context, const TrainingPart& part, double scale) {
                const auto& batch = part.As<TokenBatch>();
                return head.loss(head.logits(context, batch), batch, scale);
              },
          .validate = std::move(validate),
          .scores = std::move(scores)};
}

ValidationReport ValidateEncoder(
    const TokenExamples& valid, const EncoderHead& head, const PassWatch& watch,
    const std::function<std::vector<double>(const TokenBatch& batch, std::size_t first, const Tensor& logits)>&
        numbers_of,
    const std::function<void(const TokenBatch& batch, std::size_t first, std::span<const double> numbers)>& add) {
  double loss = 0;
  std::int64_t labels = 0;
  ForBatches(
      valid, watch,
      [&](const TokenBatch& batch, std::size_t first) {
        Context context;
        const Tensor logits = head.logits(context, batch);
        std::vector<double> numbers = numbers_of(batch, first, logits);
        numbers.push_back(static_cast<double>(head.loss(logits, batch, 1).data<float>()[0]));
        return numbers;
      },
      [&](const TokenBatch& batch, std::size_t first, std::span<const double> numbers) {
        loss += numbers.back();
        labels += LabelCount(batch);
        add(batch, first, numbers.first(numbers.size() - 1));
      });
  return LossReport(loss, labels);
}

ValidationReport::Class ClassOf(const std::string& name, const ClassCounts& counts) {
  return {name, 100 * counts.precision(), 100 * counts.recall(), 100 * counts.f1(), counts.labeled};
}

std::vector<ValidationReport::Class> ClassesOf(const std::vector<std::string>& labels, const ClassScores& scores) {
  std::vector<ValidationReport::Class> classes;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (const ClassCounts& counts = scores.classes()[i]; counts.labeled + counts.predicted > 0)
      classes.push_back(ClassOf(labels[i], counts));
  return classes;
}

std::int32_t LargestOf(const Tensor& rows, std::int64_t row) {
  const float* const first = rows.matrix<float>().row(row);
  return static_cast<std::int32_t>(std::max_element(first, first + rows.columns()) - first);
}

std::vector<double> LargestOfRows(const Tensor& rows) {
  std::vector<double> largest;
  for (std::int64_t row = 0; row < rows.rows(); ++row) largest.push_back(LargestOf(rows, row));
  return largest;
}

}  // namespace headlight
