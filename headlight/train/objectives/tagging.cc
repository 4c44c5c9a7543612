#include "headlight/train/objectives/tagging.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/text/metrics/entities.h"
#include "headlight/train/objectives/encoder_task.h"

namespace headlight {
namespace {

using Tags = std::vector<std::vector<std::int32_t>>;  // tags of each sentence's words; negative: unknown

EncoderHead TaggingHeadOf(const TextEncoder& model, const std::vector<double>& class_weights) {
  return {
      .logits =
          [&model](Context& context, const TokenBatch& batch) {
            return model.TokenClassLogits(context, EncodeBatch(model, context, batch));
          },
      .loss = [class_weights](const Tensor& logits, const TokenBatch& batch,
                              double scale) { return ops::CrossEntropy(logits, batch.labels, scale, class_weights); }};
}

void CheckTags(const TextEncoder& model, const TaggedTexts& texts, const char* purpose) {
  Check(model.heads().token_classes, "the model has no head for classes of tokens");
  CheckTexts(model, texts.texts.texts, purpose);
  const auto classes = static_cast<std::int32_t>(model.heads().labels.size());
  for (const TextExample& text : texts.texts.texts)
    for (const std::int32_t label : text.labels)
      Check(label < classes, "a token has class {}, but the model has {}", label, classes);
}

// Adds the scores of tags to a report.
void ScoreTags(const std::vector<std::string>& labels, const Tags& right, const Tags& found, ValidationReport& report) {
  const bool spans = AreSpanTags(labels);
  const auto outside = static_cast<std::int32_t>(std::ranges::find(labels, "O") - labels.begin());
  const auto name_of = [&](std::int32_t tag) -> std::string_view {
    return tag < 0 ? std::string_view("O") : std::string_view(labels[static_cast<std::size_t>(tag)]);
  };
  ClassScores tags(labels.size());
  EntityScore entities;
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::vector<std::string_view> right_names, found_names;
    for (std::size_t word = 0; word < right[i].size(); ++word) {
      right_names.push_back(name_of(right[i][word]));
      found_names.push_back(name_of(found[i][word]));
      const bool none = spans && found[i][word] < 0 && std::cmp_less(outside, labels.size());
      tags.Add(right[i][word], none ? outside : found[i][word]);
    }
    entities.Add(right_names, found_names);
  }
  if (!spans) {
    report.score_name = "accuracy";
    report.score = 100 * tags.accuracy();
    report.more_scores = {{"macro_f1", 100 * tags.macro_f1()}};
    report.classes = ClassesOf(labels, tags);
    return;
  }
  report.score_name = "f1";
  report.score = 100 * entities.f1();
  report.more_scores = {{"precision", 100 * entities.precision()},
                        {"recall", 100 * entities.recall()},
                        {"accuracy", 100 * tags.accuracy()}};
  for (const auto& [name, counts] : entities.by_name()) report.classes.push_back(ClassOf(name, counts));
}

}  // namespace

ValidationReport ValidateTags(const TextEncoder& model, const TaggedTexts& texts, const PassWatch& watch) {
  CheckTags(model, texts, "validate on");
  Tags found;
  for (const std::vector<std::int32_t>& tags : texts.tags) found.emplace_back(tags.size(), -1);
  const std::vector<TextExample>& windows = texts.texts.texts;
  ValidationReport report = ValidateEncoder(
      ExamplesOf(windows, AppendTextAndLabels), TaggingHeadOf(model, {}), watch,
      [](const TokenBatch&, std::size_t, const Tensor& logits) { return LargestOfRows(logits); },
      [&](const TokenBatch& batch, std::size_t first, std::span<const double> largest) {
        for (std::size_t i = 0; i < batch.source.size(); ++i) {
          const std::vector<std::int32_t>& words = windows[first + i].words;
          std::vector<std::int32_t>& tags = found[static_cast<std::size_t>(texts.sentence_of[first + i])];
          for (std::size_t token = 0; token < words.size(); ++token)
            if (words[token] >= 0)
              tags[static_cast<std::size_t>(words[token])] =
                  static_cast<std::int32_t>(largest[static_cast<std::size_t>(batch.source[i].begin) + token]);
        }
      });
  ScoreTags(model.heads().labels, texts.tags, found, report);
  return report;
}

TrainingTask TaggingTask(TextEncoder& model, const TaggedSets& texts, const BatchOptions& batches,
                         const std::vector<double>& class_weights) {
  CheckTags(model, texts.train, "train on");
  CheckTags(model, texts.valid, "validate on");
  using Names = std::vector<std::string>;
  return EncoderTask(
      model, ExamplesOf(texts.train.texts.texts, AppendTextAndLabels), batches, TaggingHeadOf(model, class_weights),
      [&model, &texts](const PassWatch& watch) { return ValidateTags(model, texts.valid, watch); },
      AreSpanTags(model.heads().labels) ? Names{"f1", "precision", "recall", "accuracy"}
                                        : Names{"accuracy", "macro_f1"});
}

}  // namespace headlight
