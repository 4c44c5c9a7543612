// The interface of models of protein structures, which fold a chain.
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

// How a model was made to be used.
struct FoldingPlan {
  std::int64_t rows = 0, extra = 0;  // of an alignment, at most; 0: the model reads none
  int recycles = 3;                  // passes after the first
  int blocks = 0;                    // of a pass
  std::int64_t templates = 0;        // at most; 0: the model reads none
  int template_blocks = 0;           // of a pass, more for each template
  bool covariation = false;          // whether the model reads it
};

class HEADLIGHT_API FoldingModel : public Model {
 public:
  static constexpr std::string_view kKind = "model of protein structures";

  virtual FoldingPlan plan() const = 0;

  // One pass over a chain. `before` are the outputs of the pass before it, whose alignment, pair and structure it
  // recycles without gradients; null: it is the first. Features without extra rows are those of an alignment that has
  // no more. `after_block` is called after each block, and may end the pass by an exception. Throws Error for shapes
  // that do not fit and for an unknown residue type.
  virtual FoldingOutputs Pass(Context& context, const FoldingFeatures& features, const FoldingOutputs* before,
                              const std::function<void()>& after_block = {}) const = 0;

  // Passes over one chain, one after another. The last one's outputs, and gradients through the last one alone. Throws
  // Error without a pass, and likewise.
  FoldingOutputs Fold(Context& context, std::span<const FoldingFeatures> passes) const;

  NamedTensors Forward(const Safetensors& inputs) const override;

 protected:
  using Model::Model;
  // Throws Error where residues and places do not fit, for an unknown residue type, and for a pass before of another
  // chain's length.
  void CheckChain(const FoldingFeatures& features, const FoldingOutputs* before) const;
};

}  // namespace headlight
