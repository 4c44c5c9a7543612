// Allocates memory for tensors and packed weights. Freed blocks are reused, so a training run makes no system
// allocations after its largest step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "headlight/base/export.h"

namespace headlight {

/// Allocates uninitialized memory, aligned to 64 bytes. Returns a null pointer for 0 bytes. Throws Error if memory is
/// exhausted.
HEADLIGHT_API std::shared_ptr<std::byte> AllocateStorage(std::int64_t bytes);

struct StorageStatistics {
  std::int64_t system_allocations = 0;  ///< number of allocations from the system since the program started
  std::int64_t bytes_held = 0;          ///< bytes allocated from the system, in use or free
  std::int64_t bytes_in_use = 0;
};
HEADLIGHT_API StorageStatistics GetStorageStatistics();

/// Returns regions without used blocks, and free pages of the heap, to the system.
HEADLIGHT_API void ReleaseUnusedStorage();

}  // namespace headlight
