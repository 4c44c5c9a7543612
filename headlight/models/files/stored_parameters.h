// Parameters from and to safetensors, under their checkpoint names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/safetensors.h"
#include "headlight/nn/parameters.h"

namespace headlight {

// everything: training, saving and reading single weights. computing: inference only, where weight matrices hold only
// their packed form, which takes half the memory, an eighth in int8, a sixteenth in int4. computing_with_draft: the
// packed form and an int8 copy, with which tokens are drafted.
enum class LoadFor { everything, computing, computing_with_draft };

// The type that a parameter has in a model of that type. Matrices of products become int8 or int4; tables that are only
// looked up become int8 in either, which takes a quarter of the memory; exact parameters and what remains are float32.
HEADLIGHT_API Compute TypeFor(const Parameter& parameter, Compute compute);

// Fills every parameter from the file. Missing tensors, wrong shapes and unused tensors are Errors that list
// the names; `harmless` says which other names a file may hold. A matrix of products or a table that is looked up may
// be stored as 8-bit integers, with a scale for each output under its name and "_scale", or in 4 bits, with scales for
// groups besides (docs/9_files.md).
HEADLIGHT_API void LoadParameters(Parameters& parameters, const Safetensors& file,
                                  const std::function<bool(std::string_view name)>& harmless,
                                  LoadFor purpose = LoadFor::everything);

// With `more` tensors, which other programs expect. For int8 and int4, matrices and tables as TypeFor says.
HEADLIGHT_API void SaveParameters(const Parameters& parameters, const std::string& path,
                                  std::vector<StoredTensor> more = {}, Compute compute = Compute::float32);

}  // namespace headlight
