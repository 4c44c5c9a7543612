// How a model's folder is loaded, for every task.
//   const Translator translator = Translator::Load("opus-mt-de-en", {.compute = Compute::int8});
#pragma once

#include <optional>

#include "headlight/base/compute.h"

namespace headlight {

/// An option that a task does not have is refused by its name: a Classifier has neither a shortlist nor a draft.
struct LoadOptions {
  /// The type of matrix products. Unless set: as the folder is stored, float32, or int8 or int4 where `headlight
  /// convert` made it. Load throws Error where the processor does not have the type.
  std::optional<Compute> compute = {};
  /// Translator: restricts the output vocabulary of each text by the folder's shortlist, which `headlight shortlist`
  /// makes; often faster. Default: the whole vocabulary.
  bool shortlist = false;
  /// Translator, Generator: keeps an int8 copy of the weights for speculative decoding of single texts; the same text,
  /// sooner from a large model. Calls then need a beam_size of 1, and neither sampling nor repetition_penalty nor
  /// no_repeat_ngram_size. Default: no copy.
  bool draft = false;
};

}  // namespace headlight
