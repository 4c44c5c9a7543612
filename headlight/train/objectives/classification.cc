#include "headlight/train/objectives/classification.h"

#include <algorithm>
#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/sigmoid_cross_entropy.h"
#include "headlight/text/metrics/correlation.h"
#include "headlight/train/objectives/encoder_task.h"

namespace headlight {
namespace {

// Returns targets [texts, labels]: 1 for each label of the text and 0 otherwise, or the text's target values. The
// batch's labels are indices of texts.
Tensor TargetsOf(const TokenBatch& batch, const std::vector<TextExample>& texts, std::int64_t labels) {
  const Tensor targets = Tensor::Empty({std::ssize(batch.labels), labels});
  std::ranges::fill(targets.span<float>(), 0.0F);
  for (std::size_t row = 0; row < batch.labels.size(); ++row) {
    const TextExample& text = texts[static_cast<std::size_t>(batch.labels[row])];
    float* const of_text = targets.matrix<float>().row(static_cast<std::int64_t>(row));
    std::ranges::copy(text.numbers, of_text);
    for (const std::int32_t label : text.labels) of_text[label] = 1;
  }
  return targets;
}

// Returns `scale` times the sum of the texts' losses.
Tensor LossOf(Problem problem, const Tensor& logits, const Tensor& targets, double scale) {
  const double of_each = scale / static_cast<double>(logits.columns());
  if (problem == Problem::several_labels) return ops::SigmoidCrossEntropy(logits, targets, of_each);
  const Tensor error = ops::Add(logits, ops::Scale(targets, -1));
  return ops::Scale(ops::Sum(ops::Multiply(error, error)), of_each);
}

EncoderHead HeadOf(const TextEncoder& model, const std::vector<TextExample>& texts,
                   const std::vector<double>& class_weights) {
  EncoderHead head = {
      .logits =
          [&model](Context& context, const TokenBatch& batch) {
            return model.SequenceClassLogits(context, EncodeBatch(model, context, batch), batch.source);
          },
      .loss = [class_weights](const Tensor& logits, const TokenBatch& batch,
                              double scale) { return ops::CrossEntropy(logits, batch.labels, scale, class_weights); }};
  if (model.heads().problem != Problem::one_label)
    head.loss = [&model, &texts](const Tensor& logits, const TokenBatch& batch, double scale) {
      return LossOf(model.heads().problem, logits, TargetsOf(batch, texts, logits.columns()), scale);
    };
  return head;
}

// Returns the texts as examples. The batch's labels are the classes if each text has one class, and otherwise the
// indices of the texts.
TokenExamples ExamplesFor(const TextEncoder& model, const std::vector<TextExample>& texts) {
  if (model.heads().problem == Problem::one_label) return ExamplesOf(texts, AppendTextAndLabels);
  return ExamplesOf(texts, [&texts](const TextExample& text, Random&, TokenBatch& batch) {
    AppendSource(text, text.ids, batch);
    const auto index = static_cast<std::int32_t>(&text - texts.data());
    AppendRows(batch.labels, batch.target, {&index, 1});
  });
}

void CheckClasses(const TextEncoder& model, const std::vector<TextExample>& texts, const char* purpose) {
  Check(model.heads().sequence_classes, "the model has no head for classes of texts");
  CheckTexts(model, texts, purpose);
  const Problem problem = model.heads().problem;
  const auto classes = static_cast<std::int32_t>(model.heads().labels.size());
  for (const TextExample& text : texts) {
    const bool known =
        std::ranges::all_of(text.labels, [&](std::int32_t label) { return label >= 0 && label < classes; });
    if (problem == Problem::number)
      Check(text.labels.empty() && std::ssize(text.numbers) == classes, "a text must have {} numbers", classes);
    else if (problem == Problem::several_labels)
      Check(known && text.numbers.empty(), "a text's labels must be of {} classes", classes);
    else
      Check(known && text.labels.size() == 1 && text.numbers.empty(), "a text must have one of {} classes", classes);
  }
}

// Returns all elements of `rows`, as doubles.
std::vector<double> AllOf(const Tensor& rows) {
  const std::span<const float> all = rows.span<float>();
  return {all.begin(), all.end()};
}

void SetScores(std::span<const ClassCounts> classes, const std::vector<std::string>& labels, ValidationReport& report) {
  ClassCounts all;
  double macro = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    all.labeled += classes[i].labeled;
    all.predicted += classes[i].predicted;
    all.true_positives += classes[i].true_positives;
    macro += classes[i].f1() / static_cast<double>(classes.size());
    if (classes[i].labeled + classes[i].predicted > 0) report.classes.push_back(ClassOf(labels[i], classes[i]));
  }
  report.score_name = "micro_f1";
  report.score = 100 * all.f1();
  report.more_scores = {{"macro_f1", 100 * macro}};
}

// Adds to the report the correlations between the predictions `found` [texts, labels] and the texts' target values.
void SetCorrelations(std::span<const double> found, const std::vector<TextExample>& texts, std::size_t labels,
                     ValidationReport& report) {
  double pearson = 0, spearman = 0;
  for (std::size_t label = 0; label < labels; ++label) {
    std::vector<double> right, predicted;
    for (std::size_t text = 0; text < texts.size(); ++text) {
      right.push_back(texts[text].numbers[label]);
      predicted.push_back(found[text * labels + label]);
    }
    pearson += PearsonCorrelation(right, predicted) / static_cast<double>(labels);
    spearman += SpearmanCorrelation(right, predicted) / static_cast<double>(labels);
  }
  report.score_name = "pearson";
  report.score = pearson;
  report.more_scores = {{"spearman", spearman}};
}

// Validates a model that predicts several labels, or values for regression.
ValidationReport ValidateTargets(const TextEncoder& model, const std::vector<TextExample>& texts,
                                 const PassWatch& watch) {
  const std::vector<std::string>& labels = model.heads().labels;
  std::vector<ClassCounts> classes(labels.size());
  std::vector<double> numbers;
  ValidationReport report = ValidateEncoder(
      ExamplesFor(model, texts), HeadOf(model, texts, {}), watch,
      [](const TokenBatch&, std::size_t, const Tensor& logits) { return AllOf(logits); },
      [&](const TokenBatch& batch, std::size_t, std::span<const double> found) {
        numbers.insert(numbers.end(), found.begin(), found.end());
        for (std::size_t row = 0; row < batch.labels.size(); ++row)
          for (std::size_t label = 0; label < labels.size(); ++label) {
            const std::vector<std::int32_t>& right = texts[static_cast<std::size_t>(batch.labels[row])].labels;
            const bool is = std::ranges::find(right, static_cast<std::int32_t>(label)) != right.end();
            const bool guessed = found[row * labels.size() + label] >= 0;
            classes[label].labeled += is;
            classes[label].predicted += guessed;
            classes[label].true_positives += is && guessed;
          }
      });
  report.perplexity = 0;
  if (model.heads().problem == Problem::number)
    SetCorrelations(numbers, texts, labels.size(), report);
  else
    SetScores(classes, labels, report);
  return report;
}

}  // namespace

