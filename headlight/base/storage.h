// Memory for tensors and packed weights. Freed blocks are reused, so that after its largest step a training run makes
// no more system allocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "headlight/base/export.h"

namespace headlight {

/// Allocates uninitialised memory, aligned to 64 bytes; a null pointer for 0 bytes. Throws Error if memory is
/// exhausted.
HEADLIGHT_API std::shared_ptr<std::byte> AllocateStorage(std::int64_t bytes);

struct StorageStatistics {
  std::int64_t system_allocations = 0;  ///< since the program started
  std::int64_t bytes_held = 0;          ///< allocated from the system, in use or free
  std::int64_t bytes_in_use = 0;
};
HEADLIGHT_API StorageStatistics GetStorageStatistics();

/// Returns regions without used blocks to the system, and free pages of the heap.
HEADLIGHT_API void ReleaseUnusedStorage();

}  // namespace headlight
