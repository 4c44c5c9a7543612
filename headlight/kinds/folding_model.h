// The interface of models that predict the structure of a protein chain.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/context.h"
#include "headlight/protein/nn/folding_features.h"

namespace headlight {

/// Default settings of inference. A maximum of 0 means that the model does not use the input.
struct FoldingPlan {
  std::int64_t rows = 0, extra = 0;  ///< maximum rows and extra rows of the alignment
  int recycles = 3;                  ///< number of passes after the first
  int blocks = 0;                    ///< number of blocks per pass
  std::int64_t templates = 0;        ///< maximum number of templates
  int template_blocks = 0;           ///< additional blocks per pass and template
  bool covariation = false;          ///< if true, covariation is an input
};

class HEADLIGHT_API FoldingModel : public Model {
 public:
  static constexpr std::string_view kKind = "structure prediction model";

  virtual FoldingPlan plan() const = 0;

  /// Runs one pass over a chain. `before` has the outputs of the previous pass, or is null in the first pass. The
  /// alignment, pair and structure in `before` are recycled without gradients. If features have no extra rows, the
  /// alignment has no additional rows. `after_block` is called after each block and may throw to cancel. Throws Error
  /// if shapes do not match or a residue type is unknown.
  virtual FoldingOutputs Pass(Context& context, const FoldingFeatures& features, const FoldingOutputs* before,
                              const std::function<void()>& after_block = {}) const = 0;

  /// Runs passes over one chain and returns the outputs of the last pass. Only the last pass has gradients. Throws
  /// Error if `passes` is empty, and the errors of Pass.
  FoldingOutputs Fold(Context& context, std::span<const FoldingFeatures> passes) const;

  NamedTensors Forward(const Safetensors& inputs) const override;

 protected:
  using Model::Model;
  /// Throws Error for an unknown residue type, if residues and positions have different lengths, or if `before` has
  /// another number of residues.
  void CheckChain(const FoldingFeatures& features, const FoldingOutputs* before) const;
};

}  // namespace headlight
