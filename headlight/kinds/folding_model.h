// The interface of structure prediction models, which fold a protein chain.
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

/// Default settings of inference.
struct FoldingPlan {
  std::int64_t rows = 0, extra = 0;  ///< maximum rows of the alignment, and maximum extra rows; 0: the model reads none
  int recycles = 3;                  ///< number of passes after the first
  int blocks = 0;                    ///< per pass
  std::int64_t templates = 0;        ///< maximum number; 0: the model reads none
  int template_blocks = 0;           ///< additional per pass and template
  bool covariation = false;          ///< whether the model reads covariation
};

class HEADLIGHT_API FoldingModel : public Model {
 public:
  static constexpr std::string_view kKind = "model of protein structures";

  virtual FoldingPlan plan() const = 0;

  /// Runs one pass over a chain. `before` has the outputs of the previous pass, whose alignment, pair and structure are
  /// recycled without gradients; null: first pass. Features without extra rows mean an alignment without more rows.
  /// `after_block` is called after each block; it may throw to cancel. Throws Error if shapes do not fit or a residue
  /// type is unknown.
  virtual FoldingOutputs Pass(Context& context, const FoldingFeatures& features, const FoldingOutputs* before,
                              const std::function<void()>& after_block = {}) const = 0;

  /// Runs passes over one chain and returns the outputs of the last. Only the last pass has gradients. Throws Error for
  /// no passes and as Pass does.
  FoldingOutputs Fold(Context& context, std::span<const FoldingFeatures> passes) const;

  NamedTensors Forward(const Safetensors& inputs) const override;

 protected:
  using Model::Model;
  /// Throws Error if residues and positions do not fit, for an unknown residue type, or if `before` has another number
  /// of residues.
  void CheckChain(const FoldingFeatures& features, const FoldingOutputs* before) const;
};

}  // namespace headlight
