#include "headlight/train/tasks/tagging.h"

#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/text/metrics/entities.h"
#include "headlight/train/tasks/encoder_task.h"

namespace headlight {
namespace {

using Tags = std::vector<std::vector<std::int32_t>>;  // of each sentence's words; negative: not known

// Gives a report the scores of tags.
void ScoreTags(const std::vector<std::string>& labels, const Tags& right, const Tags& found, ValidationReport& report) {
  if (!AreSpanTags(labels)) {
    std::int64_t words = 0, same = 0;
    for (std::size_t i = 0; i < right.size(); ++i)
      for (std::size_t word = 0; word < right[i].size(); ++word, ++words)
        if (right[i][word] == found[i][word]) ++same;
    report.score_name = "accuracy";
    report.score = PerCent(same, words);
    return;
  }
  const auto names = [&](const std::vector<std::int32_t>& tags) {
    std::vector<std::string_view> of_words;
    for (const std::int32_t tag : tags) of_words.push_back(tag < 0 ? "O" : labels[static_cast<std::size_t>(tag)]);
    return of_words;
  };
  EntityScore score;
  for (std::size_t i = 0; i < right.size(); ++i) score.Add(names(right[i]), names(found[i]));
  report.score_name = "f1";
  report.score = 100 * score.f1();
  report.more_scores = {{"precision", 100 * score.precision()}, {"recall", 100 * score.recall()}};
}

}  // namespace

TrainingTask TaggingTask(TextEncoder& model, const TaggedSets& texts, const BatchOptions& batches) {
  Check(model.heads().token_classes, "the model has no head for classes of tokens");
  CheckTexts(model, texts.train.texts.texts, texts.valid.texts.texts);
  const auto classes = static_cast<std::int32_t>(model.heads().labels.size());
  for (const TaggedTexts* set : {&texts.train, &texts.valid})
    for (const TextExample& text : set->texts.texts)
      for (const std::int32_t label : text.labels) Check(label < classes, "a token has class {} of {}", label, classes);
  const EncoderHead head{.logits =
                             [&model](Context& context, const TokenBatch& batch) {
                               return model.TokenClassLogits(context, EncodeBatch(model, context, batch));
                             },
                         .loss = [](const Tensor& logits, const TokenBatch& batch,
                                    double scale) { return ops::CrossEntropy(logits, batch.labels, scale); }};
  const auto validate = [&model, &valid = texts.valid, head](const CancelCheck& cancelled) {
    Tags found;
    for (const std::vector<std::int32_t>& tags : valid.tags) found.emplace_back(tags.size(), -1);
    const TokenExamples examples = ExamplesOf(valid.texts.texts, AppendTextAndLabels);
    ValidationReport report = ValidateEncoder(
        examples, head, cancelled, [&](const TokenBatch& batch, std::size_t first, const Tensor& logits) {
          for (std::size_t i = 0; i < batch.source.size(); ++i) {
            const std::vector<std::int32_t>& words = valid.texts.texts[first + i].words;
            std::vector<std::int32_t>& tags = found[static_cast<std::size_t>(valid.sentence_of[first + i])];
            for (std::size_t token = 0; token < words.size(); ++token)
              if (words[token] >= 0)
                tags[static_cast<std::size_t>(words[token])] =
                    LargestOf(logits, batch.source[i].begin + static_cast<std::int64_t>(token));
          }
        });
    ScoreTags(model.heads().labels, valid.tags, found, report);
    return report;
  };
  using Names = std::vector<std::string>;
  return EncoderTask(model, ExamplesOf(texts.train.texts.texts, AppendTextAndLabels), batches, head, validate,
                     AreSpanTags(model.heads().labels) ? Names{"f1", "precision", "recall"} : Names{"accuracy"});
}

}  // namespace headlight
