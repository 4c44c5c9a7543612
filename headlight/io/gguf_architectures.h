// The architectures of llama.cpp that headlight supports: the names of their tensors and settings in GGUF and in
// Hugging Face's layout.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/gguf.h"

namespace headlight {

/// A name in GGUF, and its equivalent in Hugging Face's layout. For stacked experts, `*` in `name` is the expert's
/// index.
struct GgufName {
  const char *gguf, *name;
};

/// The tensors of numbered layers: "blk.3.attn_q.weight" is "model.layers.3.self_attn.q_proj.weight".
struct GgufLayers {
  const char *gguf, *name;  ///< prefixes, such as "blk." and "model.layers."
  std::vector<GgufName> tensors;
};

/// The differences between the row orders of queries, keys and values in GGUF and in Hugging Face's layout.
enum class GgufRows {
  same,
  pairs,     ///< the two rows of a rotary pair are adjacent instead of half a head apart
  by_matrix  ///< one tensor has all queries, then all keys, then all values, instead of groups of heads
};

/// An architecture in GGUF, with the equivalent names in config.json and the checkpoint.
struct GgufArchitecture {
  const char *name, *model_type;
  GgufRows rows = GgufRows::same;
  bool norm_weights_plus_1 = false;     ///< if true, norm weights are 1 + w in GGUF, and w in checkpoints
  const char* needs = nullptr;          ///< only files with this tensor match the entry
  GgufName epsilon = {};                ///< epsilon of the norms
  std::vector<GgufName> sizes = {};     ///< required integers, by keys without the architecture's name
  std::vector<GgufName> settings = {};  ///< optional numeric settings
  std::vector<GgufLayers> layers = {};
  std::vector<GgufName> tensors = {};  ///< tensors outside of layers
};

/// Returns all architectures. Entries that require a tensor come before other entries with the same name.
HEADLIGHT_API const std::vector<GgufArchitecture>& GgufArchitectures();

/// Returns the architecture of a file. If it is not supported, throws Error listing the supported architectures.
HEADLIGHT_API const GgufArchitecture& GgufArchitectureOf(const Gguf& file);

/// Returns the tensor with a name in GGUF, or nullptr if there is none.
HEADLIGHT_API const GgufTensor* FindTensor(const Gguf& file, std::string_view name);

/// Returns the checkpoint's name of a tensor, or `gguf` if the tensor is unknown.
HEADLIGHT_API std::string CheckpointName(const GgufArchitecture& architecture, const std::string& gguf);

}  // namespace headlight
