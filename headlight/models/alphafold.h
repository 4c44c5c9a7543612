// AlphaFold 2 (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021) for single chains,
// with OpenFold's parameter names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/protein/nn/evoformer.h"
#include "headlight/protein/nn/folding_embedders.h"
#include "headlight/protein/nn/structure_module.h"
#include "headlight/protein/nn/template_embedder.h"

namespace headlight {

class ConfigTable;  // defined in io/config_table.h

/// The defaults are the settings of the published models.
struct AlphaFoldConfig {
  std::int64_t alignment = 256, extra = 64, pair = 128, single = 384;
  std::int32_t farthest = 32;  ///< the largest relative position
  bool covariation = false;    ///< if true, the covariation of columns is also an input (protein/nn/covariation.h)
  /// Settings of the two stacks. Their sizes `alignment`, `pair` and `single` are overwritten by the members above.
  /// `pair` layers have the alignment's transition factor.
  EvoformerConfig evoformer = {};
  EvoformerConfig extra_rows = {.alignment = 64, .head_dim = 8, .global_columns = true};
  int blocks = 48, extra_blocks = 4;
  bool triangles = true;  ///< if false, both stacks omit triangle updates, to measure their effect
  StructureModuleConfig structure = {};
  TemplateConfig template_stack = {};
  std::int64_t templates = 0;  ///< maximum number of templates (published: 4); 0: no template stack
  std::int64_t lddt_hidden = 128, lddt_bins = 50, distance_bins = 64;
  std::int64_t error_bins = 0;                      ///< number of bins of aligned errors (pTM); 0: no error head
  std::int64_t rows = 512, most_extra_rows = 1024;  ///< maximum rows of an alignment; `rows` includes templates
  int recycles = 3;
};
HEADLIGHT_API void Describe(ConfigTable& table, AlphaFoldConfig& config);

class HEADLIGHT_API AlphaFold : public FoldingModel {
 public:
  /// Throws Error for an invalid configuration.
  explicit AlphaFold(const AlphaFoldConfig& config, DType dtype = DType::float32);

  FoldingPlan plan() const override;
  /// Runs one pass of algorithm 2.
  FoldingOutputs Pass(Context& context, const FoldingFeatures& features, const FoldingOutputs* before,
                      const std::function<void()>& after_block = {}) const override;

  const AlphaFoldConfig& config() const { return config_; }
  Json::Object Description() const override;
  void Save(const std::string& folder, Compute compute = Compute::float32) const override;

 private:
  void CheckAlignment(const FoldingFeatures& features) const;
  void CheckTemplates(const FoldingFeatures& features) const;

  AlphaFoldConfig config_;
  std::optional<InputEmbedder> input_;
  std::optional<RecyclingEmbedder> recycling_;
  std::optional<TemplateEmbedder> templates_;
  std::optional<Linear> extra_, single_;
  std::optional<EvoformerStack> extra_rows_, evoformer_;
  std::optional<StructureModule> structure_;
  // Output heads.
  struct LddtHead {
    LayerNorm norm;
    Linear first, second, third;
  };
  std::optional<LddtHead> lddt_;
  std::optional<Linear> distances_, aligned_errors_, letters_, resolved_;
};

}  // namespace headlight
