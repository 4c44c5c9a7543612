#include "headlight/pipelines/structure_predictor.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/prediction_observer.h"
#include "headlight/protein/alignment_features.h"
#include "headlight/protein/nn/covariation.h"
#include "headlight/protein/predicted_error.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

// The maximum length of a chain. The indices of the pairs of a longer chain would exceed 32 bits.
constexpr std::int64_t kMostFolded = 46340;
constexpr std::int64_t kAlphaAtom = 1;  // index in atom14

FoldingFeatures DrawFeatures(const AlignmentTable& alignment, const AlignmentSampling& sampling, std::uint64_t seed,
                             int pass, const std::vector<TemplateFeatures>& templates) {
  Random random(seed, static_cast<std::uint64_t>(pass));
  return FeaturesForModel(FeaturesOf(alignment, DrawChoices(alignment, sampling, random)), {}, templates);
}

// Returns the root mean square difference of the distances between C alphas, as in OpenFold.
double ChangeOf(const Tensor& before, const Tensor& after) {
  const Matrix<float> old = before.matrix<float>(), fresh = after.matrix<float>();
  const auto distance = [](const Matrix<float>& atoms, std::int64_t i, std::int64_t j) {
    double squares = 0;
    for (std::int64_t axis = 3 * kAlphaAtom; axis < 3 * kAlphaAtom + 3; ++axis) {
      const double difference = static_cast<double>(atoms.row(i)[axis]) - static_cast<double>(atoms.row(j)[axis]);
      squares += difference * difference;
    }
    return std::sqrt(squares);
  };
  double sum = 0;
  for (std::int64_t i = 0; i < old.rows; ++i) {
    for (std::int64_t j = 0; j < old.rows; ++j) {
      const double change = distance(old, i, j) - distance(fresh, i, j);
      sum += change * change;
    }
  }
  return std::sqrt(sum / static_cast<double>(old.rows * old.rows));
}

Structure StructureOf(const Tensor& atoms, std::span<const std::int32_t> types, std::span<const float> plddt) {
  const ResidueTables& tables = TablesOfResidues();
  ProteinChain chain{"A", {}};
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto type = static_cast<std::size_t>(types[i]);
    Residue& residue = chain.residues.emplace_back();
    residue.type = types[i];
    residue.name = ResidueTypes()[type].name;
    residue.number = static_cast<int>(i) + 1;
    const float* const positions = atoms.matrix<float>().row(static_cast<std::int64_t>(i));
    for (std::size_t atom = 0; atom < kAtom14; ++atom) {
      if (!tables.has_atom14[type][atom]) continue;
      const auto place = static_cast<std::size_t>(tables.atom14_to_atom37[type][atom]);
      residue.known[place] = true;
      residue.atoms[place] = {positions[3 * atom], positions[3 * atom + 1], positions[3 * atom + 2]};
      residue.b_factors[place] = plddt[i];
    }
  }
  return {"", {std::move(chain)}};
}

}  // namespace

StructurePredictor StructurePredictor::Load(const std::string& path, const LoadOptions& options) {
  Check(!options.shortlist && !options.draft, "{}: shortlist and draft are for models that write text", path);
  return StructurePredictor(LoadModel<FoldingModel>(path, {.compute = options.compute, .purpose = LoadFor::computing}));
}

const FoldingModel& StructurePredictor::model() const { return *model_; }

PredictedStructure StructurePredictor::Predict(const AlignmentTable& alignment, const PredictOptions& options) const {
  return Run(alignment, options, {});
}

