// The files of torch.save, such as pytorch_model.bin: a pickle that describes tensors, and their storages. Both are in
// a zip archive (PyTorch 1.6 and newer) or concatenated (older). No code in the pickle is run.
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
  std::vector<StoredTensor> tensors;               ///< in the dict's order
  std::deque<std::vector<std::byte>> copied = {};  ///< the memory of tensors that are not stored in row-major order
  std::vector<std::string> others = {};            ///< names of the dict's other values, such as a number of epochs
};

/// Parses the tensors of a file with a state dict, whose values are tensors or parameters. Tensors may share storages
/// and have any strides. Values of other types are left out if there are tensors. Throws Error naming `source` and the
/// rule for other data. Examples are other Python objects, compressed archives, storages that are missing or have a
/// wrong size, and checksum mismatches.
HEADLIGHT_API TorchContent ParseTorchFile(std::span<const std::byte> file, const std::string& source);

/// Reads all tensors of the memory-mapped file at `path`. If `others` is not null, stores the names of other values in
/// it.
HEADLIGHT_API Safetensors ReadTorchFile(const std::string& path, std::vector<std::string>* others = nullptr);

}  // namespace headlight
