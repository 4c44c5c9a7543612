// Shared by the tasks of text encoders: logits by a head, their loss, and a pass over the validation set.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/nn/text_encoder.h"
#include "headlight/train/tasks/token_task.h"

namespace headlight {

struct EncoderHead {
  std::function<Tensor(Context& context, const TokenBatch& batch)> logits;
  // [1]: `scale` times the sum over the labels that are not negative.
  std::function<Tensor(const Tensor& logits, const TokenBatch& batch, double scale)> loss;
};

// Throws Error where a text of either set is empty or longer than the model.
void CheckTexts(const TextEncoder& model, const std::vector<TextExample>& train, const std::vector<TextExample>& valid);

// Adds an encoder's input for a text: these ids, and the text's segments.
void AppendSource(const TextExample& text, const std::vector<std::int32_t>& ids, TokenBatch& batch);
// The same with the text's own ids and labels.
void AppendTextAndLabels(const TextExample& text, Random& random, TokenBatch& batch);

// hidden [source tokens, model] of a batch. A model that does not tell segments apart has one type for all.
Tensor EncodeBatch(const TextEncoder& model, Context& context, const TokenBatch& batch);

// The labels that are not negative.
std::vector<std::int32_t> AskedLabels(const TokenBatch& batch);

// `scores`: those of `validate`, as TrainingTask::scores.
TrainingTask EncoderTask(TextEncoder& model, TokenExamples train, const BatchOptions& batches, const EncoderHead& head,
                         std::function<ValidationReport(const CancelCheck& cancelled)> validate,
                         std::vector<std::string> scores);

// A report of the mean loss over the validation set; body(batch, its first example, its logits) sees every batch.
ValidationReport ValidateEncoder(
    const TokenExamples& valid, const EncoderHead& head, const CancelCheck& cancelled,
    const std::function<void(const TokenBatch& batch, std::size_t first, const Tensor& logits)>& body);

// A validation whose score is the share of the labels that are the largest logit, in per cent; a row of logits a label
// that is not negative.
std::function<ValidationReport(const CancelCheck& cancelled)> ValidateAccuracy(TokenExamples valid, EncoderHead head);

// The place of the largest number of a row.
std::int32_t LargestOf(const Tensor& rows, std::int64_t row);

}  // namespace headlight
