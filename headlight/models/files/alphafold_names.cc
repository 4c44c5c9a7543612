#include "headlight/models/files/alphafold_names.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

constexpr std::string_view kPrefix = "alphafold/alphafold_iteration/";

using Names = std::map<std::string, std::string, std::less<>>;  // maps OpenFold's module names to DeepMind's

// Returns the names of modules that are not in a block.
const Names& ModuleNames() {
  static const Names names = [] {
    Names all = {{"input_embedder.linear_tf_z_i", "evoformer/left_single"},
                 {"input_embedder.linear_tf_z_j", "evoformer/right_single"},
                 {"input_embedder.linear_tf_m", "evoformer/preprocess_1d"},
                 {"input_embedder.linear_msa_m", "evoformer/preprocess_msa"},
                 {"input_embedder.linear_relpos", "evoformer/pair_activiations"},
                 {"recycling_embedder.linear", "evoformer/prev_pos_linear"},
                 {"recycling_embedder.layer_norm_m", "evoformer/prev_msa_first_row_norm"},
                 {"recycling_embedder.layer_norm_z", "evoformer/prev_pair_norm"},
                 {"template_embedder.template_single_embedder.linear_1", "evoformer/template_single_embedding"},
                 {"template_embedder.template_single_embedder.linear_2", "evoformer/template_projection"},
                 {"template_embedder.template_pair_embedder.linear",
                  "evoformer/template_embedding/single_template_embedding/embedding2d"},
                 {"template_embedder.template_pair_stack.layer_norm",
                  "evoformer/template_embedding/single_template_embedding/output_layer_norm"},
                 {"template_embedder.template_pointwise_att.mha", "evoformer/template_embedding/attention"},
                 {"extra_msa_embedder.linear", "evoformer/extra_msa_activations"},
                 {"evoformer.linear", "evoformer/single_activations"},
                 {"structure_module.layer_norm_s", "structure_module/single_layer_norm"},
                 {"structure_module.layer_norm_z", "structure_module/pair_layer_norm"},
                 {"structure_module.linear_in", "structure_module/initial_projection"},
                 {"aux_heads.plddt.layer_norm", "predicted_lddt_head/input_layer_norm"},
                 {"aux_heads.plddt.linear_1", "predicted_lddt_head/act_0"},
                 {"aux_heads.plddt.linear_2", "predicted_lddt_head/act_1"},
                 {"aux_heads.plddt.linear_3", "predicted_lddt_head/logits"},
                 {"aux_heads.distogram.linear", "distogram_head/half_logits"},
                 {"aux_heads.masked_msa.linear", "masked_msa_head/logits"},
                 {"aux_heads.experimentally_resolved.linear", "experimentally_resolved_head/logits"},
                 {"aux_heads.tm.linear", "predicted_aligned_error_head/logits"}};
    const Names fold = {{"ipa", "invariant_point_attention"},
                        {"ipa.linear_q", "invariant_point_attention/q_scalar"},
                        {"ipa.linear_kv", "invariant_point_attention/kv_scalar"},
                        {"ipa.linear_q_points.linear", "invariant_point_attention/q_point_local"},
                        {"ipa.linear_kv_points.linear", "invariant_point_attention/kv_point_local"},
                        {"ipa.linear_b", "invariant_point_attention/attention_2d"},
                        {"ipa.linear_out", "invariant_point_attention/output_projection"},
                        {"layer_norm_ipa", "attention_layer_norm"},
                        {"transition.layers.0.linear_1", "transition"},
                        {"transition.layers.0.linear_2", "transition_1"},
                        {"transition.layers.0.linear_3", "transition_2"},
                        {"transition.layer_norm", "transition_layer_norm"},
                        {"bb_update.linear", "affine_update"},
                        {"angle_resnet.linear_in", "rigid_sidechain/input_projection"},
                        {"angle_resnet.linear_initial", "rigid_sidechain/input_projection_1"},
                        {"angle_resnet.layers.0.linear_1", "rigid_sidechain/resblock1"},
                        {"angle_resnet.layers.0.linear_2", "rigid_sidechain/resblock2"},
                        {"angle_resnet.layers.1.linear_1", "rigid_sidechain/resblock1_1"},
                        {"angle_resnet.layers.1.linear_2", "rigid_sidechain/resblock2_1"},
                        {"angle_resnet.linear_out", "rigid_sidechain/unnormalized_angles"}};
    for (const auto& [ours, theirs] : fold)
      all.emplace("structure_module." + ours, "structure_module/fold_iteration/" + theirs);
    return all;
  }();
  return names;
}

