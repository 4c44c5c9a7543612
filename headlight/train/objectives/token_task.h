// Helpers shared by the tasks on token ids. The helpers make micro-batches, run passes over a validation set, and make
// reports.
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

/// The texts of training and validation. They must outlive the task.
struct TextSets {
  std::vector<TextExample> train, valid;
};

/// Throws Error if there are no texts, or if a text has fewer than `least` or more than `longest` tokens. `purpose` is
/// "train on" or "validate on".
void CheckTexts(const std::vector<TextExample>& texts, const char* purpose, std::int64_t least, std::int64_t longest);

/// Appends a text to a batch. All random choices must come from `random`.
using AppendText = std::function<void(const TextExample& text, Random& random, TokenBatch& batch)>;

/// Returns the texts as examples. The tokens of a text count toward the size of a batch. The texts must outlive the
/// result.
TokenExamples ExamplesOf(const std::vector<TextExample>& texts, AppendText append);

/// Returns TrainingTask::batches of examples. The payload of each part is a TokenBatch.
HEADLIGHT_API std::function<std::function<TrainingBatch()>(const BatchPosition& position)> BatchesOf(
    TokenExamples examples, const BatchOptions& options);

/// Returns the random stream of an example, which is the same in every validation.
Random RandomOfValidation(std::int64_t example);

/// Makes a pass over a validation set, which the ranks divide. Packs the examples in order into batches, which are the
/// same in each call. Calls numbers_of(batch, first), where `first` is the index of the batch's first example. Every
/// rank then calls `add` for all batches. Throws Cancelled.
void ForBatches(
    const TokenExamples& examples, const PassWatch& watch,
    const std::function<std::vector<double>(const TokenBatch& batch, std::size_t first)>& numbers_of,
    const std::function<void(const TokenBatch& batch, std::size_t first, std::span<const double> numbers)>& add);

/// The summed loss of a validation set and its number of labels.
struct LabelLoss {
  double sum = 0;
  std::int64_t labels = 0;
};
LabelLoss LossOfBatches(const TokenExamples& examples, const PassWatch& watch,
                        const std::function<Tensor(Context& context, const TokenBatch& batch)>& loss_of);

/// Returns a report with the mean negative log-probability of this many labels.
ValidationReport LossReport(double loss_sum, std::int64_t labels);

/// Returns `part` as a percentage of `whole`, or 0 if both are 0.
double PerCent(std::int64_t part, std::int64_t whole);

}  // namespace headlight
