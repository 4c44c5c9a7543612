// The weights of AlphaFold in other layouts than that of the current OpenFold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/io/safetensors.h"
#include "headlight/nn/parameters.h"

namespace headlight {

/// OpenFold's tensors under current names. Its first versions named some modules differently, and its training
/// checkpoints have the prefix "model." or "module.model.". The result views the file's data. Throws Error if two names
/// become one.
HEADLIGHT_API Safetensors WithOpenFoldNames(const Safetensors& file);

/// The name of a parameter in DeepMind's params_model_*.npz for single chains, and the index of its block in the stack,
/// or -1. Matrices there are [inputs, outputs], in which heads and their features may be separate axes; OpenFold's are
/// [outputs, inputs]. Its incoming triangle multiplication calls "left" what is b in the paper's algorithm 12.
struct PublishedName {
  std::string name;
  std::int64_t block = -1;
};
HEADLIGHT_API PublishedName PublishedNameOf(std::string_view openfold);

/// The file's tensors under OpenFold's names; tensors without a parameter keep their names. Parameters without a tensor
/// are omitted. The data is copied. Throws Error for shapes that do not fit.
HEADLIGHT_API Safetensors FromPublished(const Safetensors& file, const Parameters& parameters);

/// The size of axis `axis` of the array with that name, which begins with "alphafold/alphafold_iteration/". Throws
/// Error if there is none.
HEADLIGHT_API std::int64_t PublishedAxis(const Safetensors& file, std::string_view name, std::size_t axis);

}  // namespace headlight
