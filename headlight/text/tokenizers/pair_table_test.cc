#include "headlight/text/tokenizers/pair_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace headlight::pair_table_test {
namespace {

TEST(PairTable, FindsTheFirstRankOfEachPair) {
  constexpr std::int32_t ids = 40;
  std::vector<PairTable::Pair> pairs;
  for (int twice = 0; twice < 2; ++twice)
    for (std::int32_t left = 0; left < ids; left += 3)
      for (std::int32_t right = left % 7; right < left; ++right) pairs.push_back({left, ids - 1 - right});
  const PairTable table(pairs, ids);
  for (std::int32_t left = 0; left < ids; ++left)
    for (std::int32_t right = 0; right < ids; ++right) {
      std::int32_t rank = -1;
      for (std::size_t i = pairs.size(); i-- > 0;)
        if (pairs[i].left == left && pairs[i].right == right) rank = static_cast<std::int32_t>(i);
      ASSERT_EQ(table.Find(left, right), rank) << left << " " << right;
    }
  EXPECT_EQ(PairTable().Find(0, 0), -1);
}

}  // namespace
}  // namespace headlight::pair_table_test
