#include "headlight/protein/nn/structure_module.h"

#include <cmath>

#include "headlight/base/error.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/dropout.h"
#include "headlight/ops/points.h"
#include "headlight/ops/rowwise.h"
#include "headlight/ops/view.h"
#include "headlight/protein/nn/frames.h"
#include "headlight/protein/nn/gated_attention.h"

namespace headlight {
namespace {

using std::exp, std::log1p, std::sqrt;

// Returns a linear layer with a bias and the given initialization.
Linear BiasedLinear(const Scope& scope, const char* name, std::int64_t inputs, std::int64_t outputs,
                    const LinearInitialization& initialization) {
  return {scope, {name}, inputs, outputs, /*bias=*/true, /*stored_transposed=*/false, initialization};
}

// Returns the projection to the points of each head.
Linear PointsOf(const Scope& scope, const char* name, const StructureModuleConfig& config, std::int64_t points) {
  return BiasedLinear(config.nested_points ? scope / name : scope, config.nested_points ? "linear" : name,
                      config.single, 3 * config.attention.heads * points, LeCunNormal(config.single));
}

constexpr double kSoftplusIsOne = 0.541324854612918;  // log(e - 1), which has a softplus of 1

}  // namespace

InvariantPointAttention::InvariantPointAttention(const Scope& scope, const StructureModuleConfig& config)
    : shape_(config.attention),
      epsilon_(config.epsilon),
      query_(
          BiasedLinear(scope, "linear_q", config.single, shape_.heads * shape_.head_dim, LeCunNormal(config.single))),
      key_value_(BiasedLinear(scope, "linear_kv", config.single, 2 * shape_.heads * shape_.head_dim,
                              LeCunNormal(config.single))),
      query_points_(PointsOf(scope, "linear_q_points", config, shape_.query_points)),
      key_value_points_(PointsOf(scope, "linear_kv_points", config, shape_.query_points + shape_.value_points)),
      bias_(BiasedLinear(scope, "linear_b", config.pair, shape_.heads, LeCunNormal(config.pair))),
      output_(BiasedLinear(scope, "linear_out",
                           shape_.heads * (config.pair + shape_.head_dim + 4 * shape_.value_points), config.single,
                           kZeroLinear)),
      head_weights_(&scope.Declare("head_weights", {shape_.heads}, Initialization::Constant(kSoftplusIsOne))) {}

Tensor InvariantPointAttention::operator()(Context& context, const Tensor& single, const Tensor& pair,
                                           const Tensor& frames) const {
  // The product of w_C in line 7 and the trained weight of each head's points. The softplus makes the weights positive.
  const double distances = sqrt(1 / (3 * static_cast<double>(shape_.query_points) * 9 / 2));
  const Tensor point_weights = ops::Rowwise<1, 1>(
      [distances]<typename Number>(std::int64_t, const Number* weight, Number* to) {
        *to = Number(static_cast<float>(distances)) * log1p(exp(*weight));
      },
      ops::Reshape(context.Use(*head_weights_), {shape_.heads, 1}));
  const ops::InvariantPointInput input = {.query = query_(context, single),
                                          .key_value = key_value_(context, single),
                                          .query_points = ops::ToGlobal(frames, query_points_(context, single)),
                                          .key_value_points = ops::ToGlobal(frames, key_value_points_(context, single)),
                                          .bias = bias_(context, pair),
                                          .point_weights = ops::Reshape(point_weights, {shape_.heads}),
                                          .pair = pair};
  const Tensor attended = ops::InvariantPointAttention(input, shape_);
  if (context.hooks.residues)
    context.hooks.residues({ResidueAttentionKind::invariant_points, ops::InvariantPointWeights(input, shape_)});
  const std::int64_t values = shape_.heads * shape_.head_dim, points = 3 * shape_.heads * shape_.value_points;
  const Tensor local = ops::ToLocal(frames, ops::Columns(attended, values, points));
  const Tensor places = ops::ConcatenateColumns(local, ops::PointNorms(local, epsilon_));
  const Tensor pairs = ops::Columns(attended, values + points, attended.columns() - values - points);
  return output_(context,
                 ops::ConcatenateColumns(ops::ConcatenateColumns(ops::Columns(attended, 0, values), places), pairs));
}

AngleResnet::AngleResnet(const Scope& scope, const StructureModuleConfig& config)
    : in_(BiasedLinear(scope, "linear_in", config.single, config.angles, LeCunNormal(config.single))),
      initial_(BiasedLinear(scope, "linear_initial", config.single, config.angles, LeCunNormal(config.single))),
      out_(BiasedLinear(scope, "linear_out", config.angles, 14, LeCunNormal(config.angles))) {
  for (int block = 0; block < config.angle_blocks; ++block) {
    const Scope its = scope / "layers" / block;
    blocks_.push_back({BiasedLinear(its, "linear_1", config.angles, config.angles, HeNormal(config.angles)),
                       BiasedLinear(its, "linear_2", config.angles, config.angles, kZeroLinear)});
  }
}

// Applies a relu to the inputs, as in the authors' code. The supplement omits it.
Tensor AngleResnet::operator()(Context& context, const Tensor& single, const Tensor& initial) const {
  const auto relu = [](const Tensor& x) { return ops::Activate(Activation::relu, x); };
  Tensor x = ops::Add(in_(context, relu(single)), initial_(context, relu(initial)));
  for (const Block& block : blocks_)
    x = ops::Add(x, block.second(context, block.first(context, relu(x), Activation::relu)));
  return out_(context, relu(x));
}

StructureModule::StructureModule(const Scope& scope, const StructureModuleConfig& config)
    : config_(config),
      single_norm_(scope / "layer_norm_s", config.single),
      pair_norm_(scope / "layer_norm_z", config.pair),
      attention_norm_(scope / "layer_norm_ipa", config.single),
      transition_norm_(scope / "transition" / "layer_norm", config.single),
      in_(BiasedLinear(scope, "linear_in", config.single, config.single, LeCunNormal(config.single))),
      update_(BiasedLinear(scope / "bb_update", "linear", config.single, 6, kZeroLinear)),
      attention_(scope / "ipa", config),
      angles_(scope / "angle_resnet", config) {
  for (int layer = 0; layer < config.transition_layers; ++layer) {
    const Scope its = scope / "transition" / "layers" / layer;
    transitions_.push_back({BiasedLinear(its, "linear_1", config.single, config.single, HeNormal(config.single)),
                            BiasedLinear(its, "linear_2", config.single, config.single, HeNormal(config.single)),
                            BiasedLinear(its, "linear_3", config.single, config.single, kZeroLinear)});
  }
}

FoldedStructure StructureModule::operator()(Context& context, const Tensor& single, const Tensor& pair,
                                            std::span<const std::int32_t> types) const {
  const std::int64_t residues = std::ssize(types);
  Check(single.shape() == Shape{residues, config_.single} && pair.shape() == Shape{residues * residues, config_.pair},
        "StructureModule: representations have shapes {} and {} for {} residues", ToString(single.shape()),
        ToString(pair.shape()), residues);
  const Tensor initial = single_norm_(context, single), z = pair_norm_(context, pair);
  Tensor s = in_(context, initial), frames = IdentityFrames(residues, s.dtype());
  FoldedStructure structure;
  for (int block = 0; block < config_.blocks; ++block) {
    s = ops::Add(s, attention_(context, s, z, FrameMatrices(frames)));
    s = attention_norm_(context, ops::Drop(s, context.NextDropout(config_.dropout)));
    for (const Transition& layer : transitions_) {
      const Tensor inner = layer.first(context, s, Activation::relu);
      s = ops::Add(s, layer.third(context, layer.second(context, inner, Activation::relu)));
    }
    s = transition_norm_(context, ops::Drop(s, context.NextDropout(config_.dropout)));
    frames = UpdateFrames(frames, update_(context, s));

    const Tensor scaled = ScaleTranslations(frames, config_.scale), torsions = angles_(context, s, initial);
    const Tensor normalized = ops::Rowwise<2, 2>(
        [least = config_.epsilon]<typename Number>(std::int64_t, const Number* torsion, Number* to) {
          const Number squares = torsion[0] * torsion[0] + torsion[1] * torsion[1];
          const Number bound = Number(static_cast<float>(least)), norm = sqrt(squares < bound ? bound : squares);
          to[0] = torsion[0] / norm;
          to[1] = torsion[1] / norm;
        },
        ops::Reshape(torsions, {7 * residues, 2}));
    const Tensor directions = ops::Reshape(normalized, {residues, 14});
    const ResidueGeometry placed = PlaceAtoms(FrameMatrices(scaled), directions, types);
    structure.blocks.push_back({scaled, placed.group_frames, placed.atoms, torsions, directions, s});
    frames = StopRotationGradient(frames);
  }
  structure.single = s;
  return structure;
}

}  // namespace headlight
