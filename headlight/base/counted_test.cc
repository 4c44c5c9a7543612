#include "headlight/base/counted.h"

#include <gtest/gtest.h>

namespace headlight::counted_test {
namespace {

TEST(Counted, HasOneOrSeveral) {
  EXPECT_EQ(Counted(0, "text"), "0 texts");
  EXPECT_EQ(Counted(1, "text"), "1 text");
  EXPECT_EQ(Counted(std::size_t{2}, "box"), "2 boxes");
}

}  // namespace
}  // namespace headlight::counted_test
