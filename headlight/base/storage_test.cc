#include "headlight/base/storage.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/random.h"

namespace headlight::storage_test {
namespace {

constexpr std::int64_t kMegabyte = 1 << 20;

TEST(Storage, MergesFreedBlocks) {
  ReleaseUnusedStorage();
  { const auto whole = AllocateStorage(24 * kMegabyte); }
  const std::int64_t before = GetStorageStatistics().system_allocations;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::shared_ptr<std::byte>> pieces;
    for (int i = 0; i < 24; ++i) pieces.push_back(AllocateStorage(kMegabyte - 1000 * i));
    for (const int second : {1, 0})
      for (std::size_t i = static_cast<std::size_t>(second); i < pieces.size(); i += 2) pieces[i].reset();
    const auto whole = AllocateStorage(24 * kMegabyte);
  }
  EXPECT_EQ(GetStorageStatistics().system_allocations, before);
  ReleaseUnusedStorage();
}

TEST(Storage, BlocksDoNotOverlap) {
  ReleaseUnusedStorage();
  const std::int64_t in_use = GetStorageStatistics().bytes_in_use;
  struct Held {
    std::shared_ptr<std::byte> block;
    std::size_t bytes;
    int mark;
  };
  std::vector<Held> held;
  Random random(1, 1);
  for (int step = 0; step < 4000; ++step) {
    if (held.size() > 40 || (step % 3 == 0 && !held.empty())) {
      const std::size_t which = random.Below(held.size());
      const Held& gone = held[which];
      for (std::size_t i = 0; i < gone.bytes; ++i) ASSERT_EQ(static_cast<int>(gone.block.get()[i]), gone.mark);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const std::size_t bytes = 1 + random.Below(random.Below(4) == 0 ? 200000 : 3000);
    held.push_back({AllocateStorage(static_cast<std::int64_t>(bytes)), bytes, step % 251});
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(held.back().block.get()) % 64, 0U);
    std::memset(held.back().block.get(), held.back().mark, bytes);
  }
  held.clear();
  EXPECT_EQ(GetStorageStatistics().bytes_in_use, in_use);
}

TEST(Storage, ReturnsUnusedRegionsToTheSystem) {
  ReleaseUnusedStorage();
  const std::int64_t before = GetStorageStatistics().bytes_held;
  {
    const auto large = AllocateStorage(123456789);
    const auto small = AllocateStorage(1);
    EXPECT_GE(GetStorageStatistics().bytes_held, before + 123456789);
  }
  ReleaseUnusedStorage();
  EXPECT_EQ(GetStorageStatistics().bytes_held, before);
}

TEST(Storage, RejectsInvalidSizes) {
  EXPECT_EQ(AllocateStorage(0), nullptr);
  EXPECT_THROW(AllocateStorage(-1), Error);
  EXPECT_THROW(AllocateStorage(std::int64_t{1} << 47), Error);
}

}  // namespace
}  // namespace headlight::storage_test
