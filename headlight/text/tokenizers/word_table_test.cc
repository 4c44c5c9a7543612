#include "headlight/text/tokenizers/word_table.h"

#include <gtest/gtest.h>

#include <string>

namespace headlight::word_table_test {
namespace {

TEST(WordTable, FindsTheFirstNumberOfEachText) {
  WordTable table;
  EXPECT_EQ(table.Find("a"), -1);
  table.Insert("", 7);
  for (std::int32_t i = 0; i < 1000; ++i) EXPECT_EQ(table.Insert(std::to_string(i), i), i);
  for (std::int32_t i = 0; i < 1000; ++i) EXPECT_EQ(table.Insert(std::to_string(i), 1), i);
  EXPECT_EQ(table.size(), 1001U);
  EXPECT_EQ(table.Find(""), 7);
  for (std::int32_t i = 0; i < 1000; ++i) ASSERT_EQ(table.Find(std::to_string(i)), i);
  EXPECT_EQ(table.Find("1000"), -1);
  EXPECT_EQ(table.Find("01"), -1);
}

}  // namespace
}  // namespace headlight::word_table_test
