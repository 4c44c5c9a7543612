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

// Fills every parameter from the file. Missing tensors, wrong shapes and tensors nobody asked for are Errors that list
// the names; `harmless` says which names a file may hold besides.
HEADLIGHT_API void LoadParameters(Parameters& parameters, const Safetensors& file,
                                  const std::function<bool(std::string_view name)>& harmless);

// With `more` tensors, that others may want besides.
HEADLIGHT_API void SaveParameters(const Parameters& parameters, const std::string& path,
                                  std::vector<StoredTensor> more = {});

}  // namespace headlight
