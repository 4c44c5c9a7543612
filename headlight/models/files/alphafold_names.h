// The weights of AlphaFold under other names than those that OpenFold's program has today.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/io/safetensors.h"
#include "headlight/nn/parameters.h"

namespace headlight {

// OpenFold's tensors under today's names: its first versions called some modules otherwise, and files of its trainings
// have all names behind "model." or "module.model.". Views of the file's. Throws Error where two names become one.
HEADLIGHT_API Safetensors WithOpenFoldNames(const Safetensors& file);

// DeepMind's params_model_*.npz for one chain. The name of a parameter there, and the place in the stack of its block's
// parameters, or -1.
//   Matrices are [inputs, outputs], where the heads and their numbers may be axes of their own, and OpenFold's
//   [outputs, inputs]. Its incoming triangle multiplication calls left what the paper's algorithm 12 calls b.
struct PublishedName {
  std::string name;
  std::int64_t block = -1;
};
HEADLIGHT_API PublishedName PublishedNameOf(std::string_view openfold);

// Copies for the parameters under OpenFold's names; under their own what no parameter has. Parameters that it lacks are
// left out. Throws Error for shapes that do not fit.
HEADLIGHT_API Safetensors FromPublished(const Safetensors& file, const Parameters& parameters);

// Axis `axis` of the array of that name, which begins with "alphafold/alphafold_iteration/". Throws Error where there
// is none.
HEADLIGHT_API std::int64_t PublishedAxis(const Safetensors& file, std::string_view name, std::size_t axis);

}  // namespace headlight