// Returns the names of modules in a block.
const Names& BlockNames() {
  static const Names names = [] {
    Names all = {{"msa_att_row", "msa_row_attention_with_pair_bias"},
                 {"msa_att_row.layer_norm_m", "msa_row_attention_with_pair_bias/query_norm"},
                 {"msa_att_row.layer_norm_z", "msa_row_attention_with_pair_bias/feat_2d_norm"},
                 {"msa_att_row.mha", "msa_row_attention_with_pair_bias/attention"},
                 {"msa_att_col._msa_att.layer_norm_m", "msa_column_attention/query_norm"},
                 {"msa_att_col._msa_att.mha", "msa_column_attention/attention"},
                 {"msa_att_col.layer_norm_m", "msa_column_global_attention/query_norm"},
                 {"msa_att_col.global_attention", "msa_column_global_attention/attention"},
                 {"outer_product_mean", "outer_product_mean"},
                 {"outer_product_mean.layer_norm", "outer_product_mean/layer_norm_input"},
                 {"outer_product_mean.linear_1", "outer_product_mean/left_projection"},
                 {"outer_product_mean.linear_2", "outer_product_mean/right_projection"}};
    for (const auto& [ours, theirs] :
         {std::pair("msa_transition", "msa_transition"), std::pair("pair_stack.pair_transition", "pair_transition")}) {
      all.emplace(fmt::format("{}.layer_norm", ours), fmt::format("{}/input_layer_norm", theirs));
      all.emplace(fmt::format("{}.linear_1", ours), fmt::format("{}/transition1", theirs));
      all.emplace(fmt::format("{}.linear_2", ours), fmt::format("{}/transition2", theirs));
    }
    for (const auto& [ours, theirs] : {std::pair("start", "starting"), std::pair("end", "ending")}) {
      const std::string from = fmt::format("pair_stack.tri_att_{}", ours),
                        to = fmt::format("triangle_attention_{}_node", theirs);
      all.emplace(from, to);
      all.emplace(from + ".layer_norm", to + "/query_norm");
      all.emplace(from + ".mha", to + "/attention");
    }
    for (const auto& [ours, theirs] : {std::pair("out", "outgoing"), std::pair("in", "incoming")}) {
      const std::string from = fmt::format("pair_stack.tri_mul_{}.", ours),
                        to = fmt::format("triangle_multiplication_{}/", theirs);
      const bool swapped = std::string_view(ours) == "in";
      const std::string a = swapped ? "right" : "left", b = swapped ? "left" : "right";
      all.emplace(from + "layer_norm_in", to + "layer_norm_input");
      all.emplace(from + "layer_norm_out", to + "center_layer_norm");
      all.emplace(from + "linear_a_p", to + a + "_projection");
      all.emplace(from + "linear_b_p", to + b + "_projection");
      all.emplace(from + "linear_a_g", to + a + "_gate");
      all.emplace(from + "linear_b_g", to + b + "_gate");
      all.emplace(from + "linear_g", to + "gating_linear");
      all.emplace(from + "linear_z", to + "output_projection");
    }
    return all;
  }();
  return names;
}

