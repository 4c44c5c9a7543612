// The architectures of llama.cpp that headlight has a family for: the names of their tensors and settings in GGUF and
// in Hugging Face's layout.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/gguf.h"

namespace headlight {

/// A name in GGUF, and the same in Hugging Face's layout. In that of stacked experts, `*` is an expert's number.
struct GgufName {
  const char *gguf, *name;
};

/// The tensors of numbered layers: "blk.3.attn_q.weight" is "model.layers.3.self_attn.q_proj.weight".
struct GgufLayers {
  const char *gguf, *name;  // "blk.", "model.layers."
  std::vector<GgufName> tensors;
};

/// How the rows of queries, keys and values differ from those of Hugging Face's layout.
enum class GgufRows {
  same,
  pairs,     ///< pairs of rotary positions are neighbours, and not half a head apart
  by_matrix  ///< in one tensor: all queries, all keys, all values; the other layout has them by groups of heads
};

/// An architecture: what its keys and tensors are in config.json and the checkpoint.
struct GgufArchitecture {
  const char *name, *model_type;
  GgufRows rows = GgufRows::same;
  bool gains_plus_1 = false;            ///< norms are 1 + w, and checkpoints have w
  const char* needs = nullptr;          ///< the entry is for files with this tensor
  GgufName epsilon = {};                ///< of the norms
  std::vector<GgufName> sizes = {};     ///< integers that a file must have; keys without the architecture's name
  std::vector<GgufName> settings = {};  ///< numbers that it may have
  std::vector<GgufLayers> layers = {};
  std::vector<GgufName> tensors = {};  ///< outside of layers
};

/// All, those that need a tensor before others of the same name.
HEADLIGHT_API const std::vector<GgufArchitecture>& GgufArchitectures();

/// The architecture of a file. Throws Error that lists the known ones.
HEADLIGHT_API const GgufArchitecture& GgufArchitectureOf(const Gguf& file);

/// The tensor with the name in GGUF; null if there is none.
HEADLIGHT_API const GgufTensor* FindTensor(const Gguf& file, std::string_view name);

/// The checkpoint's name of a tensor; of an unknown one the same name.
HEADLIGHT_API std::string CheckpointName(const GgufArchitecture& architecture, const std::string& gguf);

}  // namespace headlight
