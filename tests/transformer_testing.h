// The golden folders of testdata/transformers, and copies of them with changed tensors.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "headlight/io/safetensors.h"

namespace headlight {

inline constexpr std::array kGoldenFolders = {"marian_relu", "marian_swish_untied_output", "marian_gelu_two_tables",
                                              "pegasus_gelu", "pegasus_relu_unscaled"};

inline std::string FolderOf(const std::string& name) {
  return std::string(HEADLIGHT_SOURCE_DIR) + "/tests/testdata/transformers/" + name;
}

using ChangeTensors = std::function<void(std::map<std::string, StoredTensor>& tensors)>;

// Writes the tensors of one file to another file, changed by `change`.
inline void WriteChanged(const std::string& from, const std::string& to, const ChangeTensors& change) {
  const Safetensors file(from);
  std::map<std::string, StoredTensor> tensors(file.tensors().begin(), file.tensors().end());
  change(tensors);
  std::vector<StoredTensor> changed;
  for (auto& [name, tensor] : tensors) {
    tensor.name = name;
    changed.push_back(tensor);
  }
  WriteSafetensors(to, changed);
}

}  // namespace headlight
