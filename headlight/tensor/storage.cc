#include "headlight/tensor/storage.h"

#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr int kStepsPerOctave = 4;  // a block is at most a quarter larger than what was asked for when it was made
constexpr int kClasses = 48 * kStepsPerOctave;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Sizes grow by a quarter of a power of two: 64, 80, 96, 112, 128, 160, ...
int ClassOf(std::size_t bytes) {
  if (bytes <= 64) return 0;
  const int octave = std::bit_width(bytes - 1) - 1;  // 2^octave < bytes <= 2^(octave + 1)
  const std::size_t step = (std::size_t{1} << octave) / kStepsPerOctave;
  return (octave - 6) * kStepsPerOctave + static_cast<int>((bytes - (std::size_t{1} << octave) + step - 1) / step);
}

std::size_t ClassBytes(int size_class) {
  const std::size_t octave = std::size_t{64} << (size_class / kStepsPerOctave);
  return octave + octave / kStepsPerOctave * static_cast<std::size_t>(size_class % kStepsPerOctave);
}

struct Pool {
  std::mutex mutex;
  std::array<std::vector<std::byte*>, kClasses> free;
  StorageStatistics statistics;

  std::byte* Take(int wanted, int* taken) {
    const std::lock_guard lock(mutex);
    // Up to twice the size will do: better than a new block for each of the many lengths that batches have.
    for (int size_class = wanted; size_class <= wanted + kStepsPerOctave && size_class < kClasses; ++size_class) {
      if (free[size_class].empty()) continue;
      std::byte* block = free[size_class].back();
      free[size_class].pop_back();
      statistics.bytes_in_use += static_cast<std::int64_t>(ClassBytes(size_class));
      *taken = size_class;
      return block;
    }
    const std::size_t bytes = ClassBytes(wanted);
    const bool huge = bytes >= kHugePage;
    const std::size_t alignment = huge ? kHugePage : 64;
    auto* block =
        static_cast<std::byte*>(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
    Check(block != nullptr, "out of memory: no {} bytes more than the {} already held", bytes, statistics.bytes_held);
    if (huge) madvise(block, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
    ++statistics.system_allocations;
    statistics.bytes_held += static_cast<std::int64_t>(bytes);
    statistics.bytes_in_use += static_cast<std::int64_t>(bytes);
    *taken = wanted;
    return block;
  }

  void Give(std::byte* block, int size_class) {
    const std::lock_guard lock(mutex);
    statistics.bytes_in_use -= static_cast<std::int64_t>(ClassBytes(size_class));
    free[size_class].push_back(block);
  }
};

Pool& ThePool() {
  static Pool* pool = new Pool;  // never destroyed: tensors in static storage may outlive it otherwise
  return *pool;
}

}  // namespace

std::shared_ptr<std::byte> AllocateStorage(std::int64_t bytes) {
  Check(bytes >= 0 && bytes < (std::int64_t{1} << 46), "cannot allocate {} bytes", bytes);
  if (bytes == 0) return nullptr;
  int size_class = 0;
  std::byte* block = ThePool().Take(ClassOf(static_cast<std::size_t>(bytes)), &size_class);
  return {block, [size_class](std::byte* given) { ThePool().Give(given, size_class); }};
}

StorageStatistics GetStorageStatistics() {
  Pool& pool = ThePool();
  const std::lock_guard lock(pool.mutex);
  return pool.statistics;
}

void ReleaseUnusedStorage() {
  Pool& pool = ThePool();
  const std::lock_guard lock(pool.mutex);
  for (int size_class = 0; size_class < kClasses; ++size_class) {
    for (std::byte* block : pool.free[size_class]) {
      std::free(block);
      pool.statistics.bytes_held -= static_cast<std::int64_t>(ClassBytes(size_class));
    }
    pool.free[size_class].clear();
  }
}

}  // namespace headlight
