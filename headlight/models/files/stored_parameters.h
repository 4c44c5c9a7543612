// Loads and saves parameters in safetensors files, under their checkpoint names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/safetensors.h"
#include "headlight/nn/parameters.h"

namespace headlight {

/// everything: for training, saving and reading single weights. computing: only for inference; weight matrices only
/// have a packed form, which takes half the memory, an eighth in int8, a sixteenth in int4. computing_with_draft: the
/// packed form and an int8 copy, which drafts tokens.
enum class LoadFor { everything, computing, computing_with_draft };

/// The type of a parameter in a model that computes in `compute`. Matrices of products are int8 or int4. Tables that
/// are only looked up are int8 in both cases, which takes a quarter of the memory. Exact and other parameters are
/// float32.
HEADLIGHT_API Compute TypeFor(const Parameter& parameter, Compute compute);

/// Loads every parameter from the file. Missing tensors, wrong shapes and unused tensors are Errors that list the
/// names; `harmless` tells which other names are allowed. A matrix of products or a lookup table may be stored as 8-bit
/// integers, with a scale for each output under its name and "_scale". It may also have 4 bits, with additional scales
/// for groups (docs/reference/files.md).
HEADLIGHT_API void LoadParameters(Parameters& parameters, const Safetensors& file,
                                  const std::function<bool(std::string_view name)>& harmless,
                                  LoadFor purpose = LoadFor::everything);

/// Saves the parameters and the tensors of `more`, which other programs expect. With int8 and int4, matrices and tables
/// have the types of TypeFor.
HEADLIGHT_API void SaveParameters(const Parameters& parameters, const std::string& path,
                                  std::vector<StoredTensor> more = {}, Compute compute = Compute::float32);

}  // namespace headlight
