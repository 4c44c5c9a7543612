#include "headlight/models/alphafold.h"

#include <memory>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/nn/gated_attention.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

constexpr std::int64_t kLetters = 23;  // of an alignment: the residue types, a gap and the mask

// The configuration with the widths that its parts share.
AlphaFoldConfig Complete(AlphaFoldConfig config) {
  for (EvoformerConfig* const part : {&config.evoformer, &config.extra_rows}) {
    part->pair.pair = config.pair;
    part->pair.transition = part->transition;
  }
  config.evoformer.alignment = config.alignment;
  config.evoformer.global_columns = false;
  config.extra_rows.alignment = config.extra;
  config.extra_rows.global_columns = true;
  config.structure.single = config.single;
  config.structure.pair = config.pair;
  return config;
}

Linear Head(const Scope& scope, std::int64_t inputs, std::int64_t outputs) {
  return {scope, {"linear"}, inputs, outputs, /*bias=*/true, /*stored_transposed=*/false, kZeroLinear};
}

}  // namespace

AlphaFold::AlphaFold(const AlphaFoldConfig& config, DType dtype)
    : FoldingModel(dtype), config_((CheckConfig(config), Complete(config))) {
  const Scope root(parameters_), heads = root / "aux_heads", lddt = heads / "plddt";
  const auto linear = [](const Scope& scope, const char* name, std::int64_t inputs, std::int64_t outputs,
                         const LinearInitialisation& initialisation) {
    return Linear(scope, {name}, inputs, outputs, /*bias=*/true, /*stored_transposed=*/false, initialisation);
  };
  input_.emplace(root / "input_embedder", config_.alignment, config_.pair, config_.farthest);
  recycling_.emplace(root / "recycling_embedder", config_.alignment, config_.pair);
  extra_ = linear(root / "extra_msa_embedder", "linear", kExtraFeatures, config_.extra, LeCunNormal(kExtraFeatures));
  extra_rows_.emplace(root / "extra_msa_stack", config_.extra_rows, config_.extra_blocks);
  evoformer_.emplace(root / "evoformer", config_.evoformer, config_.blocks);
  single_ = linear(root / "evoformer", "linear", config_.alignment, config_.single, LeCunNormal(config_.alignment));
  structure_.emplace(root / "structure_module", config_.structure);
  const std::int64_t hidden = config_.lddt_hidden;
  lddt_.emplace(LddtHead{LayerNorm(lddt / "layer_norm", config_.single),
                         linear(lddt, "linear_1", config_.single, hidden, HeNormal(config_.single)),
                         linear(lddt, "linear_2", hidden, hidden, HeNormal(hidden)),
                         linear(lddt, "linear_3", hidden, config_.lddt_bins, kZeroLinear)});
  distances_ = Head(heads / "distogram", config_.pair, config_.distance_bins);
  letters_ = Head(heads / "masked_msa", config_.alignment, kLetters);
  resolved_ = Head(heads / "experimentally_resolved", config_.single, kAtom37);
  if (config_.error_bins > 0) aligned_errors_ = Head(heads / "tm", config_.pair, config_.error_bins);
}

FoldingOutputs AlphaFold::Fold(Context& context, std::span<const FoldingFeatures> passes) const {
  Check(!passes.empty(), "{}: no pass over a chain", parameters_.source());
  for (const FoldingFeatures& features : passes) {
    const std::int64_t residues = std::ssize(features.types);
    const auto check = [&](const char* name, const Tensor& x, std::int64_t columns) {
      Check(x.shape().rank() == 2 && x.columns() == columns && x.rows() >= residues && x.rows() % residues == 0 &&
                x.dtype() == parameters_.dtype(),
            "{}: {} of shape {} for {} residues, where rows of {} numbers are needed", parameters_.source(), name,
            ToString(x.shape()), residues, columns);
    };
    Check(residues >= 1 && residues == std::ssize(passes.front().types) && residues == std::ssize(features.places),
          "{}: {} residues at {} places, in a pass after one of {}", parameters_.source(), residues,
          features.places.size(), passes.front().types.size());
    for (const std::int32_t type : features.types)
      Check(type >= 0 && type < kResidueTypes, "{}: residue type {} of {}", parameters_.source(), type, kResidueTypes);
    check("a target", features.target, kTargetFeatures);
    Check(features.target.rows() == residues, "{}: a target of {} residues for {}", parameters_.source(),
          features.target.rows(), residues);
    check("an alignment", features.alignment, kAlignmentFeatures);
    check("extra rows", features.extra, kExtraFeatures);
  }
  RecycledState recycled =
      NothingRecycled(std::ssize(passes.front().types), config_.alignment, config_.pair, parameters_.dtype());
  for (const FoldingFeatures& features : passes.first(passes.size() - 1)) {
    context.NextDropout(0);  // so that each pass has other random numbers
    Context early = context;
    early.tape = nullptr;
    early.sink = {};
    recycled = Recycle(Pass(early, features, recycled), features.types);
  }
  return Pass(context, passes.back(), recycled);
}

