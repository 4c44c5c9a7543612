// Who watches the passes of a Folder's model.
#pragma once

#include <functional>

#include "headlight/kinds/folding_model.h"
#include "headlight/nn/attention_sink.h"

namespace headlight {

struct PredictionObserver {
  ResidueSink sink;                                                  // as Hooks::residues
  std::function<void(const FoldingOutputs&, bool last)> after_pass;  // of each pass
};

}  // namespace headlight
