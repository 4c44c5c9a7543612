#include "headlight/text/metrics/text_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headlight/base/test_support.h"

namespace headlight::text_groups_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Numbers = std::vector<std::size_t>;

// Returns 40 texts. All contain "the", half contain "dog" and half "cat", three contain "skates", and one contains
// "helmet".
std::vector<std::string> Known() {
  std::vector<std::string> known;
  for (int i = 0; i < 40; ++i)
    known.push_back(fmt::format("The {} number{} runs{}{}.", i % 2 == 0 ? "dog" : "cat", i, i < 3 ? " on skates" : "",
                                i == 0 ? " with a helmet" : ""));
  return known;
}

std::vector<TextGroup> GroupsBy(const std::string& by, const std::vector<std::string>& texts) {
  std::vector<TextGroup> groups = GroupTexts(texts, Known());
  std::erase_if(groups, [&](const TextGroup& group) { return group.by != by; });
  return groups;
}

TEST(TextGroups, WordsAreCountedWithoutMarks) {
  const auto groups = GroupsBy("words", {"Dog , dog !", "dog", "dog cat dog - cat .", "the cat's dog", "a b c d e f"});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_THAT(groups[0].texts, ElementsAre(0, 1));
  EXPECT_EQ(groups[0].range, "1 to 2");
  EXPECT_THAT(groups[1].texts, ElementsAre(2, 3));
  EXPECT_EQ(groups[1].range, "3 to 4");
  EXPECT_THAT(groups[2].texts, ElementsAre(4));
  EXPECT_EQ(groups[2].range, "6 to 6");
}

TEST(TextGroups, TheRarestWordDecides) {
  const auto groups =
      GroupsBy("rarest word", {"The DOG runs", "the skates", "a cat on skates", "the zebra runs", "dog"});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].range, "new");
  EXPECT_THAT(groups[0].texts, ElementsAre(3));
  EXPECT_EQ(groups[1].range, "1 to 9 times");
  EXPECT_THAT(groups[1].texts, ElementsAre(1, 2));
  EXPECT_EQ(groups[2].range, "10 times or more");
  EXPECT_THAT(groups[2].texts, ElementsAre(0, 4));
}

TEST(TextGroups, LikenessIsTheCosineOfInformativeWords) {
  // Words in more than a tenth of the texts (the, dog, runs) have no weight. Text 7 contains only "number7" of the
  // query "number7 skates".
  const auto groups = GroupsBy("likeness", {"the dog runs", "dog number7", "number7 skates"});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_THAT(groups[0].texts, ElementsAre(0));
  EXPECT_EQ(groups[0].range, "0.00 to 0.00");
  const double number = std::log(40), skates = std::log(40.0 / 3);
  EXPECT_THAT(groups[1].texts, ElementsAre(2));
  EXPECT_EQ(groups[1].range, fmt::format("{0:.2f} to {0:.2f}", number / std::hypot(number, skates)));
  EXPECT_THAT(groups[2].texts, ElementsAre(1));
  EXPECT_EQ(groups[2].range, "1.00 to 1.00");
}

TEST(TextGroups, EqualTextsAreInOneGroupAndNoneIsEmpty) {
  const std::vector<std::string> same(5, "the dog");
  for (const TextGroup& group : GroupTexts(same, Known())) EXPECT_EQ(group.texts.size(), 5U) << group.by;
  EXPECT_THAT(GroupTexts({}, Known()), IsEmpty());
  EXPECT_EQ(GroupTexts(std::vector<std::string>{"", "..."}, Known()).front().range, "0 to 0");
  EXPECT_THAT(ErrorOf([&] { GroupTexts(same, {}); }), HasSubstr("no text to compare with"));
}

}  // namespace
}  // namespace headlight::text_groups_test
