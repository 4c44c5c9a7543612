// ESMFold (Lin et al., "Evolutionary-scale prediction of atomic-level protein structure with a language model", 2023)
// predicts structures from a single sequence. Unlike AlphaFold 2, it uses the hidden states of ESM-2 instead of an
// alignment, and simpler blocks instead of the Evoformer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/models/esm.h"
#include "headlight/protein/nn/esmfold_block.h"
#include "headlight/protein/nn/structure_module.h"

namespace headlight {

/// The defaults are the settings of the published model, except for the language model.
struct EsmFoldConfig {
  EsmConfig language;
  std::vector<std::string> vocabulary;  ///< tokens of the language model by id; empty: ESM-2's vocabulary
  EsmFoldBlockConfig block;
  std::int32_t farthest = 32;  ///< the largest relative position
  int blocks = 48;
  int passes = 4;
  bool embeds_residues = true;  ///< if true, residue types are embedded, in addition to the language model's states
  StructureModuleConfig structure = {.nested_points = false};
  std::int64_t lddt_hidden = 128;
};
HEADLIGHT_API void Describe(ConfigTable& table, EsmFoldConfig& config);

class HEADLIGHT_API EsmFold : public FoldingModel {
 public:
  /// Throws Error for an invalid configuration.
  explicit EsmFold(const EsmFoldConfig& config, DType dtype = DType::float32);

  FoldingPlan plan() const override;
  /// Runs one pass. Uses only the types and positions of the features. The outputs have no alignment. `letters` has 23
  /// columns: padding, the residue types, and a mask.
  FoldingOutputs Pass(Context& context, const FoldingFeatures& features, const FoldingOutputs* before,
                      const std::function<void()>& after_block = {}) const override;

  const EsmFoldConfig& config() const { return config_; }
  Json::Object Description() const override;
  /// Runs the model on named tensors. Inputs: input_ids [batch, length] (residue types). Optional inputs:
  /// attention_mask, position_ids, and num_recycles [1], the number of passes after the first. Outputs have
  /// Transformers' names and shapes, and are zero for padding. ptm is [batch], and integers are int32.
  NamedTensors Forward(const Safetensors& inputs) const override;
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 private:
  Tensor ReadSequence(Context& context, std::span<const std::int32_t> types) const;
  // Returns the logits of each atom's lDDT, [residues, 37 * bins], from the structure module's states [residues,
  // single].
  Tensor AtomLddt(Context& context, const Tensor& single) const;
  Tensor PositionBiases(Context& context, std::span<const std::int32_t> positions) const;

  EsmFoldConfig config_;
  std::vector<std::int32_t> tokens_;  // token ids of the language model for the residue types, then <cls> and <eos>
  std::optional<EsmEncoder> language_;
  const Parameter* layer_weights_ = nullptr;  // logits [layers + 1] of the weights of the layers
  std::optional<LayerNorm> language_norm_, recycled_sequence_norm_, recycled_pair_norm_, lddt_norm_;
  std::optional<Linear> language_inner_, language_outer_;
  std::optional<TokenEmbedding> residues_, places_, recycled_distances_;
  std::vector<EsmFoldBlock> blocks_;
  std::optional<Linear> to_structure_sequence_, to_structure_pair_;
  std::optional<StructureModule> structure_;
  std::optional<Linear> distances_, aligned_errors_, letters_, lddt_first_, lddt_second_, lddt_third_;
};

}  // namespace headlight