LabelsPerText LabelsPerTextOf(Problem problem) {
  return problem == Problem::number           ? LabelsPerText::numbers
         : problem == Problem::several_labels ? LabelsPerText::several
                                              : LabelsPerText::one;
}

ValidationReport ValidateClasses(const TextEncoder& model, const std::vector<TextExample>& texts,
                                 const PassWatch& watch) {
  CheckClasses(model, texts, "validate on");
  if (model.heads().problem != Problem::one_label) return ValidateTargets(model, texts, watch);
  ClassScores scores(model.heads().labels.size());
  ValidationReport report = ValidateEncoder(
      ExamplesFor(model, texts), HeadOf(model, texts, {}), watch,
      [](const TokenBatch&, std::size_t, const Tensor& logits) { return LargestOfRows(logits); },
      [&](const TokenBatch& batch, std::size_t, std::span<const double> found) {
        for (std::size_t row = 0; row < batch.labels.size(); ++row)
          scores.Add(batch.labels[row], static_cast<std::int32_t>(found[row]));
      });
  report.score_name = "accuracy";
  report.score = 100 * scores.accuracy();
  report.more_scores = {{"macro_f1", 100 * scores.macro_f1()}};
  report.classes = ClassesOf(model.heads().labels, scores);
  return report;
}

TrainingTask ClassificationTask(TextEncoder& model, const TextSets& texts, const BatchOptions& batches,
                                const std::vector<double>& class_weights) {
  CheckClasses(model, texts.train, "train on");
  CheckClasses(model, texts.valid, "validate on");
  const Problem problem = model.heads().problem;
  Check(class_weights.empty() || problem == Problem::one_label, "`class_weights` need texts with one class each");
  std::vector<std::string> scores = {"accuracy", "macro_f1"};
  if (problem == Problem::several_labels) scores = {"micro_f1", "macro_f1"};
  if (problem == Problem::number) scores = {"pearson", "spearman"};
  return EncoderTask(
      model, ExamplesFor(model, texts.train), batches, HeadOf(model, texts.train, class_weights),
      [&model, &texts](const PassWatch& watch) { return ValidateClasses(model, texts.valid, watch); },
      std::move(scores));
}

}  // namespace headlight
