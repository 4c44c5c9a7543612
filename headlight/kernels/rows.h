// Divides rows among threads. Chunks and blocks depend only on the shape, so that results have the same bits for any
// number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/matrix.h"
#include "headlight/base/parallel.h"

namespace headlight {

/// Returns the number of bytes that a kernel moves in `times` passes over the matrix.
template <typename T>
double BytesOf(const Matrix<T>& matrix, int times) {
  return static_cast<double>(times) * static_cast<double>(sizeof(T)) * static_cast<double>(matrix.rows) *
         static_cast<double>(matrix.columns);
}

/// The number of elements per chunk. It is large enough that the overhead of a task (about a microsecond) is
/// negligible.
constexpr std::int64_t kElementsPerChunk = 16384;

/// Calls body(first_row, rows) in parallel for chunks that cover the rows.
template <class Body>
void ForRowChunks(std::int64_t rows, std::int64_t columns, const Body& body) {
  const std::int64_t chunk = std::max<std::int64_t>(1, kElementsPerChunk / std::max<std::int64_t>(1, columns));
  if (rows <= chunk) {
    if (rows > 0) body(std::int64_t{0}, rows);
    return;
  }
  const auto work = [&](std::int64_t index) { body(index * chunk, std::min(chunk, rows - index * chunk)); };
  ParallelFor((rows + chunk - 1) / chunk, std::ref(work));  // std::ref avoids an allocation by std::function
}

/// Calls body(block, group, this thread's next group, or `groups` after the last) in parallel for a product's blocks of
/// rows and groups of columns. A thread computes all groups of its blocks, because rows that it wrote in the previous
/// operation are in its caches. The thread keeps a group's weights in the cache while it iterates over the blocks.
template <class Body>
void ForBlocksAndGroups(std::int64_t blocks, std::int64_t groups, const Body& body) {
  const std::int64_t shares = Threads();
  const auto work = [&](std::int64_t index) {
    const std::int64_t share = ((index / groups + 1) * shares - 1) / blocks;
    const std::int64_t first = share * blocks / shares, own = (share + 1) * blocks / shares - first;
    const std::int64_t position = index - first * groups;
    body(first + position % own, position / own, (position + 1) / own);
  };
  ParallelFor(blocks * groups, std::ref(work));
}

/// Returns scratch memory, aligned to 64 bytes, that each thread keeps between calls. Each type `Use` has separate
/// memory.
template <class Use, typename T>
T* KeptScratch(std::int64_t count) {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  thread_local std::vector<Line> scratch;
  const std::size_t lines = (static_cast<std::size_t>(count) * sizeof(T) + sizeof(Line) - 1) / sizeof(Line);
  if (scratch.size() < lines) scratch.resize(lines);
  return reinterpret_cast<T*>(scratch.data());
}

/// Adds sums over rows to sums[columns]. body(first_row, rows, partial) must add the contribution of its rows to
/// partial[columns]. Blocks of rows are summed separately, then their sums are added in order.
template <typename T, class Body>
void AddRowSums(std::int64_t rows, std::int64_t columns, T* sums, const Body& body) {
  struct Partial;
  constexpr std::int64_t most_blocks = 64, fewest_rows = 64;
  const std::int64_t block = std::max(fewest_rows, (rows + most_blocks - 1) / most_blocks);
  const std::int64_t blocks = (rows + block - 1) / block;
  T* const partials = KeptScratch<Partial, T>(blocks * columns);
  const auto work = [&](std::int64_t index) {
    T* const partial = partials + index * columns;
    std::fill_n(partial, columns, T{0});
    body(index * block, std::min(block, rows - index * block), partial);
  };
  if (rows * columns <= kElementsPerChunk) {
    for (std::int64_t index = 0; index < blocks; ++index) work(index);
  } else {
    ParallelFor(blocks, std::ref(work));
  }
  for (std::int64_t index = 0; index < blocks; ++index) {
    for (std::int64_t column = 0; column < columns; ++column) sums[column] += partials[index * columns + column];
  }
}

}  // namespace headlight
