#include "headlight/train/objectives/folding.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/protein/alignment_features.h"
#include "headlight/protein/contacts.h"
#include "headlight/protein/nn/covariation.h"
#include "headlight/protein/predicted_error.h"
#include "headlight/protein/structure_scores.h"
#include "headlight/train/objectives/prepared_batches.h"
#include "headlight/train/shared_pass.h"

namespace headlight {
namespace {

// Limit on the cells of an alignment, one byte each. Several alignments per batch are in memory, and later batches are
// prepared ahead.
constexpr std::int64_t kMostCells = std::int64_t{1} << 24;

// The payload of one of TrainingBatch::parts: a crop of a chain, and the random choices of each pass over its
// alignment. The features are computed only when needed, because they take a hundred times as much memory.
struct FoldingPart {
  std::shared_ptr<const AlignmentTable> table;
  std::vector<AlignmentChoices> passes;
  std::vector<TemplateFeatures> templates;  // the same templates for all passes
  Tensor covariation;                       // the same features for all passes
  std::int64_t first = 0;                   // index of the crop's first residue
  FoldingLabels labels;                     // labels of the crop, without its sequence
};

AlignmentTable TableOf(const ChainExample& example) {
  const std::string letters = example.Letters();
  if (example.alignment.empty()) return TableOfSequence(letters);
  return ReadAlignmentTable(std::span(&example.alignment, 1),
                            {.alignment = {.query = letters}, .most_cells = kMostCells});
}

// Returns residues [first, first + count) of a chain, with the random choices of `passes` passes.
FoldingPart PartOf(const ChainExample& example, const AlignmentSampling& sampling, int passes, std::int64_t first,
                   std::int64_t count, Random& random) {
  FoldingPart part;
  part.table = std::make_shared<const AlignmentTable>(TableOf(example));
  for (int pass = 0; pass < passes; ++pass) part.passes.push_back(DrawChoices(*part.table, sampling, random));
  part.first = first;
  const auto residues =
      std::span(example.residues).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  part.labels.residues.assign(residues.begin(), residues.end());
  return part;
}

// The outputs and the labels of the last pass.
struct FoldedPart {
  FoldingOutputs outputs;
  FoldingLabels labels;
};

FoldedPart Fold(const FoldingModel& model, Context& context, const FoldingPart& part) {
  FoldedPart folded;
  folded.labels = part.labels;
  std::vector<std::int32_t> positions;
  for (const ResidueLabels& residue : part.labels.residues) positions.push_back(residue.position);
  std::vector<FoldingFeatures> passes;
  for (const AlignmentChoices& choices : part.passes) {
    AlignmentFeatures features = FeaturesOf(*part.table, choices, part.first, std::ssize(part.labels.residues));
    passes.push_back(FeaturesForModel(features, positions, part.templates));
    passes.back().covariation = part.covariation;
    folded.labels.letters = std::move(features.letters);
    for (std::size_t cell = 0; cell < features.replaced.size(); ++cell)
      if (features.replaced[cell] == 0) folded.labels.letters[cell] = -1;
  }
  folded.outputs = model.Fold(context, passes);
  return folded;
}

// Returns the chosen templates, cropped to the same residues as the chain.
std::vector<TemplateFeatures> TemplatesOf(const ChainExample& example, std::span<const std::int64_t> chosen,
                                          const FoldingPart& part) {
  std::vector<TemplateFeatures> templates;
  for (const std::int64_t one : chosen)
    templates.push_back(
        CropOf(example.templates[static_cast<std::size_t>(one)], part.first, std::ssize(part.labels.residues)));
  return templates;
}

// Returns the covariation features of chains with an alignment, or nothing if the model does not use them.
std::vector<Tensor> CovariationOf(const FoldingPlan& plan, const ChainSet& set) {
  if (!plan.covariation) return {};
  std::vector<Tensor> all(set.examples.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const ChainExample& example = set.examples[i]; !example.alignment.empty())
      all[i] = Covariation(TableOf(example));
  return all;
}

// Returns a random subset of `count` templates. The size of the subset is uniform from 0 to `count`, but at most `most`
// (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021, supplement, section 1.2.3).
std::vector<std::int64_t> SampleTemplates(std::int64_t count, std::int64_t most, Random& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  if (count == 0) return order;
  const auto drawn = std::min(most, static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(count) + 1)));
  for (std::int64_t i = 0; i < drawn; ++i)
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(i) + random.Below(static_cast<std::uint64_t>(count - i))]);
  order.resize(static_cast<std::size_t>(drawn));
  return order;
}

