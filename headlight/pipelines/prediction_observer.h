// Hooks for the forward passes of a StructurePredictor's model.
#pragma once

#include <functional>

#include "headlight/kinds/folding_model.h"
#include "headlight/nn/attention_hook.h"

namespace headlight {

struct PredictionObserver {
  ResidueHook residues;                                              ///< see Hooks::residues
  std::function<void(const FoldingOutputs&, bool last)> after_pass;  ///< called after each pass
};

}  // namespace headlight
