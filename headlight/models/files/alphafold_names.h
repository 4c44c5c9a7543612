// Converts AlphaFold's weights from other layouts to OpenFold's current layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/io/safetensors.h"
#include "headlight/nn/parameters.h"

namespace headlight {

/// Returns OpenFold's tensors under their current names. OpenFold's first versions named some modules differently, and
/// its training checkpoints have the prefix "model." or "module.model.". The result shares the file's data. Throws
/// Error if two tensors would have the same name.
HEADLIGHT_API Safetensors WithOpenFoldNames(const Safetensors& file);

/// A parameter's name in DeepMind's params_model_*.npz for single chains, and the index of its block, or -1 outside of
/// blocks. DeepMind's matrices are [inputs, outputs], in which heads and their features may be separate axes.
/// OpenFold's matrices are [outputs, inputs]. In incoming triangle multiplication, DeepMind's "left" is b in the
/// paper's algorithm 12.
struct PublishedName {
  std::string name;
  std::int64_t block = -1;
};
HEADLIGHT_API PublishedName PublishedNameOf(std::string_view openfold);

/// Returns the file's tensors under OpenFold's names. Tensors without a parameter keep their names. Parameters without
/// a tensor are omitted. The data is copied. Throws Error if shapes do not match.
HEADLIGHT_API Safetensors FromPublished(const Safetensors& file, const Parameters& parameters);

/// Returns the size of one axis of the array `name`, which must begin with "alphafold/alphafold_iteration/". Throws
/// Error if the array does not exist.
HEADLIGHT_API std::int64_t PublishedAxis(const Safetensors& file, std::string_view name, std::size_t axis);

}  // namespace headlight
