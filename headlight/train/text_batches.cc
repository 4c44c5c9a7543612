#include "headlight/train/text_batches.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

class TextBatches : public Examples {
 public:
  TextBatches(const std::vector<TextExample>& texts, AppendText append) : texts_(texts), append_(std::move(append)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(texts_.size()); }
  Lengths LengthsOf(std::int64_t example) const override {
    return {static_cast<std::int64_t>(texts_[static_cast<std::size_t>(example)].ids.size()), 0};
  }
  void Append(std::int64_t example, Random& random, Batch& batch) const override {
    append_(texts_[static_cast<std::size_t>(example)], random, batch);
  }

 private:
  const std::vector<TextExample>& texts_;
  AppendText append_;
};

}  // namespace

void AppendRows(std::vector<std::int32_t>& rows, Sequences& sequences, const std::vector<std::int32_t>& ids) {
  sequences.push_back({static_cast<std::int32_t>(rows.size()), static_cast<std::int32_t>(ids.size())});
  rows.insert(rows.end(), ids.begin(), ids.end());
}

void AppendSource(const TextExample& text, const std::vector<std::int32_t>& ids, Batch& batch) {
  AppendRows(batch.source_ids, batch.source, ids);
  batch.source_types.insert(batch.source_types.end(), text.types.begin(), text.types.end());
}

void AppendTextAndLabels(const TextExample& text, Random&, Batch& batch) {
  AppendSource(text, text.ids, batch);
  AppendRows(batch.labels, batch.target, text.labels);
}

void CheckTexts(const std::vector<TextExample>& texts, const char* what, std::int64_t least, std::int64_t longest) {
  Check(!texts.empty(), "there is no text to {}", what);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto length = static_cast<std::int64_t>(texts[i].ids.size());
    Check(length >= least && length <= longest, "text {} to {}: it has {} tokens, and must have from {} to {}", i + 1,
          what, length, least, longest);
  }
}

std::function<BatchStream(const BatchPosition& position)> BatchesOf(const std::vector<TextExample>& texts,
                                                                    AppendText append, const TrainingOptions& options) {
  const auto examples = std::make_shared<TextBatches>(texts, std::move(append));
  return
      [examples, &options](const BatchPosition& position) { return BatchStream(examples, options.batches, position); };
}

void ForBatches(const std::vector<TextExample>& texts, const AppendText& append,
                const std::function<void(const Batch& batch, std::size_t first)>& body) {
  constexpr std::int64_t rows_at_once = 2048;
  Random random(1);
  Batch batch;
  std::size_t first = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    append(texts[i], random, batch);
    const auto rows = static_cast<std::int64_t>(std::max(batch.source_ids.size(), batch.target_inputs.size()));
    if (rows < rows_at_once && i + 1 < texts.size()) continue;
    body(batch, first);
    batch = {};
    first = i + 1;
  }
}

Tensor EncodeBatch(const TextEncoder& model, Context& context, const Batch& batch) {
  const std::span<const std::int32_t> types = batch.source_types;
  return model.Encode(context, batch.source_ids, model.limits().types <= 1 ? types.first(0) : types, batch.source);
}

ValidationReport LossReport(double loss_sum, std::int64_t labels, std::chrono::steady_clock::time_point begin) {
  ValidationReport report;
  report.loss = loss_sum / static_cast<double>(std::max<std::int64_t>(1, labels));
  report.perplexity = std::exp(report.loss);
  report.score_name = "";
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace headlight
