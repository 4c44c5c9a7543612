#include "headlight/train/objectives/token_task.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

// Limit on the labels of a micro-batch. A higher limit would need more memory and would not be faster.
constexpr std::int64_t kTokensOfPart = 2560;
constexpr std::size_t kRowsOfValidation = 2048;

}  // namespace

void CheckTexts(const std::vector<TextExample>& texts, const char* purpose, std::int64_t least, std::int64_t longest) {
  Check(!texts.empty(), "there is no text to {}", purpose);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::int64_t length = std::ssize(texts[i].ids);
    Check(length >= least && length <= longest, "text {} to {}: it has {} tokens, but must have from {} to {}", i + 1,
          purpose, length, least, longest);
  }
}

TokenExamples ExamplesOf(const std::vector<TextExample>& texts, AppendText append) {
  return {.size = std::ssize(texts),
          .length =
              [&texts](std::int64_t text) {
                return ExampleLength{std::ssize(texts[static_cast<std::size_t>(text)].ids), 0};
              },
          .append = [&texts, append = std::move(append)](
                        std::int64_t text, Random& random,
                        TokenBatch& batch) { append(texts[static_cast<std::size_t>(text)], random, batch); }};
}

std::function<std::function<TrainingBatch()>(const BatchPosition& position)> BatchesOf(TokenExamples examples,
                                                                                       const BatchOptions& options) {
  return [examples = std::move(examples), options](const BatchPosition& position) {
    return [examples, options, stream = BatchStream(examples.size, examples.length, options, position)]() mutable {
      const BatchPlan plan = stream.Next();
      const TokenBatch batch = PackBatch(examples, plan, options.seed);
      TrainingBatch result{
          .parts = {}, .labels = LabelCount(batch), .next = plan.next, .batches_in_epoch = plan.batches_in_epoch};
      for (TokenBatch& part : SplitBatch(batch, kTokensOfPart)) result.parts.emplace_back(std::move(part));
      return result;
    };
  };
}

Random RandomOfValidation(std::int64_t example) { return Random(1, static_cast<std::uint64_t>(example)); }

void ForBatches(
    const TokenExamples& examples, const PassWatch& watch,
    const std::function<std::vector<double>(const TokenBatch& batch, std::size_t first)>& numbers_of,
    const std::function<void(const TokenBatch& batch, std::size_t first, std::span<const double> numbers)>& add) {
  std::vector<TokenBatch> batches;
  std::vector<std::int64_t> firsts;
  for (std::int64_t i = 0; i < examples.size; ++i) {
    if (batches.empty() ||
        std::max(batches.back().source_ids.size(), batches.back().target_inputs.size()) >= kRowsOfValidation) {
      batches.emplace_back();
      firsts.push_back(i);
    }
    Random random = RandomOfValidation(i);
    examples.append(i, random, batches.back());
  }
  firsts.push_back(examples.size);
  PassWatch of_batches = watch;
  if (watch.progress)
    of_batches.progress = [&](std::int64_t done, std::int64_t) {
      watch.progress(firsts[static_cast<std::size_t>(done)], examples.size);
    };
  const auto numbers = SharedBlocks(of_batches, std::ssize(batches), 1, [&](std::int64_t begin, std::int64_t) {
    const auto batch = static_cast<std::size_t>(begin);
    return numbers_of(batches[batch], static_cast<std::size_t>(firsts[batch]));
  });
  for (std::size_t i = 0; i < batches.size(); ++i) add(batches[i], static_cast<std::size_t>(firsts[i]), numbers[i]);
}

LabelLoss LossOfBatches(const TokenExamples& examples, const PassWatch& watch,
                        const std::function<Tensor(Context& context, const TokenBatch& batch)>& loss_of) {
  LabelLoss loss;
  ForBatches(
      examples, watch,
      [&](const TokenBatch& batch, std::size_t) {
        Context context;
        return std::vector{static_cast<double>(loss_of(context, batch).data<float>()[0])};
      },
      [&](const TokenBatch& batch, std::size_t, std::span<const double> numbers) {
        loss.sum += numbers[0];
        loss.labels += LabelCount(batch);
      });
  return loss;
}

ValidationReport LossReport(double loss_sum, std::int64_t labels) {
  ValidationReport report;
  report.loss = loss_sum / static_cast<double>(std::max<std::int64_t>(1, labels));
  report.perplexity = std::exp(report.loss);
  report.labels = labels;
  return report;
}

double PerCent(std::int64_t part, std::int64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, whole));
}

}  // namespace headlight
