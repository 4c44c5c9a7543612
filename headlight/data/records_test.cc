#include "headlight/data/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "headlight/data/testing.h"

namespace headlight::records_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Records, ReadsObjectsAndSkipsEmptyLines) {
  const TestFolder folder;
  Records lines(folder.Write("a.jsonl",
                             "{\"text\": \"\\u00e4 \\ud83d\\ude00\", \"n\": -3, \"more\": [[{}]]}\r\n\n"
                             "{\"list\": [\"a\", \"\"], \"none\": null}"));
  const auto first = lines.Next();
  ASSERT_TRUE(first);
  EXPECT_EQ(TextOf((*first)["text"]), "ä 😀");
  EXPECT_EQ((*first)["n"].Integer(-3, 0), -3);
  const auto second = lines.Next();
  ASSERT_TRUE(second);
  EXPECT_THAT(TextsOf((*second)["list"]), ElementsAre("a", ""));
  EXPECT_FALSE((*second)["none"].present());
  EXPECT_FALSE(lines.Next());
}

TEST(Records, IsToldByTheName) {
  EXPECT_TRUE(HasRecords("a/train.jsonl"));
  EXPECT_TRUE(HasRecords("train.jsonl.gz"));
  EXPECT_TRUE(HasRecords("train.csv"));
  for (const char* other : {"train.json", "train.gz", "jsonl", "a.jsonl/train.tsv", ""})
    EXPECT_FALSE(HasRecords(other)) << other;
}

TEST(Records, RefusesOtherLinesWithTheirPlace) {
  const TestFolder folder;
  const std::string path = folder.Write("a.jsonl", "{}\n[]\n3\n{\"a\": 1,}\n{\"s\": 1, \"t\": [\"\", \"a\\u0000\"]}");
  Records lines(path);
  EXPECT_TRUE(lines.Next());
  const auto refused = [&](const auto& call) {
    const std::string error = ErrorOf(call);
    return error.substr(std::min(error.size(), error.find("a.jsonl")));
  };
  const auto next = [&] { lines.Next(); };
  EXPECT_EQ(refused(next), "a.jsonl:2: expected an object, got an array");
  EXPECT_EQ(refused(next), "a.jsonl:3: expected an object, got 3");
  EXPECT_THAT(refused(next), HasSubstr("a.jsonl:4: byte 9: not valid JSON"));
  const auto last = lines.Next();
  ASSERT_TRUE(last);
  EXPECT_EQ(refused([&] { TextOf((*last)["s"]); }), "a.jsonl:5: key 's': expected a string, got 1");
  EXPECT_EQ(refused([&] { TextOf((*last)["u"]); }), "a.jsonl:5: key 'u': expected a string, but there is none");
  EXPECT_EQ(refused([&] { TextsOf((*last)["s"]); }), "a.jsonl:5: key 's': expected an array, got 1");
  EXPECT_EQ(refused([&] { TextsOf((*last)["t"]); }), "a.jsonl:5: key 't[1]': it holds a NUL, which no text has");
}

}  // namespace
}  // namespace headlight::records_test
