#include "headlight/train/objectives/visual_question_answering.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/train/objectives/encoder_task.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

// The payload of one of TrainingBatch::parts.
struct QuestionPart {
  PackedPairs pairs;
  std::vector<std::int32_t> answers;
};

Tensor LogitsOf(const RegionTextEncoder& model, Context& context, const PackedPairs& pairs) {
  return model.AnswerLogits(context, model.Pool(context, EncodePairs(model, context, pairs)));
}

QuestionPart PartOf(const VisualQuestions& set, std::span<const std::uint32_t> questions) {
  std::vector<PairRows> pairs;
  QuestionPart part;
  for (const std::uint32_t i : questions) {
    const VisualQuestion& question = set.questions[i];
    pairs.push_back({question.ids, question.types, &set.images[question.image]});
    part.answers.push_back(question.answer);
  }
  part.pairs = PackPairs(pairs);
  return part;
}

// Calls body(part) for the micro-batches of the questions, in order.
template <typename Body>
void ForParts(const VisualQuestions& set, std::span<const std::uint32_t> questions, const Body& body) {
  ForPairParts(
      questions.size(),
      [&](std::size_t i) {
        const VisualQuestion& question = set.questions[questions[i]];
        return question.ids.size() + static_cast<std::size_t>(set.images[question.image].features.rows());
      },
      [&](std::size_t first, std::size_t end) { body(PartOf(set, questions.subspan(first, end - first))); });
}

void CheckQuestions(const RegionTextEncoder& model, const VisualQuestions& set, const char* purpose) {
  const RegionTextEncoder::Limits& limits = model.limits();
  Check(model.pair_heads().answers, "the model has no head for answers");
  Check(!set.questions.empty(), "there is no question to {}", purpose);
  CheckRegions(model, set.images);
  for (const VisualQuestion& question : set.questions) {
    Check(!question.ids.empty() && std::ssize(question.ids) <= limits.positions,
          "a question has {} tokens, but must have 1 to {}", question.ids.size(), limits.positions);
    Ensure(question.image < set.images.size() && question.kind < std::max<std::size_t>(1, set.kinds.size()) &&
               std::cmp_less(question.answer, model.labels().size()),
           "a question of image {} and kind {} with answer {}", question.image, question.kind, question.answer);
  }
}

// Returns the name of a score, for example "accuracy_how_many" for the kind "how many". The kind may contain any
// characters.
std::string ScoreOf(const std::string& kind) {
  std::string name = "accuracy_" + kind;
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '_';
  return name;
}

}  // namespace

ValidationReport ValidateVisualQuestions(const RegionTextEncoder& model, const VisualQuestions& valid,
                                         const PassWatch& watch) {
  CheckQuestions(model, valid, "validate on");
  std::vector<std::uint32_t> all(valid.questions.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::int64_t> right(std::max<std::size_t>(1, valid.kinds.size())), asked(right.size());
  double loss = 0;
  std::int64_t known = 0;
  constexpr std::int64_t at_once = 512;
  std::size_t next = 0;
  const auto blocks = SharedBlocks(watch, std::ssize(all), at_once, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> numbers = {0};  // the loss, followed by the answer to each question
    const auto questions = static_cast<std::size_t>(end - begin);
    ForParts(valid, std::span(all).subspan(static_cast<std::size_t>(begin), questions), [&](const QuestionPart& part) {
      Context context;
      const Tensor logits = LogitsOf(model, context, part.pairs);
      numbers[0] += static_cast<double>(ops::CrossEntropy(logits, part.answers, 1).data<float>()[0]);
      std::ranges::copy(LargestOfRows(logits), std::back_inserter(numbers));
    });
    return numbers;
  });
  for (const std::vector<double>& block : blocks) {
    loss += block[0];
    for (const double found : std::span(block).subspan(1)) {
      const VisualQuestion& question = valid.questions[next++];
      ++asked[question.kind];
      known += question.answer >= 0 ? 1 : 0;
      right[question.kind] += static_cast<std::int32_t>(found) == question.answer ? 1 : 0;
    }
  }
  ValidationReport report = LossReport(loss, known);
  report.score_name = "accuracy";
  report.score = PerCent(std::accumulate(right.begin(), right.end(), std::int64_t{0}), std::ssize(all));
  for (std::size_t kind = 0; kind < valid.kinds.size(); ++kind)
    report.more_scores.push_back({ScoreOf(valid.kinds[kind]), PerCent(right[kind], asked[kind])});
  return report;
}

TrainingTask VisualQuestionTask(RegionTextEncoder& model, const VisualQuestions& train, const VisualQuestions& valid,
                                const BatchOptions& batches) {
  CheckQuestions(model, train, "train on");
  CheckQuestions(model, valid, "validate on");
  for (const VisualQuestion& question : train.questions)
    Check(question.answer >= 0, "a question to train on has an answer that the model does not have");
  std::vector<std::string> scores = {"accuracy"};
  for (const std::string& kind : valid.kinds) scores.push_back(ScoreOf(kind));
  return {.model = &model,
          .batches = PreparedBatches(std::ssize(train.questions), batches,
                                     [&train](const BatchPlan& plan) {
                                       TrainingBatch batch;
                                       batch.labels = std::ssize(plan.examples);
                                       ForParts(train, plan.examples,
                                                [&](QuestionPart part) { batch.parts.emplace_back(std::move(part)); });
                                       return batch;
                                     }),
          .loss =
              [&model](Context& context, const TrainingPart& part, double scale) {
                const auto& [pairs, answers] = part.As<QuestionPart>();
                return ops::CrossEntropy(LogitsOf(model, context, pairs), answers, scale);
              },
          .validate = [&model, &valid](const PassWatch& watch) { return ValidateVisualQuestions(model, valid, watch); },
          .scores = std::move(scores)};
}

}  // namespace headlight
