#include "headlight/data/text_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/data/testing.h"

namespace headlight::text_pairs_test {
namespace {

using testing::HasSubstr;

TEST(TextPairs, AreReadFromTabsAndFromJsonLines) {
  const TestFolder folder;
  const std::vector<TextPair> pairs =
      ReadTextPairs({folder.Write("a.tsv", "one\tun\n\ntwo words\tdeux mots\n"),
                     folder.Write("b.jsonl", R"({"source": "a\tb", "id": 7, "target": "{}"})")});
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[1].source + "|" + pairs[1].target, "two words|deux mots");
  EXPECT_THAT(pairs[1].place, testing::EndsWith("a.tsv:3"));
  EXPECT_EQ(ReadTextPairs({folder.Write("c.csv", "id,source,target\n1,\"a,\nb\",c\n")})[0].source, "a,\nb");
  EXPECT_EQ(pairs[2].source + "|" + pairs[2].target, "a\tb|{}");
}

TEST(TextPairs, NameTheLineThatIsNone) {
  const TestFolder folder;
  for (const auto& [name, text, error] : std::vector<std::array<const char*, 3>>{
           {"a", "one\tun\ntwo", "a:2: expected a source, a tab and its target"},
           {"a", "one\tun\tuno", "a:1: expected"},
           {"a", " \t \n", "a: there is no text in it"},
           {"a", "one\t", "a:1: the target is empty"},
           {"a.jsonl", "{\"source\": \"one\"}", "a.jsonl:1: key 'target'"},
           {"a.jsonl", "{\"source\": \"\", \"target\": \"x\"}", "a.jsonl:1: the source is empty"},
           {"a.jsonl", "one\tun", "a.jsonl:1"}})
    EXPECT_THAT(ErrorOf([&, name = name, text = text] { ReadTextPairs({folder.Write(name, text)}); }),
                HasSubstr(error));
}

}  // namespace
}  // namespace headlight::text_pairs_test