// An array that DeepMind stores in the parent module, but OpenFold in a separate module. `end` is the suffix of
// OpenFold's name, and `name` is DeepMind's name.
struct OwnArray {
  std::string_view end, name;
};
constexpr OwnArray kOwnArrays[] = {{".linear_q.weight", "query_w"},       {".linear_k.weight", "key_w"},
                                   {".linear_v.weight", "value_w"},       {".linear_o.weight", "output_w"},
                                   {".linear_o.bias", "output_b"},        {".linear_g.weight", "gating_w"},
                                   {".linear_g.bias", "gating_b"},        {".linear_z.weight", "feat_2d_weights"},
                                   {".linear.weight", "feat_2d_weights"}, {".linear_out.weight", "output_w"},
                                   {".linear_out.bias", "output_b"},      {".head_weights", "trainable_point_weights"}};

// Returns the array's name, or "" if its module is not in `names`.
std::string ArrayName(std::string_view openfold, const Names& names) {
  const std::size_t dot = openfold.rfind('.');
  if (dot == std::string_view::npos) return "";
  const std::string_view leaf = openfold.substr(dot + 1);
  if (const auto module = names.find(openfold.substr(0, dot)); module != names.end() && leaf != "head_weights") {
    const bool norm = module->first.find("layer_norm") != std::string::npos;
    const bool weight = leaf == "weight";
    return module->second + "//" + (norm ? (weight ? "scale" : "offset") : weight ? "weights" : "bias");
  }
  for (const auto& [end, name] : kOwnArrays) {
    if (!openfold.ends_with(end)) continue;
    const auto module = names.find(openfold.substr(0, openfold.size() - end.size()));
    if (module != names.end()) return fmt::format("{}//{}", module->second, name);
  }
  return "";
}

// Returns true if `axes` is the shape of an [inputs, outputs] matrix. Inputs and outputs may each be several axes.
bool HasAxes(std::span<const std::int64_t> axes, std::int64_t inputs, std::int64_t outputs) {
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis < axes.size() && product < inputs; ++axis) {
    product *= axes[axis];
    if (product != inputs) continue;
    std::int64_t rest = 1;
    for (const std::int64_t one : axes.subspan(axis + 1)) rest *= one;
    return rest == outputs;
  }
  return product == inputs && inputs == 1;
}

}  // namespace

PublishedName PublishedNameOf(std::string_view openfold) {
  const std::string_view templates = "template_embedder.template_pair_stack.blocks.";
  for (const auto& [ours, theirs] :
       {std::pair("evoformer.blocks.", "evoformer/evoformer_iteration/"),
        std::pair("extra_msa_stack.blocks.", "evoformer/extra_msa_stack/"),
        std::pair(
            templates.data(),
            "evoformer/template_embedding/single_template_embedding/template_pair_stack/__layer_stack_no_state/")}) {
    if (!openfold.starts_with(ours)) continue;
    const std::string_view rest = openfold.substr(std::string_view(ours).size());
    PublishedName published;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), published.block);
    if (error != std::errc() || end == rest.data() + rest.size()) return {};
    const std::string in_block =
        (ours == templates ? "pair_stack." : "") + std::string(end + 1, rest.data() + rest.size());
    const std::string name = ArrayName(in_block, BlockNames());
    if (name.empty()) return {};
    published.name = std::string(kPrefix) + theirs + name;
    return published;
  }
  const std::string name = ArrayName(openfold, ModuleNames());
  return {name.empty() ? "" : std::string(kPrefix) + name, -1};
}

std::int64_t PublishedAxis(const Safetensors& file, std::string_view name, std::size_t axis) {
  const StoredTensor& stored = file.At(std::string(kPrefix) + std::string(name));
  Check(axis < stored.shape.axes().size(), "{}: {} has the shape {}, and no axis {}", file.path(), Quoted(stored.name),
        ToString(stored.shape), axis);
  return stored.shape.axes()[axis];
}

