// What the tasks of texts have in common: batches of them, and going over those that are validated on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/data/text_examples.h"
#include "headlight/nn/text_encoder.h"
#include "headlight/train/trainer.h"

namespace headlight {

// Adds an example to a batch.
using AppendText = std::function<void(const TextExample& text, Random& random, Batch& batch)>;

// Adds ids to the end of rows, as one more sequence.
void AppendRows(std::vector<std::int32_t>& rows, Sequences& sequences, const std::vector<std::int32_t>& ids);
// The ids that an encoder reads for a text, and its segments.
void AppendSource(const TextExample& text, const std::vector<std::int32_t>& ids, Batch& batch);
// As source, and what is asked for.
void AppendTextAndLabels(const TextExample& text, Random& random, Batch& batch);

// Throws Error where there are none, or one has fewer or more tokens than that.
void CheckTexts(const std::vector<TextExample>& texts, const char* what, std::int64_t least, std::int64_t longest);

// TrainingTask::batches of texts. These and the options must outlive it.
std::function<BatchStream(const BatchPosition& position)> BatchesOf(const std::vector<TextExample>& texts,
                                                                    AppendText append, const TrainingOptions& options);

// Goes over texts in batches, the same ones at each call; `first` is the number of a batch's first text.
void ForBatches(const std::vector<TextExample>& texts, const AppendText& append,
                const std::function<void(const Batch& batch, std::size_t first)>& body);

// hidden [source tokens, model] of a batch. A model that does not tell texts apart has one type for all.
Tensor EncodeBatch(const TextEncoder& model, Context& context, const Batch& batch);

// A report of the mean loss of so many labels.
ValidationReport LossReport(double loss_sum, std::int64_t labels, std::chrono::steady_clock::time_point begin);

}  // namespace headlight