// Returns the indices of the first templates. The first templates are the best.
std::vector<std::int64_t> FirstTemplates(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(std::min(count, most)));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void CheckChains(const FoldingPlan& plan, const ChainSet& set) {
  for (const ChainExample& example : set.examples) {
    Check(!plan.covariation || example.alignment.empty() || std::ssize(example.residues) <= kMostCovarying,
          "{}: it has {} residues, and covariation is limited to {}", example.name, example.residues.size(),
          kMostCovarying);
    Check(plan.templates > 0 || example.templates.empty(), "{}: it has templates, and this model reads none",
          example.name);
  }
}

AlignmentSampling SamplingOf(const FoldingPlan& plan) {
  return {.rows = std::max<std::int64_t>(1, plan.rows), .extra = plan.extra};
}

class FoldingPreparation {
 public:
  FoldingPreparation(const FoldingModel& model, const ChainSet& set, const FoldingTrainingOptions& options)
      : plan_(model.plan()),
        set_(set),
        options_(options),
        covariation_(std::make_shared<const std::vector<Tensor>>(CovariationOf(plan_, set))) {}

  TrainingBatch operator()(const BatchPlan& batch) const {
    TrainingBatch made{.parts = {}, .labels = std::ssize(batch.examples), .next = {}, .batches_in_epoch = 0};
    // The batch has its own random stream. Its index is negative, so no example has the same stream.
    Random of_batch = RandomOfExample(options_.batches.seed, batch.position.epoch, -1 - batch.position.batch);
    const int passes = 1 + static_cast<int>(of_batch.Below(static_cast<std::uint64_t>(plan_.recycles) + 1));
    for (const std::uint32_t index : batch.examples)
      made.parts.emplace_back(TrainingPart::Later(
          [self = *this, index, epoch = batch.position.epoch, passes] { return self.Part(index, epoch, passes); }));
    return made;
  }

 private:
  FoldingPart Part(std::uint32_t index, std::int64_t epoch, int passes) const {
    const ChainExample& example = set_.examples[index];
    Random random = RandomOfExample(options_.batches.seed, epoch, index);
    const std::int64_t residues = std::ssize(example.residues), count = std::min(options_.crop, residues);
    const auto first = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(residues - count) + 1));
    const double clamped_share = random.Uniform() < options_.clamped ? 1 : 0;
    FoldingPart part = PartOf(example, SamplingOf(plan_), passes, first, count, random);
    part.labels.clamped_share = clamped_share;
    part.templates =
        TemplatesOf(example, SampleTemplates(std::ssize(example.templates), plan_.templates, random), part);
    if (plan_.covariation && !example.alignment.empty())
      part.covariation = CropOfCovariation((*covariation_)[index], residues, first, count);
    return part;
  }

  FoldingPlan plan_;
  const ChainSet& set_;
  FoldingTrainingOptions options_;
  std::shared_ptr<const std::vector<Tensor>> covariation_;
};

}  // namespace