Safetensors FromPublished(const Safetensors& file, const Parameters& parameters) {
  const auto kept = std::make_shared<std::vector<Tensor>>();
  std::vector<StoredTensor> tensors;
  std::set<std::string, std::less<>> used;
  for (const Parameter& parameter : parameters.all()) {
    std::vector<std::int64_t> axes(parameter.shape.axes().begin(), parameter.shape.axes().end());
    axes[0] /= static_cast<std::int64_t>(parameter.names.size());
    const Shape shape(axes);
    for (const std::string& name : parameter.names) {
      const PublishedName published = PublishedNameOf(name);
      Ensure(!published.name.empty(), "{} has no published name", name);
      if (!file.contains(published.name)) continue;
      used.insert(published.name);
      const StoredTensor& stored = file.At(published.name);
      std::span<const std::int64_t> own = stored.shape.axes();
      std::int64_t first = 0;
      if (published.block >= 0) {
        Check(!own.empty() && own.front() > published.block, "{}: {} has the shape {}, and no block {}", file.path(),
              Quoted(stored.name), ToString(stored.shape), published.block);
        own = own.subspan(1);
        first = published.block * shape.elements();
      }
      const bool matrix = axes.size() == 2;
      std::int64_t elements = 1;
      for (const std::int64_t axis : own) elements *= axis;
      Check(matrix ? HasAxes(own, axes[1], axes[0]) : elements == shape.elements(),
            "{}: {} has the shape {}, which is not that of {}, {}", file.path(), Quoted(stored.name),
            ToString(stored.shape), name, ToString(shape));
      const Tensor copy = kept->emplace_back(Tensor::Empty(shape));
      std::memcpy(copy.data<float>(), stored.bytes.data() + first * std::int64_t{sizeof(float)},
                  static_cast<std::size_t>(shape.elements()) * sizeof(float));
      if (matrix) {
        const Tensor transposed = Tensor::Empty(shape);
        for (std::int64_t output = 0; output < axes[0]; ++output)
          for (std::int64_t input = 0; input < axes[1]; ++input)
            transposed.data<float>()[output * axes[1] + input] = copy.data<float>()[input * axes[0] + output];
        kept->back() = transposed;
      }
      tensors.push_back(Stored(name, kept->back()));
    }
  }
  for (const auto& [name, stored] : file.tensors())
    if (!used.contains(name)) tensors.push_back(stored);
  return Safetensors::Of(file.path(), std::move(tensors), kept);
}

Safetensors WithOpenFoldNames(const Safetensors& file) {
  std::vector<StoredTensor> tensors;
  for (const auto& [name, stored] : file.tensors()) {
    StoredTensor& renamed = tensors.emplace_back(stored);
    for (const std::string_view prefix : {"module.", "model."})
      if (renamed.name.starts_with(prefix)) renamed.name.erase(0, prefix.size());
    const auto replace = [&](std::string_view from, std::string_view to) {
      if (const std::size_t index = renamed.name.find(from); index != std::string::npos)
        renamed.name.replace(index, from.size(), to);
    };
    replace(".core.msa_transition", ".msa_transition");
    replace(".core.outer_product_mean", ".outer_product_mean");
    replace(".core.tri_", ".pair_stack.tri_");
    replace(".core.pair_transition", ".pair_stack.pair_transition");
    for (const std::string_view leaf : {"weight", "bias"})
      for (const std::string_view points : {"linear_q_points", "linear_kv_points"})
        replace(fmt::format("ipa.{}.{}", points, leaf), fmt::format("ipa.{}.linear.{}", points, leaf));
    if (renamed.name.starts_with("template_") && !renamed.name.starts_with("template_embedder.")) {
      replace("template_angle_embedder", "template_single_embedder");
      renamed.name.insert(0, "template_embedder.");
    }
  }
  return Safetensors::Of(file.path(), std::move(tensors));
}

}  // namespace headlight
