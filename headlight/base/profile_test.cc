#include "headlight/base/profile.h"

#include <gtest/gtest.h>

namespace headlight::profile_test {
namespace {

TEST(Profile, SumsCallsWhileProfilingIsOn) {
  { const Profiled before("before", 1, 1); }
  StartProfile();
  for (int call = 0; call < 3; ++call) const Profiled product("product", 10, 4, 5, 100);
  { const Profiled copy("copy", 0, 7); }
  std::vector<ProfileEntry> entries = TakeProfile();
  { const Profiled after("after", 1, 1); }
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_GE(entries[0].seconds, entries[1].seconds);
  if (entries[0].operation == "copy") std::swap(entries[0], entries[1]);
  EXPECT_EQ(entries[0].operation, "product, 4 to 5");
  EXPECT_EQ(entries[0].calls, 3);
  EXPECT_EQ(entries[0].operations, 3 * 2 * 10 * 4 * 5);
  EXPECT_EQ(entries[1].operation, "copy");
  EXPECT_EQ(entries[1].bytes, 7);
  EXPECT_TRUE(TakeProfile().empty());
}

}  // namespace
}  // namespace headlight::profile_test
