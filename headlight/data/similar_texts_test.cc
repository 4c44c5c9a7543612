#include "headlight/data/similar_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/data/testing.h"

namespace headlight::similar_texts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SimilarTexts, AreReadFromTabsAndFromRecords) {
  const TestFolder folder;
  const std::vector<SimilarTexts> pairs = ReadSimilarTexts(
      {folder.Write("a.tsv", "one\tun\n\ntwo words\tdeux mots\tno\tnot\n"),
       folder.Write("b.jsonl",
                    "{\"anchor\": \"a\\tb\", \"positive\": \"c\", \"negatives\": [\"d\", \"e\"]}\n"
                    "{\"query\": \"f\", \"match\": \"g\", \"negative\": \"h\", \"negatives\": [\"i\"]}\n")});
  ASSERT_EQ(pairs.size(), 4U);
  EXPECT_THAT(pairs[0].negatives, testing::IsEmpty());
  EXPECT_EQ(pairs[1].text + "|" + pairs[1].match, "two words|deux mots");
  EXPECT_THAT(pairs[1].negatives, ElementsAre("no", "not"));
  EXPECT_THAT(pairs[1].location, testing::EndsWith("a.tsv:3"));
  EXPECT_EQ(pairs[2].text, "a\tb");
  EXPECT_THAT(pairs[2].negatives, ElementsAre("d", "e"));
  EXPECT_THAT(pairs[3].negatives, ElementsAre("h", "i"));
  const std::vector<SimilarTexts> named =
      ReadSimilarTexts({folder.Write("b.tsv", "positive\tid\tanchor\nun\t7\tone\n")});
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named[0].text + "|" + named[0].match, "one|un");
}

TEST(SimilarTexts, NameTheLineThatIsNone) {
  const TestFolder folder;
  for (const auto& [name, text, error] : std::vector<std::array<const char*, 3>>{
           {"a", "one\tun\ntwo", "a:2: expected a text, a tab and its match"},
           {"a", " \t \n", "a: there is no text in it"},
           {"a", "one\t", "a:1: the match is empty"},
           {"a", "one\tun\t", "a:1: a negative is empty"},
           {"a.jsonl", "{\"anchor\": \"one\"}", "a.jsonl:1"},
           {"a.jsonl", "{\"anchor\": \"one\", \"positive\": \"a\", \"negatives\": [1]}", "a.jsonl:1"}})
    EXPECT_THAT(ErrorOf([&, name = name, text = text] { ReadSimilarTexts({folder.Write(name, text)}); }),
                HasSubstr(error));
}

}  // namespace
}  // namespace headlight::similar_texts_test
