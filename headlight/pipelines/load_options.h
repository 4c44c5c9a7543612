// The options for loading a model's folder, shared by all pipelines.
//   const Translator translator = Translator::Load("opus-mt-de-en", {.compute = Compute::int8});
//
// The first argument of every Load is the path of a model's folder. TextGenerator, Translator (for a T5) and Embedder
// (for a BERT) also load a GGUF file, and StructurePredictor an .npz file of AlphaFold 2. Load does not look up names
// on the Hugging Face hub: PullModel (hub/pull.h) and CachedFolder (hub/cache.h) return the folder of a model such as
// ORG/NAME.
#pragma once

#include <optional>

#include "headlight/base/compute.h"

namespace headlight {

/// A pipeline throws Error naming an option that it does not support. For example, a TextClassifier has no shortlist
/// and no draft.
struct LoadOptions {
  /// The type of matrix products. Default: int8 or int4 for a folder quantized by `headlight convert`, the block types
  /// in a GGUF file, and otherwise float32. Load throws Error if the CPU does not support the type.
  std::optional<Compute> compute = {};
  /// Translator: restricts the output vocabulary of each text to the folder's shortlist (`headlight shortlist`). This
  /// is often faster. Default: the whole vocabulary.
  bool shortlist = false;
  /// Translator, TextGenerator: keeps an int8 copy of the weights as the draft for speculative decoding of single
  /// texts. The generated text is the same, and large models are faster. Calls must then have a beam_size of 1, and no
  /// sampling, repetition_penalty or no_repeat_ngram_size. Default: no copy.
  bool draft = false;
};

}  // namespace headlight
