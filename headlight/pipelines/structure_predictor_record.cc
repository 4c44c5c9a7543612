// Records the intermediate results of a StructurePredictor, for pages and plots.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/inspect/structure_record.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/pipelines/prediction_observer.h"
#include "headlight/pipelines/structure_predictor.h"
#include "headlight/protein/predicted_error.h"
#include "headlight/protein/superposition.h"

namespace headlight {
namespace {

constexpr std::size_t kAlpha = 1;  // index of CA in BackboneAtoms (N, CA, C, O) and in atom14
constexpr float kMostDistance = 22;

// Titles, indexed by ResidueAttentionKind.
constexpr std::array kTitles = {"Row attention", "Triangle attention (starting node)",
                                "Triangle attention (ending node)", "Invariant point attention"};

std::vector<BackboneAtoms> BackboneOf(const Tensor& atoms) {
  std::vector<BackboneAtoms> backbone;
  for (std::int64_t i = 0; i < atoms.rows(); ++i) {
    const float* const places = atoms.matrix<float>().row(i);
    BackboneAtoms& residue = backbone.emplace_back();
    for (std::size_t atom = 0; atom < residue.size(); ++atom)
      residue[atom] = {places[3 * atom], places[3 * atom + 1], places[3 * atom + 2]};
  }
  return backbone;
}

std::vector<Vector3> AlphasOf(const std::vector<BackboneAtoms>& backbone) {
  std::vector<Vector3> alphas;
  for (const BackboneAtoms& atoms : backbone) alphas.push_back(atoms[kAlpha]);
  return alphas;
}

// Collects the values of a StructureRecord from all passes. The attention is from the last pass.
class Collector {
 public:
  Collector(StructureRecord& record, std::optional<int> layer) : record_(record), layer_(layer) {}

  void Look(const ResidueWeights& look) {
    const int layer = layers_[look.kind]++;
    if (layer_ && layer != *layer_) return;
    const Tensor weights = look.weights.Clone();
    weights_ += weights.elements();
    Check(weights_ <= kMostWeights, "{} attention weights are too many for a page; choose one layer", weights_);
    const std::span<const float> numbers = weights.span<float>();
    record_.attention.push_back({kTitles[static_cast<std::size_t>(look.kind)],
                                 layer,
                                 static_cast<int>(weights.shape()[1]),
                                 {numbers.begin(), numbers.end()}});
  }

  void EndPass(const FoldingOutputs& outputs, bool last) {
    ++passes_;
    for (std::size_t block = 0; block < outputs.structure.blocks.size(); ++block)
      record_.moments.push_back(
          {fmt::format("pass {}, block {}", passes_, block + 1), BackboneOf(outputs.structure.blocks[block].atoms)});
    if (last) record_.distances = {ExpectedDistances(outputs.distances.matrix<float>()), kMostDistance};
    if (last) return;
    record_.attention.clear();
    layers_.clear();
    weights_ = 0;
  }

 private:
  StructureRecord& record_;
  std::optional<int> layer_;
  std::map<ResidueAttentionKind, int> layers_;
  std::int64_t weights_ = 0;
  int passes_ = 0;
};

}  // namespace

StructureRecord StructurePredictor::Look(const AlignmentTable& alignment, const PredictOptions& options,
                                         std::optional<int> layer) const {
  StructureRecord record;
  Collector collector(record, layer);
  const PredictedStructure predicted =
      Run(alignment, options,
          {.residues = [&](const ResidueWeights& look) { collector.Look(look); },
           .after_pass = [&](const FoldingOutputs& outputs, bool last) { collector.EndPass(outputs, last); }});
  Check(!record.attention.empty(), "{}: there is no layer {}", model_->parameters().source(), layer.value_or(0) + 1);
  record.chain = predicted.structure.chains.front();
  if (!predicted.errors.empty()) {
    const std::span<const float> errors = predicted.errors.span<float>();
    record.errors = {{errors.begin(), errors.end()}, static_cast<float>(predicted.most_error)};
  }
  std::ranges::stable_sort(record.attention, {}, &ResidueAttention::title);
  const std::vector<Vector3> last = AlphasOf(record.moments.back().backbone);
  for (StructureMoment& moment : record.moments) {
    const RigidFrame motion = Superpose(AlphasOf(moment.backbone), last);
    for (BackboneAtoms& residue : moment.backbone)
      for (Vector3& atom : residue) atom = motion(atom);
  }
  CheckStructure(record);
  return record;
}

}  // namespace headlight
