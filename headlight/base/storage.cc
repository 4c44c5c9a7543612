#include "headlight/base/storage.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "headlight/base/error.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEADLIGHT_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HEADLIGHT_ASAN 1
#endif
#ifdef HEADLIGHT_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) ((void)(begin), (void)(bytes))
#endif

namespace headlight {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// Blocks of at least this size have separate regions, so that small, long-lived blocks do not fragment them.
constexpr std::size_t kLargeBlock = std::size_t{64} << 10;

std::size_t RoundUp(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::byte* MapPages(std::size_t bytes) {
  const std::size_t wider = bytes + kHugePage;
  void* mapped = mmap(nullptr, wider, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(mapped);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, wider - before - bytes);
  madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

// A best-fit allocator. Regions from the system are divided into blocks. A freed block is merged with free neighbors.
// Give does not allocate, because it runs in destructors: a used block keeps its node of the free list. Take has no
// effect if it throws.
class Arena {
 public:
  explicit Arena(std::size_t region_bytes) : region_bytes_(region_bytes) {}

  std::byte* Take(std::size_t bytes, StorageStatistics& statistics) {
    auto fit = free_.lower_bound({bytes, nullptr});
    if (fit == free_.end()) fit = Grow(bytes, statistics);
    const auto [size, begin] = *fit;
    Block& block = blocks_.at(begin);
    if (size > bytes) {
      AddFree(begin + bytes, size - bytes, /*first=*/false);
      block.bytes = bytes;
    }
    block.node = free_.extract(fit);
    statistics.bytes_in_use += static_cast<std::int64_t>(bytes);
    ASAN_UNPOISON_MEMORY_REGION(begin, bytes);
    return begin;
  }

  void Give(std::byte* begin, StorageStatistics& statistics) {
    auto block = blocks_.find(begin);
    ASAN_POISON_MEMORY_REGION(begin, block->second.bytes);
    statistics.bytes_in_use -= static_cast<std::int64_t>(block->second.bytes);
    FreeBlocks::node_type node = std::move(block->second.node);
    if (const auto next = std::next(block); next != blocks_.end() && next->second.free() && !next->second.first) {
      free_.erase({next->second.bytes, next->first});
      block->second.bytes += next->second.bytes;
      blocks_.erase(next);
    }
    if (!block->second.first && std::prev(block)->second.free()) {
      const auto previous = std::prev(block);
      free_.erase({previous->second.bytes, previous->first});
      previous->second.bytes += block->second.bytes;
      blocks_.erase(block);
      block = previous;
    }
    node.value() = {block->second.bytes, block->first};
    free_.insert(std::move(node));
  }

  void ReleaseUnused(StorageStatistics& statistics) {
    for (auto block = blocks_.begin(); block != blocks_.end();) {
      const auto next = std::next(block);
      const bool whole_region = block->second.first && (next == blocks_.end() || next->second.first);
      if (whole_region && block->second.free()) {
        ASAN_UNPOISON_MEMORY_REGION(block->first, block->second.bytes);
        munmap(block->first, block->second.bytes);
        statistics.bytes_held -= static_cast<std::int64_t>(block->second.bytes);
        free_.erase({block->second.bytes, block->first});
        blocks_.erase(block);
      }
      block = next;
    }
  }

 private:
  using FreeBlocks = std::set<std::pair<std::size_t, std::byte*>>;
  struct Block {
    std::size_t bytes;
    bool first;                  // true for the first block of its region
    FreeBlocks::node_type node;  // node of free_, kept while the block is in use

    bool free() const { return node.empty(); }
  };

  FreeBlocks::iterator AddFree(std::byte* begin, std::size_t bytes, bool first) {
    const auto block = blocks_.emplace(begin, Block{bytes, first, {}}).first;
    try {
      return free_.emplace(bytes, begin).first;
    } catch (...) {
      blocks_.erase(block);
      throw;
    }
  }

  FreeBlocks::iterator Grow(std::size_t bytes, StorageStatistics& statistics) {
    const std::size_t region = RoundUp(std::max(bytes, region_bytes_), kHugePage);
    std::byte* begin = MapPages(region);
    Check(begin != nullptr, "out of memory: {} bytes are needed in addition to the {} already allocated", region,
          statistics.bytes_held);
    FreeBlocks::iterator free;
    try {
      free = AddFree(begin, region, /*first=*/true);
    } catch (...) {
      munmap(begin, region);
      throw;
    }
    ++statistics.system_allocations;
    statistics.bytes_held += static_cast<std::int64_t>(region);
    ASAN_POISON_MEMORY_REGION(begin, region);
    return free;
  }

  std::size_t region_bytes_;
  std::map<std::byte*, Block> blocks_;  // sorted by address
  FreeBlocks free_;                     // sorted by size, then address
};

struct StoragePool {
  std::mutex mutex;
  Arena small{kHugePage}, large{16 * kHugePage};
  StorageStatistics statistics;
};

StoragePool& TheStoragePool() {
  static StoragePool* pool = new StoragePool;  // never destroyed: static tensors may outlive it
  return *pool;
}

}  // namespace

std::shared_ptr<std::byte> AllocateStorage(std::int64_t bytes) {
  Check(bytes >= 0 && bytes < (std::int64_t{1} << 46), "cannot allocate {} bytes", bytes);
  if (bytes == 0) return nullptr;
  StoragePool& pool = TheStoragePool();
  const std::size_t rounded = RoundUp(static_cast<std::size_t>(bytes), kAlignment);
  Arena& arena = rounded < kLargeBlock ? pool.small : pool.large;
  std::unique_lock lock(pool.mutex);
  std::byte* block = arena.Take(rounded, pool.statistics);
  lock.unlock();
  return {block, [&pool, &arena](std::byte* given) {
            const std::lock_guard lock_again(pool.mutex);
            arena.Give(given, pool.statistics);
          }};
}

StorageStatistics GetStorageStatistics() {
  StoragePool& pool = TheStoragePool();
  const std::lock_guard lock(pool.mutex);
  return pool.statistics;
}

void ReleaseUnusedStorage() {
  malloc_trim(0);
  StoragePool& pool = TheStoragePool();
  const std::lock_guard lock(pool.mutex);
  pool.small.ReleaseUnused(pool.statistics);
  pool.large.ReleaseUnused(pool.statistics);
}

}  // namespace headlight
