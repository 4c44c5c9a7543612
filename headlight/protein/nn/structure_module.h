// Implements the structure module, which converts the single and pair representations to frames, torsions and atoms
// (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021, supplement, section 1.8).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/nn/layers.h"
#include "headlight/ops/invariant_point_attention.h"

namespace headlight {

struct StructureModuleConfig {
  std::int64_t single = 384, pair = 128;
  ops::InvariantPointShape attention = {};
  std::int64_t angles = 128;  // the width of the torsion angle network
  int blocks = 8, transition_layers = 1, angle_blocks = 2;
  double scale = 10;      // angstrom per unit of translation
  double epsilon = 1e-8;  // avoids division by zero in norms
  double dropout = 0.1;
  bool nested_points =
      true;  // if true, point projections are named linear_q_points.linear (OpenFold) instead of linear_q_points
};

/// Implements algorithm 22: invariant point attention.
class HEADLIGHT_API InvariantPointAttention {
 public:
  /// Declares linear_q, linear_kv, linear_q_points, linear_kv_points, linear_b, head_weights and linear_out.
  InvariantPointAttention(const Scope& scope, const StructureModuleConfig& config);

  /// Maps single [residues, single], pair [residues * residues, pair] and frames [residues, 12] to [residues, single].
  Tensor operator()(Context& context, const Tensor& single, const Tensor& pair, const Tensor& frames) const;

 private:
  ops::InvariantPointShape shape_;
  double epsilon_;
  Linear query_, key_value_, query_points_, key_value_points_, bias_, output_;
  const Parameter* head_weights_;
};

/// Predicts the torsions of each residue (algorithm 20, lines 11 to 14).
class HEADLIGHT_API AngleResnet {
 public:
  /// Declares linear_in, linear_initial, layers.N.linear_1, layers.N.linear_2 and linear_out.
  AngleResnet(const Scope& scope, const StructureModuleConfig& config);

  /// Maps the current and the initial single representation, both [residues, single], to [residues, 14]: the
  /// unnormalized sine and cosine of seven torsions.
  Tensor operator()(Context& context, const Tensor& single, const Tensor& initial) const;

 private:
  struct Block {
    Linear first, second;
  };
  Linear in_, initial_, out_;
  std::vector<Block> blocks_;
};

/// The outputs of a block, with lengths in angstrom.
struct StructureBlock {
  Tensor frames;                           // [residues, 7]: backbone frames, as in protein/nn/frames.h
  Tensor group_frames, atoms;              // as in ResidueGeometry
  Tensor unnormalized_torsions, torsions;  // [residues, 14]
  Tensor single;                           // [residues, single]
};

struct FoldedStructure {
  std::vector<StructureBlock> blocks;
  Tensor single;  // [residues, single], after the last block
};

/// Implements algorithm 20. The blocks share their parameters.
class HEADLIGHT_API StructureModule {
 public:
  /// Declares layer_norm_s, layer_norm_z, linear_in, ipa, layer_norm_ipa, transition, bb_update and angle_resnet.
  StructureModule(const Scope& scope, const StructureModuleConfig& config);

  /// Predicts the structure from single [residues, single], pair [residues * residues, pair] and residue types as in
  /// protein/residues.h. Throws Error for an invalid residue type or mismatched shapes.
  FoldedStructure operator()(Context& context, const Tensor& single, const Tensor& pair,
                             std::span<const std::int32_t> types) const;

 private:
  struct Transition {
    Linear first, second, third;
  };
  StructureModuleConfig config_;
  LayerNorm single_norm_, pair_norm_, attention_norm_, transition_norm_;
  Linear in_, update_;
  InvariantPointAttention attention_;
  std::vector<Transition> transitions_;
  AngleResnet angles_;
};

}  // namespace headlight
