// Functions that load and save parameters in safetensors files, under their checkpoint names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/safetensors.h"
#include "headlight/nn/parameters.h"

namespace headlight {

/// The purpose for which a model is loaded. everything: training, saving and reading single weights. computing: only
/// inference. Weight matrices are only stored in packed form, which needs half the memory, an eighth in int8, or a
/// sixteenth in int4. computing_with_draft: like computing, with an additional int8 copy for generating draft tokens.
enum class LoadFor { everything, computing, computing_with_draft };

/// Returns the type of a parameter in a model that computes in `compute`. With int8 or int4, weight matrices have this
/// type, and lookup tables are int8, which needs a quarter of the memory. Exact and other parameters are float32.
HEADLIGHT_API Compute TypeFor(const Parameter& parameter, Compute compute);

/// Loads every parameter from the file. Throws Error with the names of missing, misshapen or unused tensors. Unused
/// tensors for which `harmless` returns true are ignored. A weight matrix or lookup table may be stored as 8-bit
/// integers, with a scale per output. The suffix "_scale" is added to its name for the scales. 4-bit integers also have
/// scales for groups (docs/reference/files.md).
HEADLIGHT_API void LoadParameters(Parameters& parameters, const Safetensors& file,
                                  const std::function<bool(std::string_view name)>& harmless,
                                  LoadFor purpose = LoadFor::everything);

/// Saves the parameters, and the tensors in `more`, which other programs require. With int8 and int4, the types of
/// matrices and tables are given by TypeFor.
HEADLIGHT_API void SaveParameters(const Parameters& parameters, const std::string& path,
                                  std::vector<StoredTensor> more = {}, Compute compute = Compute::float32);

}  // namespace headlight
