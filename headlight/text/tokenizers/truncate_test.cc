#include "headlight/text/tokenizers/truncate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"

namespace headlight::truncate_test {
namespace {

// Returns [CLS], `first` tokens with ids from 100, [SEP], `second` tokens with ids from 200, [SEP].
Encoding PairOf(std::int64_t first, std::int64_t second) {
  Encoding encoding;
  const auto add = [&](std::int32_t id, std::int32_t text) {
    encoding.ids.push_back(id);
    encoding.type_ids.push_back(0);
    encoding.texts.push_back(text);
    encoding.spans.push_back({id, id + 1});
    encoding.words.push_back(id);
  };
  add(1, -1);
  for (std::int32_t i = 0; i < first; ++i) add(100 + i, 0);
  add(2, -1);
  for (std::int32_t i = 0; i < second; ++i) add(200 + i, 1);
  add(2, -1);
  return encoding;
}

TEST(Truncate, TruncatesPairsLikeTheLibrary) {
  const JsonView goldens = ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/tokenizer_components.json");
  const std::vector<JsonView> rows = goldens["cut_pairs"].Items();
  ASSERT_GT(rows.size(), 300u);
  for (const JsonView& row : rows) {
    const std::vector<JsonView> numbers = row.Items();
    Encoding cut = PairOf(numbers[0].Integer(), numbers[1].Integer());
    const std::int64_t before = std::ssize(cut.ids);
    EXPECT_EQ(Truncate(cut, numbers[2].Integer()), before > numbers[2].Integer());
    const Encoding expected = PairOf(numbers[3].Integer(), numbers[4].Integer());
    EXPECT_EQ(cut.ids, expected.ids) << row.value().Line();
    EXPECT_EQ(cut.texts, expected.texts);
    EXPECT_EQ(cut.spans, expected.spans);
    EXPECT_EQ(cut.words, expected.words);
    EXPECT_EQ(cut.type_ids.size(), expected.ids.size());
  }
}

TEST(Truncate, CanTruncateTheBeginnings) {
  Encoding pair = PairOf(5, 2);
  EXPECT_TRUE(Truncate(pair, 7, CutAt::beginning));
  EXPECT_THAT(pair.ids, testing::ElementsAre(1, 103, 104, 2, 200, 201, 2));
}

TEST(Truncate, NeedsRoomForSpecialTokens) {
  Encoding pair = PairOf(2, 2);
  EXPECT_THAT(ErrorOf([&] { Truncate(pair, 2); }), testing::HasSubstr("2 tokens at once"));
}

}  // namespace
}  // namespace headlight::truncate_test
