#include "headlight/models/alphafold.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/models/family.h"
#include "headlight/models/files/alphafold_names.h"
#include "headlight/models/files/config_part.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"
#include "headlight/protein/nn/covariation.h"
#include "headlight/protein/nn/gated_attention.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

constexpr std::int64_t kLetters = 23;  // number of letters in an alignment: the residue types, a gap and the mask

// Sets the sizes that several modules share.
AlphaFoldConfig Complete(AlphaFoldConfig config) {
  for (EvoformerConfig* const part : {&config.evoformer, &config.extra_rows}) {
    part->pair.pair = config.pair;
    part->pair.triangles = config.triangles;
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
    : FoldingModel(dtype), config_(Complete(Checked(config))) {
  const Scope root(parameters_), heads = root / "aux_heads", lddt = heads / "plddt";
  const auto linear = [](const Scope& scope, const char* name, std::int64_t inputs, std::int64_t outputs,
                         const LinearInitialization& initialization) {
    return Linear(scope, {name}, inputs, outputs, /*bias=*/true, /*stored_transposed=*/false, initialization);
  };
  input_.emplace(root / "input_embedder", config_.alignment, config_.pair, config_.farthest, config_.covariation);
  recycling_.emplace(root / "recycling_embedder", config_.alignment, config_.pair);
  if (config_.templates > 0)
    templates_.emplace(root / "template_embedder", config_.alignment, config_.pair, config_.template_stack);
  extra_ = linear(root / "extra_msa_embedder", "linear", kExtraFeatures, config_.extra, LeCunNormal(kExtraFeatures));
  extra_rows_.emplace(root / "extra_msa_stack", config_.extra_rows, config_.extra_blocks);
  evoformer_.emplace(root / "evoformer", config_.evoformer, config_.blocks);
  single_ = linear(root / "evoformer", "linear", config_.alignment, config_.single, LeCunNormal(config_.alignment));
  structure_.emplace(root / "structure_module", config_.structure);
  // These layers are fast, and are kept in float32 because they affect all results or compute atom positions.
  for (const char* part : {"input_embedder.", "recycling_embedder.", "evoformer.linear.", "structure_module."})
    parameters_.KeepExact(part);
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

FoldingPlan AlphaFold::plan() const {
  return {std::max<std::int64_t>(1, config_.rows - config_.templates),
          config_.most_extra_rows,
          config_.recycles,
          config_.extra_blocks + config_.blocks,
          config_.templates,
          config_.template_stack.blocks,
          config_.covariation};
}

void AlphaFold::CheckAlignment(const FoldingFeatures& features) const {
  const std::int64_t residues = std::ssize(features.types);
  const auto check = [&](const char* name, const Tensor& x, std::int64_t columns, std::int64_t least) {
    Check(x.shape().rank() == 2 && x.columns() == columns && x.rows() >= least * residues && x.rows() % residues == 0 &&
              x.dtype() == parameters_.dtype(),
          "{}: {} of shape {} for {} residues; rows of {} numbers are needed", parameters_.source(), name,
          ToString(x.shape()), residues, columns);
  };
  check("a target", features.target, kTargetFeatures, 1);
  Check(features.target.rows() == residues, "{}: a target of {} residues for {}", parameters_.source(),
        features.target.rows(), residues);
  check("an alignment", features.alignment, kAlignmentFeatures, 1);
  check("extra rows", features.extra, kExtraFeatures, 0);
  const Tensor& covariation = features.covariation;
  Check(covariation.empty() || config_.covariation, "{}: covariation, which this model does not read",
        parameters_.source());
  Check(covariation.empty() || (covariation.shape() == Shape{residues * residues, kCovariationFeatures} &&
                                covariation.dtype() == parameters_.dtype()),
        "{}: covariation of shape {} for {} residues", parameters_.source(), ToString(covariation.shape()), residues);
}

void AlphaFold::CheckTemplates(const FoldingFeatures& features) const {
  Check(features.templates.empty() || templates_, "{}: {} templates, and this model reads none", parameters_.source(),
        features.templates.size());
  const auto residues = std::ssize(features.types);
  for (const TemplateFeatures& one : features.templates) {
    const auto fits = [&](const Tensor& x, std::int64_t columns) {
      return x.shape() == Shape{residues, columns} && x.dtype() == parameters_.dtype();
    };
    Check(std::ssize(one.types) == residues && std::ssize(one.beta_known) == residues &&
              std::ssize(one.backbone_known) == residues && fits(one.beta, 3) && fits(one.angles, kTemplateAngles),
          "{}: a template of {} residues, with C betas of shape {} and angles of shape {}, for a chain of {}",
          parameters_.source(), one.types.size(), ToString(one.beta.shape()), ToString(one.angles.shape()), residues);
    for (const std::int32_t type : one.types)
      Check(type >= 0 && type <= kGap, "{}: a template's residue type {} of {}", parameters_.source(), type, kGap + 1);
  }
}

namespace {

// Returns which cells of the alignment are present, with one additional row per template. A template's cell is present
// if its psi angle is known.
AlignmentGrid::Marks WithTemplates(const FoldingFeatures& features) {
  auto marks = std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(features.alignment.rows()), 1);
  if (features.present != nullptr) *marks = *features.present;
  for (const TemplateFeatures& one : features.templates)
    Dispatch(one.angles.dtype(), [&]<typename T>(T) {
      for (const T known : one.angles.ViewColumns(kPsiKnown, 1).ToVector<T>()) marks->push_back(known != 0);
    });
  return marks;
}

}  // namespace

FoldingOutputs AlphaFold::Pass(Context& context, const FoldingFeatures& features, const FoldingOutputs* before,
                               const std::function<void()>& after_block) const {
  CheckChain(features, before);
  CheckAlignment(features);
  CheckTemplates(features);
  const std::int64_t residues = std::ssize(features.types);
  const RecycledState recycled =
      before == nullptr ? EmptyRecycledState(residues, config_.alignment, config_.pair, parameters_.dtype())
                        : Recycle(*before, features.types);
  FoldingState state = (*recycling_)(context, (*input_)(context, features), recycled);
  if (!features.templates.empty()) state = (*templates_)(context, state, features.templates, after_block);
  // Without extra rows, one row that is marked as absent is used. Its outer product is divided by a value near zero, as
  // in the training of the published models.
  const bool none = features.extra.rows() == 0;
  const Tensor extra = none ? Tensor::Zeros({residues, kExtraFeatures}, parameters_.dtype()) : features.extra;
  AlignmentGrid::Marks absent;
  if (none) absent = std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(residues));
  const AlignmentGrid extra_grid(extra.rows() / residues, residues, absent);
  const ResidueHook hook = std::exchange(context.hooks.residues, {});  // the hook is not called in the extra stack
  state.pair = (*extra_rows_)(context, {(*extra_)(context, extra), state.pair}, extra_grid, after_block).pair;
  context.hooks.residues = hook;
  const AlignmentGrid grid(state.alignment.rows() / residues, residues,
                           features.templates.empty() ? features.present : WithTemplates(features));
  state = (*evoformer_)(context, state, grid, after_block);

  FoldingOutputs outputs;
  outputs.alignment = FirstCells(state.alignment, features.alignment.rows());  // templates' rows are removed
  outputs.pair = state.pair;
  outputs.single = (*single_)(context, FirstCells(state.alignment, residues));
  outputs.structure = (*structure_)(context, outputs.single, state.pair, features.types);
  const Tensor distances = (*distances_)(context, state.pair);
  outputs.distances = ops::Add(distances, ops::Embedding(distances, grid.transposed));
  const Tensor hidden = lddt_->first(context, lddt_->norm(context, outputs.structure.single), Activation::relu);
  outputs.lddt = lddt_->third(context, lddt_->second(context, hidden, Activation::relu));
  outputs.letters = (*letters_)(context, outputs.alignment);
  outputs.resolved = (*resolved_)(context, outputs.single);
  if (aligned_errors_) outputs.aligned_errors = (*aligned_errors_)(context, state.pair);
  return outputs;
}

Json::Object AlphaFold::Description() const {
  return {{"blocks", config_.blocks},       {"extra_blocks", config_.extra_blocks},
          {"alignment", config_.alignment}, {"pair", config_.pair},
          {"single", config_.single},       {"structure_blocks", config_.structure.blocks},
          {"rows", config_.rows},           {"extra_rows", config_.most_extra_rows},
          {"recycles", config_.recycles},   {"aligned_errors", config_.error_bins > 0},
          {"templates", config_.templates}};
}

namespace {

// Describes the settings of a stack of blocks under the names of OpenFold's configuration.
void DescribeStack(ConfigTable& table, EvoformerConfig& block, int& blocks) {
  table.Size("c_hidden_msa_att", block.head_dim, "the head dimension of MSA attention");
  table.Integer("no_heads_msa", block.heads, "the heads of MSA attention", 1, 1024);
  table.Integer("c_hidden_opm", block.outer_product, "the channels of outer products", 1, 1024);
  table.Size("c_hidden_mul", block.pair.channels, "the channels of triangle multiplication");
  table.Size("c_hidden_pair_att", block.pair.head_dim, "the head dimension of triangle attention");
  table.Integer("no_heads_pair", block.pair.heads, "the heads of triangle attention", 1, 1024);
  table.Layers("no_blocks", blocks, "the number of blocks");
  table.Integer("transition_n", block.transition, "the width of transitions", 1, 1024);
  table.Probability("msa_dropout", block.dropout);
  table.Probability("pair_dropout", block.pair.dropout);
}

void DescribeTemplates(ConfigTable& table, TemplateConfig& config) {
  table.Size("c_t", config.stack.pair, "the width of the template pair representation");
  DescribePart(table, "template_pair_stack", [&](ConfigTable& part) {
    part.Size("c_hidden_tri_mul", config.stack.channels, "the channels of triangle multiplication");
    part.Size("c_hidden_tri_att", config.stack.head_dim, "the head dimension of triangle attention");
    part.Integer("no_heads", config.stack.heads, "the heads of triangle attention", 1, 1024);
    part.Layers("no_blocks", config.blocks, "the number of blocks");
    part.Integer("pair_transition_n", config.stack.transition, "the width of transitions", 1, 1024);
    part.Probability("dropout_rate", config.stack.dropout);
  });
  DescribePart(table, "template_pointwise_attention", [&](ConfigTable& part) {
    part.Size("c_hidden", config.head_dim, "the head dimension of template attention");
    part.Integer("no_heads", config.heads, "the heads of template attention", 1, 1024);
  });
}

void DescribeStructure(ConfigTable& table, StructureModuleConfig& config) {
  table.Size("c_ipa", config.attention.head_dim, "the size of a head");
  table.Integer("no_heads_ipa", config.attention.heads, "the number of heads", 1, 1024);
  table.Integer("no_qk_points", config.attention.query_points, "a head's query points", 1, 1024);
  table.Integer("no_v_points", config.attention.value_points, "a head's value points", 1, 1024);
  table.Size("c_resnet", config.angles, "the width of the angle network");
  table.Layers("no_blocks", config.blocks, "the number of blocks");
  table.Layers("no_transition_layers", config.transition_layers, "the number of transition layers");
  table.Layers("no_resnet_blocks", config.angle_blocks, "the number of blocks of the angle network");
  table.Probability("dropout_rate", config.dropout);
  table.Number("trans_scale_factor", config.scale, 1e-3, 1e3);
  table.Epsilon("epsilon", config.epsilon);
}

}  // namespace

void Describe(ConfigTable& table, AlphaFoldConfig& config) {
  table.Note("model_type", "alphafold2");
  table.RefuseUnknown();
  table.Size("c_m", config.alignment, "the alignment's width");
  table.Size("c_e", config.extra, "the extra rows' width");
  table.Size("c_z", config.pair, "the pairs' width");
  table.Size("c_s", config.single, "the residues' width");
  table.Flag("triangle_updates", config.triangles);
  table.Flag("covariation", config.covariation);
  table.Integer("relpos_k", config.farthest, "the largest relative position", 1, 1 << 16);
  const auto stack = [](EvoformerConfig& block, int& blocks) {
    return [&](ConfigTable& part) { DescribeStack(part, block, blocks); };
  };
  DescribePart(table, "evoformer_stack", stack(config.evoformer, config.blocks));
  DescribePart(table, "extra_msa_stack", stack(config.extra_rows, config.extra_blocks));
  DescribePart(table, "structure_module", [&](ConfigTable& part) { DescribeStructure(part, config.structure); });
  table.Integer("max_templates", config.templates, "the number of templates", 0, 1024);
  DescribePart(table, "template", [&](ConfigTable& part) { DescribeTemplates(part, config.template_stack); });
  table.Size("plddt_hidden", config.lddt_hidden, "the width of the head for lDDT");
  table.Integer("plddt_bins", config.lddt_bins, "the bins of lDDT", 2, 1 << 16);
  table.Integer("distogram_bins", config.distance_bins, "the bins of distances", 2, 1 << 16);
  table.Integer("max_msa_clusters", config.rows, "the rows of an alignment", 1, 1 << 20);
  table.Integer("max_extra_msa", config.most_extra_rows, "the extra rows of an alignment", 0, 1 << 20);
  table.Integer("max_recycling_iters", config.recycles, "the passes after the first", 0, 1000);
}

namespace {

// A weight that exists only in the models with templates (1 and 2).
constexpr std::string_view kTemplateWeight = "template_embedder.template_pair_embedder.linear.weight";
constexpr std::int64_t kPublishedTemplates = 4;

// Returns the configuration of a file published by DeepMind, which does not contain one. The sizes follow from the
// arrays' shapes, and the number of extra rows follows from the file name.
AlphaFoldConfig PublishedConfig(const Safetensors& file) {
  const auto axis = [&](std::string_view name, std::size_t index) { return PublishedAxis(file, name, index); };
  for (const auto& [name, stored] : file.tensors())
    Check(name.find("~_relative_encoding") == std::string::npos,
          "{}: is a model of complexes (multimer); only models of single chains are supported", file.path());
  AlphaFoldConfig config;
  config.alignment = axis("evoformer/preprocess_1d//weights", 1);
  config.extra = axis("evoformer/extra_msa_activations//weights", 1);
  config.pair = axis("evoformer/left_single//weights", 1);
  config.single = axis("evoformer/single_activations//weights", 1);
  config.farthest = static_cast<std::int32_t>((axis("evoformer/pair_activiations//weights", 0) - 1) / 2);
  const auto pair_stack = [&](const std::string& name, PairStackConfig& block) {
    const std::string query = name + "triangle_attention_starting_node/attention//query_w";
    block.channels = axis(name + "triangle_multiplication_outgoing/left_projection//weights", 2);
    block.heads = static_cast<std::int32_t>(axis(query, 2));
    block.head_dim = axis(query, 3);
    return static_cast<int>(axis(query, 0));
  };
  const auto stack = [&](const std::string& name, std::int64_t width, EvoformerConfig& block) {
    const std::string rows = name + "msa_row_attention_with_pair_bias/attention//query_w";
    block.heads = static_cast<std::int32_t>(axis(rows, 2));
    block.head_dim = axis(rows, 3);
    block.outer_product = axis(name + "outer_product_mean/left_projection//weights", 2);
    block.transition = axis(name + "msa_transition/transition1//weights", 2) / std::max<std::int64_t>(width, 1);
    return pair_stack(name, block.pair);
  };
  config.blocks = stack("evoformer/evoformer_iteration/", config.alignment, config.evoformer);
  config.extra_blocks = stack("evoformer/extra_msa_stack/", config.extra, config.extra_rows);
  if (file.contains(PublishedNameOf(kTemplateWeight).name)) {
    const std::string templates = "evoformer/template_embedding/", one = templates + "single_template_embedding/",
                      blocks = one + "template_pair_stack/__layer_stack_no_state/";
    TemplateConfig& part = config.template_stack;
    config.templates = kPublishedTemplates;
    part.stack.pair = axis(one + "embedding2d//weights", 1);
    part.blocks = pair_stack(blocks, part.stack);
    part.stack.transition =
        axis(blocks + "pair_transition/transition1//weights", 2) / std::max<std::int64_t>(part.stack.pair, 1);
    part.heads = static_cast<std::int32_t>(axis(templates + "attention//query_w", 1));
    part.head_dim = axis(templates + "attention//query_w", 2);
  }
  const std::string fold = "structure_module/fold_iteration/", points = fold + "invariant_point_attention";
  ops::InvariantPointShape& shape = config.structure.attention;
  shape.heads = static_cast<std::int32_t>(axis(points + "//trainable_point_weights", 0));
  const std::int64_t heads = std::max<std::int64_t>(shape.heads, 1);
  shape.head_dim = axis(points + "/q_scalar//weights", 1) / heads;
  shape.query_points = static_cast<std::int32_t>(axis(points + "/q_point_local//weights", 1) / (3 * heads));
  shape.value_points =
      static_cast<std::int32_t>(axis(points + "/kv_point_local//weights", 1) / (3 * heads)) - shape.query_points;
  config.structure.angles = axis(fold + "rigid_sidechain/input_projection//weights", 1);
  config.lddt_hidden = axis("predicted_lddt_head/act_0//weights", 1);
  config.lddt_bins = axis("predicted_lddt_head/logits//weights", 1);
  config.distance_bins = axis("distogram_head/half_logits//weights", 1);
  const std::string name = file.path().substr(file.path().rfind('/') + 1);
  for (const char* const many : {"model_1", "model_3", "model_4"})
    if (name.find(many) != std::string::npos) config.most_extra_rows = 5120;
  return config;
}

std::unique_ptr<AlphaFold> LoadAlphaFold(const ModelFolder& files, const LoadModelOptions& options) {
  const bool published = IsNpz(files.path);
  Safetensors weights = published ? Safetensors::Of(files.path, {}) : WithOpenFoldNames(files.weights);
  AlphaFoldConfig config = published ? PublishedConfig(files.weights) : AlphaFoldConfig{};
  if (!published) ReadConfig(files.config, config, options.dropout);
  const std::string bias = "aux_heads.tm.linear.bias", name = published ? PublishedNameOf(bias).name : bias;
  const Safetensors& stored = published ? files.weights : weights;
  if (stored.contains(name)) config.error_bins = stored.At(name).shape.elements();
  if (config.templates == 0 && weights.contains(kTemplateWeight)) config.templates = kPublishedTemplates;
  auto model = std::make_unique<AlphaFold>(config);
  if (published) weights = FromPublished(files.weights, model->parameters());
  LoadWeights(files, weights, options, model->parameters(), {});
  return model;
}

}  // namespace

namespace families {
extern const Family alphafold = MakeFamily<AlphaFold, LoadAlphaFold>({"alphafold2", "alphafold"});
}  // namespace families

void AlphaFold::Save(const std::string& folder, Compute compute) const {
  SaveConfigAndWeights(folder, WriteConfig(config_), parameters_, compute);
}

}  // namespace headlight