std::vector<FoldedScores> ScoreFolding(const FoldingModel& model, const ChainSet& valid,
                                       const FoldingLossWeights& weights, const PassWatch& watch) {
  Check(!valid.examples.empty(), "there is no chain to validate on");
  const FoldingPlan plan = model.plan();
  CheckChains(plan, valid);
  AlignmentSampling sampling = SamplingOf(plan);
  sampling.masked = 0;
  const auto blocks = SharedBlocks(watch, std::ssize(valid.examples), 1, [&](std::int64_t i, std::int64_t) {
    const ChainExample& example = valid.examples[static_cast<std::size_t>(i)];
    Random random = RandomOfExample(0, 0, i);
    FoldingPart part = PartOf(example, sampling, plan.recycles + 1, 0, std::ssize(example.residues), random);
    part.labels.clamped_share = kClampedShare;
    part.templates = TemplatesOf(example, FirstTemplates(std::ssize(example.templates), plan.templates), part);
    if (plan.covariation && !example.alignment.empty()) part.covariation = Covariation(*part.table);
    Context context;
    const auto [outputs, labels] = Fold(model, context, part);
    const auto loss = static_cast<double>(FoldingLoss(outputs, labels, weights, 1).data<float>()[0]);
    const KnownAlphas known = KnownAlphasOf(example.residues, AtomsOf(outputs.structure));
    const std::vector<float> touch = ContactProbabilities(outputs.distances.matrix<float>());
    const auto residues = std::ssize(example.residues);
    std::vector<double> numbers = {
        ScoreLocalDistances(known.model, known.reference, /*all_atoms=*/false).score,
        ScoreSuperposed(CaOf(known.model), CaOf(known.reference), std::ssize(known.reference)).tm_score, loss};
    if (const auto precision = ContactPrecision({touch.data(), residues, residues, residues}, example.residues))
      numbers.push_back(*precision);
    return numbers;
  });
  std::vector<FoldedScores> scores;
  for (const std::vector<double>& of : blocks)
    scores.push_back({.lddt_ca = of[0],
                      .tm_score = of[1],
                      .contact_precision = of.size() > 3 ? std::optional(of[3]) : std::nullopt,
                      .loss = of[2]});
  return scores;
}

ValidationReport MeanScores(std::span<const FoldedScores> chains) {
  FoldedScores sum;
  double precision = 0, with_contacts = 0;
  for (const FoldedScores& chain : chains) {
    sum.loss += chain.loss;
    sum.lddt_ca += chain.lddt_ca;
    sum.tm_score += chain.tm_score;
    precision += chain.contact_precision.value_or(0);
    with_contacts += chain.contact_precision ? 1 : 0;
  }
  const auto count = static_cast<double>(chains.size());
  ValidationReport report;
  report.loss = sum.loss / count;
  report.labels = std::ssize(chains);
  report.score_name = "lddt_ca";
  report.score = sum.lddt_ca / count;
  report.more_scores = {{"tm_score", sum.tm_score / count},
                        {"contact_precision", precision / std::max(with_contacts, 1.0)}};
  return report;
}

TrainingTask FoldingTask(FoldingModel& model, const ChainSet& train, const ChainSet& valid,
                         const FoldingTrainingOptions& options) {
  Check(!train.examples.empty(), "there is no chain to train on");
  Check(!valid.examples.empty(), "there is no chain to validate on");
  for (const ChainSet* const set : {&train, &valid}) CheckChains(model.plan(), *set);
  Check(options.crop >= 1, "a crop must have at least 1 residue, not {}", options.crop);
  TrainingTask task;
  task.model = &model;
  task.batches =
      PreparedBatches(std::ssize(train.examples), options.batches, FoldingPreparation(model, train, options));
  task.loss = [&model, weights = options.weights](Context& context, const TrainingPart& part, double scale) {
    const auto [outputs, labels] = Fold(model, context, part.As<FoldingPart>());
    return FoldingLoss(outputs, labels, weights, scale);
  };
  task.validate = [&model, &valid, weights = options.weights](const PassWatch& watch) {
    return MeanScores(ScoreFolding(model, valid, weights, watch));
  };
  task.scores = {"lddt_ca", "tm_score", "contact_precision"};
  return task;
}

}  // namespace headlight