FoldingOutputs AlphaFold::Pass(Context& context, const FoldingFeatures& features, const RecycledState& recycled) const {
  const std::int64_t residues = std::ssize(features.types);
  FoldingState state = (*recycling_)(context, (*input_)(context, features), recycled);
  const AlignmentGrid extra_grid(features.extra.rows() / residues, residues);
  state.pair = (*extra_rows_)(context, {(*extra_)(context, features.extra), state.pair}, extra_grid).pair;
  const AlignmentGrid grid(features.alignment.rows() / residues, residues, features.present);
  state = (*evoformer_)(context, state, grid);

  FoldingOutputs outputs;
  outputs.alignment = state.alignment;
  outputs.pair = state.pair;
  outputs.single = (*single_)(context, FirstRow(state.alignment, residues));
  outputs.structure = (*structure_)(context, outputs.single, state.pair, features.types);
  const Tensor distances = (*distances_)(context, state.pair);
  outputs.distances = ops::Add(distances, ops::Embedding(distances, grid.transposed));
  const Tensor hidden = lddt_->first(context, lddt_->norm(context, outputs.structure.single), Activation::relu);
  outputs.lddt = lddt_->third(context, lddt_->second(context, hidden, Activation::relu));
  outputs.letters = (*letters_)(context, state.alignment);
  outputs.resolved = (*resolved_)(context, outputs.single);
  if (aligned_errors_) outputs.aligned_errors = (*aligned_errors_)(context, state.pair);
  return outputs;
}

Json::Object AlphaFold::Description() const {
  return {{"blocks", config_.blocks},
          {"extra_blocks", config_.extra_blocks},
          {"alignment", config_.alignment},
          {"pair", config_.pair},
          {"single", config_.single},
          {"structure_blocks", config_.structure.blocks},
          {"aligned_errors", config_.error_bins > 0}};
}

namespace {

// A stack of blocks, under the names of OpenFold's configuration.
struct StackConfig {
  EvoformerConfig& block;
  int& blocks;
};

void Describe(ConfigTable& table, StackConfig& config) {
  EvoformerConfig& block = config.block;
  table.Size("c_hidden_msa_att", block.head_dim, "a head's numbers in the alignment's attention");
  table.Integer("no_heads_msa", block.heads, "the heads of the alignment's attention", 1, 1024);
  table.Integer("c_hidden_opm", block.outer_product, "the channels of outer products", 1, 1024);
  table.Size("c_hidden_mul", block.pair.channels, "the channels of triangle multiplication");
  table.Size("c_hidden_pair_att", block.pair.head_dim, "a head's numbers in triangle attention");
  table.Integer("no_heads_pair", block.pair.heads, "the heads of triangle attention", 1, 1024);
  table.Layers("no_blocks", config.blocks, "the number of blocks");
  table.Integer("transition_n", block.transition, "the width of transitions", 1, 1024);
  table.Probability("msa_dropout", block.dropout);
  table.Probability("pair_dropout", block.pair.dropout);
}

void Describe(ConfigTable& table, StructureModuleConfig& config) {
  table.Size("c_ipa", config.attention.head_dim, "a head's numbers");
  table.Integer("no_heads_ipa", config.attention.heads, "the number of heads", 1, 1024);
  table.Integer("no_qk_points", config.attention.query_points, "a head's query points", 1, 1024);
  table.Integer("no_v_points", config.attention.value_points, "a head's value points", 1, 1024);
  table.Size("c_resnet", config.angles, "the width where angles are computed");
  table.Layers("no_blocks", config.blocks, "the number of blocks");
  table.Layers("no_transition_layers", config.transition_layers, "the number of transition layers");
  table.Layers("no_resnet_blocks", config.angle_blocks, "the number of blocks where angles are computed");
  table.Probability("dropout_rate", config.dropout);
  table.Number("trans_scale_factor", config.scale, 1e-3, 1e3);
  table.Epsilon("epsilon", config.epsilon);
}

// An object of settings within the configuration.
void DescribePart(ConfigTable& table, const char* key, auto& part) {
  if (table.reads()) {
    ConfigTable of_part(table.json().Get(key, Json::Object{}));
    Describe(of_part, part);
    of_part.RefuseUnread();
  } else if (table.writes()) {
    ConfigTable of_part(ConfigTable::Pass::write);
    Describe(of_part, part);
    table.Note(key, std::move(of_part).written());
  } else {
    Describe(table, part);
  }
  table.Harmless({key});
}

}  // namespace

void Describe(ConfigTable& table, AlphaFoldConfig& config) {
  table.Note("model_type", "alphafold2");
  table.Size("c_m", config.alignment, "the alignment's width");
  table.Size("c_e", config.extra, "the extra rows' width");
  table.Size("c_z", config.pair, "the pairs' width");
  table.Size("c_s", config.single, "the residues' width");
  table.Integer("relpos_k", config.farthest, "the farthest relative place", 1, 1 << 16);
  StackConfig evoformer = {config.evoformer, config.blocks}, extra = {config.extra_rows, config.extra_blocks};
  DescribePart(table, "evoformer_stack", evoformer);
  DescribePart(table, "extra_msa_stack", extra);
  DescribePart(table, "structure_module", config.structure);
  table.Size("plddt_hidden", config.lddt_hidden, "the width of the head for lDDT");
  table.Integer("plddt_bins", config.lddt_bins, "the bins of lDDT", 2, 1 << 16);
  table.Integer("distogram_bins", config.distance_bins, "the bins of distances", 2, 1 << 16);
}

namespace {

std::unique_ptr<AlphaFold> Load(const ModelFolder& files, const LoadModelOptions& options) {
  AlphaFoldConfig config;
  ReadConfig(files.config, config, options.dropout);
  const std::string bias = "aux_heads.tm.linear.bias";
  if (files.weights.contains(bias)) config.error_bins = files.weights.tensors().at(bias).shape.elements();
  auto model = std::make_unique<AlphaFold>(config);
  LoadWeights(files, options, model->parameters(), {});
  return model;
}

}  // namespace

namespace families {
extern const Family alphafold = MakeFamily<AlphaFold, Load>({"alphafold2"});
}  // namespace families

void AlphaFold::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
