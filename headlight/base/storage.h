// Memory for tensors and packed weights. What is given back is kept and handed out again, so that a training step, once
// the largest has been seen, asks the system for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "headlight/base/export.h"

namespace headlight {

// Zero bytes give a null pointer; otherwise aligned to 64 bytes, not initialised. Throws Error when memory is out.
HEADLIGHT_API std::shared_ptr<std::byte> AllocateStorage(std::int64_t bytes);

struct StorageStatistics {
  std::int64_t system_allocations = 0;  // since the program began
  std::int64_t bytes_held = 0;          // from the system, in use or kept
  std::int64_t bytes_in_use = 0;
};
HEADLIGHT_API StorageStatistics GetStorageStatistics();

// Gives every block that is not in use back to the system.
HEADLIGHT_API void ReleaseUnusedStorage();

}  // namespace headlight
