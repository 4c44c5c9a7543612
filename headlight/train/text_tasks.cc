#include "headlight/train/text_tasks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/projection_cross_entropy.h"
#include "headlight/train/text_batches.h"

namespace headlight {
namespace {

using Ids = std::vector<std::int32_t>;

void CheckTexts(const TextSets& texts, std::int64_t least, std::int64_t longest) {
  CheckTexts(texts.train, "learn from", least, longest);
  CheckTexts(texts.valid, "validate on", least, longest);
}

std::int64_t RowsWhereTheLabelIsLargest(const Tensor& logits, const Ids& labels) {
  std::int64_t right = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const float* const first = logits.matrix<float>().row(static_cast<std::int64_t>(row));
    if (std::max_element(first, first + logits.columns()) - first == labels[row]) ++right;
  }
  return right;
}

// A task of an encoder: rows of logits, and the labels that they are asked for.
TrainingTask EncoderTask(TextEncoder& model, const TextSets& texts, const TrainingOptions& options, AppendText append,
                         std::function<std::pair<Tensor, Ids>(Context& context, const Batch& batch)> logits) {
  CheckTexts(texts, 1, model.limits().positions);
  return {.model = &model,
          .batches = BatchesOf(texts.train, append, options),
          .loss =
              [logits](Context& context, const Batch& batch, double scale) {
                const auto [rows, labels] = logits(context, batch);
                return ops::CrossEntropy(rows, labels, scale);
              },
          .validate =
              [logits, append, &texts] {
                const auto begin = std::chrono::steady_clock::now();
                double loss = 0;
                std::int64_t count = 0, right = 0;
                ForBatches(texts.valid, append, [&](const Batch& batch, std::size_t) {
                  Context context;
                  const auto [rows, labels] = logits(context, batch);
                  loss += static_cast<double>(ops::CrossEntropy(rows, labels, 1).data<float>()[0]);
                  count += static_cast<std::int64_t>(labels.size());
                  right += RowsWhereTheLabelIsLargest(rows, labels);
                });
                ValidationReport report = LossReport(loss, count, begin);
                report.score_name = "accuracy";
                report.score =
                    100.0 * static_cast<double>(right) / static_cast<double>(std::max<std::int64_t>(1, count));
                return report;
              }};
}

// Which places of a text are asked for: at least one of those that may be.
std::vector<std::size_t> HiddenPlaces(const TextExample& text, const MaskingOptions& masking, Random& random) {
  std::vector<std::vector<std::size_t>> units;  // that are hidden together
  std::int32_t last_word = -1;
  std::size_t places = 0;
  for (std::size_t i = 0; i < text.ids.size(); ++i) {
    const std::int32_t word = text.words[i];
    if (word >= 0) {
      ++places;
      if (!masking.whole_words || word != last_word) units.emplace_back();
      units.back().push_back(i);
    }
    last_word = word;
  }
  const auto wanted =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(masking.share * static_cast<double>(places))));
  std::vector<std::size_t> hidden;
  for (std::size_t left = units.size(); left > 0 && hidden.size() < wanted; --left) {
    std::swap(units[left - 1], units[random.Below(left)]);
    hidden.insert(hidden.end(), units[left - 1].begin(), units[left - 1].end());
  }
  return hidden;
}

}  // namespace

