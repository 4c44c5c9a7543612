// Shared by the tasks on token ids: batches in parts, passes over a validation set, and their reports.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/text_examples.h"
#include "headlight/data/token_batches.h"
#include "headlight/train/training_task.h"

namespace headlight {

// The texts of a training and of its validations. They must outlive the task.
struct TextSets {
  std::vector<TextExample> train, valid;
};

// Throws Error where there are no texts, or one has fewer or more tokens than that; `purpose` is "learn from" or
// "validate on".
void CheckTexts(const std::vector<TextExample>& texts, const char* purpose, std::int64_t least, std::int64_t longest);

// Adds a text to a batch.
using AppendText = std::function<void(const TextExample& text, Random& random, TokenBatch& batch)>;

// The texts, which must outlive the result, as examples of which a batch is bounded by their tokens.
TokenExamples ExamplesOf(const std::vector<TextExample>& texts, AppendText append);

// TrainingTask::batches of examples. Their parts are TokenBatch.
HEADLIGHT_API std::function<std::function<TrainingBatch()>(const BatchPosition& position)> BatchesOf(
    TokenExamples examples, const BatchOptions& options);

// What is random about an example in each validation.
Random RandomOfValidation(std::int64_t example);

// A pass over a validation set that ranks divide: packs the examples into batches, in their order and the same ones at
// each call, computes numbers_of(batch, first), and adds those of all batches on every rank; `first` is the number of a
// batch's first example. Throws Cancelled.
void ForBatches(
    const TokenExamples& examples, const PassWatch& watch,
    const std::function<std::vector<double>(const TokenBatch& batch, std::size_t first)>& numbers_of,
    const std::function<void(const TokenBatch& batch, std::size_t first, std::span<const double> numbers)>& add);

// The sum of the losses of a validation set, and how many labels it has.
struct LabelLoss {
  double sum = 0;
  std::int64_t labels = 0;
};
LabelLoss LossOfBatches(const TokenExamples& examples, const PassWatch& watch,
                        const std::function<Tensor(Context& context, const TokenBatch& batch)>& loss_of);

// A report of the mean negative log-probability of so many labels.
ValidationReport LossReport(double loss_sum, std::int64_t labels);

// `part` in per cent of `whole`; 0 of 0.
double PerCent(std::int64_t part, std::int64_t whole);

}  // namespace headlight
