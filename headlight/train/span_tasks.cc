#include "headlight/train/span_tasks.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/sequence_cross_entropy.h"
#include "headlight/text/metrics/answer_score.h"
#include "headlight/text/metrics/entities.h"
#include "headlight/text/tokenizers/answer_spans.h"
#include "headlight/train/text_batches.h"

namespace headlight {
namespace {

using Clock = std::chrono::steady_clock;
using Names = std::vector<std::string_view>;
// A pass over texts: what the head says of each row, and the loss.
using Logits = std::function<Tensor(Context& context, const Batch& batch)>;
using Loss = std::function<Tensor(const Tensor& logits, const Batch& batch, double scale)>;

// Goes over the validation texts: body(text, its rows of logits). Returns the mean loss.
ValidationReport Look(const std::vector<TextExample>& texts, const Logits& logits, const Loss& loss,
                      const std::function<void(std::size_t text, const Matrix<float>& rows)>& body) {
  const auto begin = Clock::now();
  double sum = 0;
  std::int64_t labels = 0;
  ForBatches(texts, AppendTextAndLabels, [&](const Batch& batch, std::size_t first) {
    Context context;
    const Tensor all = logits(context, batch);
    sum += static_cast<double>(loss(all, batch, 1).data<float>()[0]);
    labels += LabelCount(batch);
    for (std::size_t i = 0; i < batch.source.size(); ++i) {
      const Tensor rows = all.ViewRows(batch.source[i].begin, batch.source[i].length);
      body(first + i, rows.matrix<float>());
    }
  });
  return LossReport(sum, labels, begin);
}

TrainingTask SpanTask(TextEncoder& model, const std::vector<TextExample>& train, const TrainingOptions& options,
                      const Logits& logits, const Loss& loss, std::function<ValidationReport()> validate) {
  return {.model = &model,
          .batches = BatchesOf(train, AppendTextAndLabels, options),
          .loss = [logits, loss](Context& context, const Batch& batch,
                                 double scale) { return loss(logits(context, batch), batch, scale); },
          .validate = std::move(validate)};
}

// Gives a report the scores of tags, of each sentence's words. A tag that is not known is negative.
void ScoreTags(const std::vector<std::string>& labels, const std::vector<std::vector<std::int32_t>>& right,
               const std::vector<std::vector<std::int32_t>>& found, ValidationReport& report) {
  if (!AreSpanTags(labels)) {
    std::int64_t words = 0, same = 0;
    for (std::size_t i = 0; i < right.size(); ++i)
      for (std::size_t word = 0; word < right[i].size(); ++word, ++words)
        if (right[i][word] == found[i][word]) ++same;
    report.score_name = "accuracy";
    report.score = 100.0 * static_cast<double>(same) / static_cast<double>(std::max<std::int64_t>(1, words));
    return;
  }
  const auto names = [&](const std::vector<std::int32_t>& tags) {
    Names of_words;
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

TrainingTask TaggingTask(TextEncoder& model, const TaggedSets& texts, const TrainingOptions& options) {
  Check(model.heads().token_classes, "the model has no head for classes of tokens");
  CheckTexts(texts.train.texts.texts, "learn from", 1, model.limits().positions);
  CheckTexts(texts.valid.texts.texts, "validate on", 1, model.limits().positions);
  const auto classes = static_cast<std::int32_t>(model.heads().labels.size());
  for (const TaggedTexts* set : {&texts.train, &texts.valid})
    for (const TextExample& text : set->texts.texts)
      for (const std::int32_t label : text.labels) Check(label < classes, "a token has class {} of {}", label, classes);
  const Logits logits = [&model](Context& context, const Batch& batch) {
    return model.TokenClassLogits(context, EncodeBatch(model, context, batch));
  };
  const Loss loss = [](const Tensor& rows, const Batch& batch, double scale) {
    return ops::CrossEntropy(rows, batch.labels, scale);
  };
  const auto validate = [&model, &valid = texts.valid, logits, loss] {
    std::vector<std::vector<std::int32_t>> found;
    for (const std::vector<std::int32_t>& tags : valid.tags) found.emplace_back(tags.size(), -1);
    ValidationReport report = Look(valid.texts.texts, logits, loss, [&](std::size_t text, const Matrix<float>& rows) {
      const std::vector<std::int32_t>& words = valid.texts.texts[text].words;
      for (std::size_t token = 0; token < words.size(); ++token) {
        if (words[token] < 0) continue;
        const float* const row = rows.row(static_cast<std::int64_t>(token));
        found[static_cast<std::size_t>(valid.sentence_of[text])][static_cast<std::size_t>(words[token])] =
            static_cast<std::int32_t>(std::max_element(row, row + rows.columns) - row);
      }
    });
    ScoreTags(model.heads().labels, valid.tags, found, report);
    return report;
  };
  return SpanTask(model, texts.train.texts.texts, options, logits, loss, validate);
}

TrainingTask QuestionTask(TextEncoder& model, const QuestionSets& texts, const TrainingOptions& options) {
  Check(model.heads().question_spans, "the model has no head for answers");
  CheckTexts(texts.train.texts.texts, "learn from", 1, model.limits().positions);
  CheckTexts(texts.valid.texts.texts, "validate on", 1, model.limits().positions);
  const Logits logits = [&model](Context& context, const Batch& batch) {
    return model.SpanLogits(context, EncodeBatch(model, context, batch));
  };
  const Loss loss = [](const Tensor& rows, const Batch& batch, double scale) {
    return ops::SequenceCrossEntropy(rows, batch.source, batch.labels, scale);
  };
  const auto validate = [&valid = texts.valid, logits, loss] {
    std::vector<FoundSpan> best(valid.questions.size());
    std::size_t question = 0, window = 0;  // of the next text
    ValidationReport report = Look(valid.texts.texts, logits, loss, [&](std::size_t, const Matrix<float>& rows) {
      const std::vector<Window>& windows = valid.questions[question].cut.windows;
      best[question].Add(BestSpan(rows, windows[window], kLongestAnswer));
      if (++window == windows.size()) ++question, window = 0;
    });
    const bool may_decline =
        std::ranges::any_of(valid.questions, [](const AskedQuestion& asked) { return asked.answers.empty(); });
    double f1 = 0, exact = 0;
    for (std::size_t i = 0; i < valid.questions.size(); ++i) {
      const AskedQuestion& asked = valid.questions[i];
      std::string_view answer;
      if (!may_decline || !best[i].declines()) {
        const TextSpan bytes = BytesOfTokens(asked.passage, asked.cut.encoding, best[i].begin, best[i].last);
        answer = std::string_view(asked.passage)
                     .substr(static_cast<std::size_t>(bytes.begin), static_cast<std::size_t>(bytes.end - bytes.begin));
      }
      const AnswerScore score = ScoreAnswer(answer, asked.answers);
      f1 += score.f1;
      exact += score.exact ? 1 : 0;
    }
    const auto questions = static_cast<double>(valid.questions.size());
    report.score_name = "f1";
    report.score = 100 * f1 / questions;
    report.more_scores = {{"exact_match", 100 * exact / questions}};
    return report;
  };
  return SpanTask(model, texts.train.texts.texts, options, logits, loss, validate);
}

}  // namespace headlight