PredictedStructure StructurePredictor::Run(const AlignmentTable& alignment, const PredictOptions& options,
                                           const PredictionObserver& observer) const {
  const FoldingPlan plan = model_->plan();
  const int most = 1 + options.recycles.value_or(plan.recycles);
  Check(most >= 1 && most <= 1001, "{} passes after the first: 0 to 1000 are possible", most - 1);
  Check(options.tolerance >= 0, "a tolerance of {}: it must be a distance in angstrom, at least 0", options.tolerance);
  const std::int64_t residues = alignment.residues();
  Check(residues <= kMostFolded, "a chain of {} residues; at most {} are possible", residues, kMostFolded);
  Check(std::ssize(options.templates) <= plan.templates, "{} templates, and {} reads {}", options.templates.size(),
        model_->parameters().source(), plan.templates == 0 ? "none" : fmt::format("at most {}", plan.templates));
  std::vector<TemplateFeatures> templates;
  for (const ProteinTemplate& one : options.templates) {
    Check(std::ssize(one.residues) == residues, "{}: a template of {} residues, for a query of {}", one.name,
          one.residues.size(), residues);
    templates.push_back(FeaturesOf(one));
  }
  const Tensor covariation = plan.covariation ? Covariation(alignment) : Tensor();
  const AlignmentSampling sampling = {.rows = options.rows.value_or(std::max<std::int64_t>(plan.rows, 1)),
                                      .extra = options.extra.value_or(plan.extra)};
  const auto stop = [&] {
    if (options.cancelled && options.cancelled()) throw Cancelled();
  };
  std::int64_t done = 0;
  const std::int64_t blocks = plan.blocks + std::ssize(templates) * plan.template_blocks;
  const auto after_block = [&] {
    stop();
    ++done;
    if (options.progress) options.progress(done, most * blocks);
  };

  PredictedStructure predicted;
  FoldingOutputs outputs;
  std::vector<std::int32_t> types;
  Context context;
  context.hooks.residues = observer.residues;
  while (predicted.passes < most) {
    stop();
    const bool first = predicted.passes == 0;
    const Tensor before = first ? Tensor() : outputs.structure.blocks.back().atoms;
    {
      // Keeps only the recycled outputs of the previous pass.
      outputs.distances = outputs.lddt = outputs.aligned_errors = outputs.letters = outputs.resolved = {};
      FoldingFeatures features = DrawFeatures(alignment, sampling, options.seed, predicted.passes, templates);
      features.covariation = covariation;
      types = features.types;
      outputs = model_->Pass(context, features, first ? nullptr : &outputs, after_block);
    }
    ++predicted.passes;
    const Tensor& atoms = outputs.structure.blocks.back().atoms;
    for (const float position : atoms.ToVector<float>())
      if (!std::isfinite(position)) model_->parameters().FailNotFinite(fmt::format("pass {}", predicted.passes));
    const bool settled = !first && options.tolerance > 0 && ChangeOf(before, atoms) < options.tolerance;
    if (observer.after_pass) observer.after_pass(outputs, settled || predicted.passes == most);
    if (settled) break;
  }

  predicted.plddt = ExpectedLddt(outputs.lddt.matrix<float>());
  predicted.mean_plddt = std::accumulate(predicted.plddt.begin(), predicted.plddt.end(), 0.0) /
                         static_cast<double>(predicted.plddt.size());
  if (!outputs.aligned_errors.empty()) {
    const Matrix<float> logits = outputs.aligned_errors.matrix<float>();
    predicted.errors = Tensor::From<float>(ExpectedErrors(logits), {residues, residues});
    predicted.most_error = LargestExpectedError(logits.columns);
    predicted.ptm = ExpectedTmScore(logits, residues);
  }
  if (!std::isfinite(predicted.mean_plddt) || (predicted.ptm && !std::isfinite(*predicted.ptm)))
    model_->parameters().FailNotFinite("its own estimate of errors");
  predicted.structure = StructureOf(outputs.structure.blocks.back().atoms, types, predicted.plddt);
  predicted.contacts =
      Tensor::From<float>(ContactProbabilities(outputs.distances.matrix<float>()), {residues, residues});
  predicted.single = outputs.single;
  predicted.pair = outputs.pair;
  return predicted;
}

}  // namespace headlight