TrainingTask LanguageModelTask(LanguageModel& model, const TextSets& texts, const TrainingOptions& options) {
  const LanguageModel::Limits limits = model.limits();
  const bool ends = limits.end_id >= 0;
  CheckTexts(texts, ends ? 1 : 2, limits.positions - (ends ? 1 : 0));
  const AppendText append = [ends, limits](const TextExample& text, Random&, Batch& batch) {
    Ids inputs = text.ids, labels = text.ids;
    if (ends) {
      inputs.insert(inputs.begin(), limits.end_id);
      labels.push_back(limits.end_id);
    } else {
      inputs.pop_back();
      labels.erase(labels.begin());
    }
    Sequences same_rows;
    AppendRows(batch.target_inputs, same_rows, inputs);
    AppendRows(batch.labels, batch.target, labels);
  };
  const auto loss = [&model](Context& context, const Batch& batch, double smoothing, double scale) {
    return ops::ProjectionCrossEntropy(model.Decode(context, batch.target_inputs, batch.target),
                                       model.OutputWeight(context), model.OutputBias(context), batch.labels, smoothing,
                                       scale);
  };
  return {.model = &model,
          .batches = BatchesOf(texts.train, append, options),
          .loss = [loss, &options](Context& context, const Batch& batch,
                                   double scale) { return loss(context, batch, options.label_smoothing, scale); },
          .validate =
              [loss, append, &texts] {
                const auto begin = std::chrono::steady_clock::now();
                double sum = 0;
                std::int64_t labels = 0;
                ForBatches(texts.valid, append, [&](const Batch& batch, std::size_t) {
                  Context context;
                  sum += static_cast<double>(loss(context, batch, 0, 1).template data<float>()[0]);
                  labels += LabelCount(batch);
                });
                ValidationReport report = LossReport(sum, labels, begin);
                if (texts.valid_bytes > 0)
                  report.bits_per_byte = sum / std::log(2.0) / static_cast<double>(texts.valid_bytes);
                return report;
              }};
}

TrainingTask MaskedLanguageModelTask(TextEncoder& model, const TextSets& texts, const MaskingOptions& masking,
                                     const TrainingOptions& options) {
  Check(masking.share > 0 && masking.share < 1, "the share of hidden tokens must be between 0 and 1, not {}",
        masking.share);
  Check(model.heads().masked_words, "the model has no head for masked words");
  for (const std::vector<TextExample>* set : {&texts.train, &texts.valid})
    for (const TextExample& text : *set) {
      Ensure(text.words.size() == text.ids.size(), "{} words of {} ids", text.words.size(), text.ids.size());
      Check(std::ranges::any_of(text.words, [](std::int32_t word) { return word >= 0; }),
            "a text without a word has nothing to hide");
    }
  const auto vocabulary = static_cast<std::uint64_t>(model.limits().vocabulary);
  Check(masking.special_ids.size() < vocabulary, "all {} tokens are special", vocabulary);
  const AppendText append = [masking, vocabulary](const TextExample& text, Random& random, Batch& batch) {
    Ids ids = text.ids, labels(text.ids.size(), -1);
    for (const std::size_t place : HiddenPlaces(text, masking, random)) {
      labels[place] = ids[place];
      const std::uint64_t tenth = random.Below(10);
      if (tenth < 8) {
        ids[place] = masking.mask_id;
      } else if (tenth == 8) {
        do ids[place] = static_cast<std::int32_t>(random.Below(vocabulary));
        while (std::ranges::find(masking.special_ids, ids[place]) != masking.special_ids.end());
      }
    }
    AppendSource(text, ids, batch);
    AppendRows(batch.labels, batch.target, labels);
  };
  const auto logits = [&model](Context& context, const Batch& batch) {
    const Tensor hidden = EncodeBatch(model, context, batch);
    Ids rows, labels;
    for (std::size_t row = 0; row < batch.labels.size(); ++row) {
      if (batch.labels[row] < 0) continue;
      rows.push_back(static_cast<std::int32_t>(row));
      labels.push_back(batch.labels[row]);
    }
    return std::pair(model.MaskedWordLogits(context, ops::Embedding(hidden, rows)), labels);
  };
  return EncoderTask(model, texts, options, append, logits);
}

TrainingTask ClassificationTask(TextEncoder& model, const TextSets& texts, const TrainingOptions& options) {
  Check(model.heads().sequence_classes, "the model has no head for classes of texts");
  Check(model.heads().problem == Problem::one_label, "only one class a text can be learned");
  const auto classes = static_cast<std::int32_t>(model.heads().labels.size());
  for (const std::vector<TextExample>* set : {&texts.train, &texts.valid})
    for (const TextExample& text : *set)
      Check(text.labels.size() == 1 && text.labels[0] >= 0 && text.labels[0] < classes,
            "a text must have one of {} classes", classes);
  const auto logits = [&model](Context& context, const Batch& batch) {
    const Tensor hidden = EncodeBatch(model, context, batch);
    return std::pair(model.SequenceClassLogits(context, hidden, batch.source), batch.labels);
  };
  return EncoderTask(model, texts, options, AppendTextAndLabels, logits);
}

}  // namespace headlight
