// The files of PyTorch's torch.save, pytorch_model.bin: a pickle that describes tensors, and their storages. Either a
// zip archive (PyTorch 1.6 and newer), or one after another in a file (older). No code of the pickle is run.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/io/safetensors.h"

namespace headlight {

struct TorchContent {
  std::vector<StoredTensor> tensors;               // in the dict's order
  std::deque<std::vector<std::byte>> copied = {};  // the memory of tensors that do not lie row by row in the file
  std::vector<std::string> others = {};            // names of the dict's other values, such as a number of epochs
};

/// The tensors of a file's bytes: a state dict, a dict from names to tensors or parameters. Tensors may share storages
/// and have any strides. Values of other types are left out if there are tensors. Throws Error that names `source` and
/// the rule for all else, such as other Python objects, compressed archives, storages that are absent or of another
/// size, and damage that a checksum shows.
HEADLIGHT_API TorchContent ParseTorchFile(std::span<const std::byte> file, const std::string& source);

/// All of the file at `path`, mapped. The names of values that are left out go to `others`, if it is given.
HEADLIGHT_API Safetensors ReadTorchFile(const std::string& path, std::vector<std::string>* others = nullptr);

}  // namespace headlight
