// Memory for tensors and packed weights. Freed blocks are kept and reused, so that after the largest step a training
// allocates nothing more from the system.
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

// Returns regions without a block in use to the system.
HEADLIGHT_API void ReleaseUnusedStorage();

}  // namespace headlight
