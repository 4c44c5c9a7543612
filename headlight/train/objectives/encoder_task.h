// Helpers shared by the tasks of text encoders: the logits of a head, the loss, and a pass over the validation set.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/text_encoder.h"
#include "headlight/text/metrics/class_scores.h"
#include "headlight/train/objectives/token_task.h"

namespace headlight {

struct EncoderHead {
  std::function<Tensor(Context& context, const TokenBatch& batch)> logits;
  /// Returns the loss, [1]: `scale` times the sum of the losses of all labels that are not negative.
  std::function<Tensor(const Tensor& logits, const TokenBatch& batch, double scale)> loss;
};

/// Throws Error if a text is empty or does not fit into the model's positions.
void CheckTexts(const TextEncoder& model, const std::vector<TextExample>& texts, const char* purpose);

/// Appends `ids` and the text's segments to the batch's source.
void AppendSource(const TextExample& text, const std::vector<std::int32_t>& ids, TokenBatch& batch);
/// Appends the text's ids and labels.
void AppendTextAndLabels(const TextExample& text, Random& random, TokenBatch& batch);

/// Returns hidden states [source tokens, model]. If the model has no segment embeddings, all tokens have type 0.
Tensor EncodeBatch(const TextEncoder& model, Context& context, const TokenBatch& batch);

/// Returns the labels that are not negative.
std::vector<std::int32_t> LabelsToPredict(const TokenBatch& batch);

/// Returns a training task. `scores` are the names of the scores that `validate` reports, as in TrainingTask::scores.
TrainingTask EncoderTask(TextEncoder& model, TokenExamples train, const BatchOptions& batches, const EncoderHead& head,
                         std::function<ValidationReport(const PassWatch& watch)> validate,
                         std::vector<std::string> scores);

/// Returns the mean loss over the validation set. Calls a function with the logits of each batch.
ValidationReport ValidateEncoder(
    const TokenExamples& valid, const EncoderHead& head, const PassWatch& watch,
    const std::function<std::vector<double>(const TokenBatch& batch, std::size_t first, const Tensor& logits)>&
        numbers_of,
    const std::function<void(const TokenBatch& batch, std::size_t first, std::span<const double> numbers)>& add);

/// Returns a report's scores of one class, or of all classes in order. Classes that neither occur nor are predicted are
/// omitted.
ValidationReport::Class ClassOf(const std::string& name, const ClassCounts& counts);
HEADLIGHT_API std::vector<ValidationReport::Class> ClassesOf(const std::vector<std::string>& labels,
                                                             const ClassScores& scores);

/// Returns the argmax of one row, or of every row.
std::int32_t LargestOf(const Tensor& rows, std::int64_t row);
std::vector<double> LargestOfRows(const Tensor& rows);

}  // namespace headlight
