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
  for (const char* name : {"a.JSONL", "a.ndjson", "a.json", "a.Csv.GZ"}) EXPECT_TRUE(HasRecords(name)) << name;
  for (const char* other : {"train.gz", "jsonl", "a.jsonl/train.tsv", ""}) EXPECT_FALSE(HasRecords(other)) << other;
  EXPECT_EQ(TextFormatOf("a.TSV"), TextFormat::tsv);
  EXPECT_TRUE(IsJson("dev.JSON.gz"));
  EXPECT_FALSE(IsJson("dev.jsonl"));
}

TEST(Records, ReadsAnArrayOverManyLines) {
  const TestFolder folder;
  Records array(
      folder.Write("a.json", "\xEF\xBB\xBF[\n  {\"text\": \"}\\\"],\",\n   \"more\": [{}]},\n{\"text\": \"b\"} ]\n\n"));
  const auto first = array.Next();
  ASSERT_TRUE(first);
  EXPECT_EQ(TextOf((*first)["text"]), "}\"],");
  EXPECT_EQ(array.line_number(), 2);
  const auto second = array.Next();
  ASSERT_TRUE(second);
  EXPECT_EQ(TextOf((*second)["text"]), "b");
  EXPECT_THAT((*second)["text"].location(), testing::EndsWith("a.json:4: key 'text'"));
  EXPECT_FALSE(array.Next());
  EXPECT_FALSE(array.Next());
  EXPECT_FALSE(Records(folder.Write("b.json", "[]")).Next());
}

TEST(Records, RefusesWhatIsNoArrayOfObjects) {
  const TestFolder folder;
  for (const auto& [text, error] : {std::pair("[1]", "a.json:1: '1' is not expected in an array of objects"),
                                    {"[{}\n{}]", "a.json:2: '{' is not expected"},
                                    {"[{},]", "a.json:1: ']' is not expected"},
                                    {"[,{}]", "a.json:1: ',' is not expected"},
                                    {"[{}] x", "a.json:1: 'x' is not expected"},
                                    {"[{},\n{\"a\": 1", "a.json: the JSON array has no closing bracket"},
                                    {"[{}", "a.json: the JSON array has no closing bracket"},
                                    {"[{\"a\": }]", "a.json:1: byte 7: not valid JSON"}}) {
    Records records(folder.Write("a.json", text));
    const auto all = [&] {
      while (records.Next()) continue;
    };
    EXPECT_THAT(ErrorOf(all), HasSubstr(error)) << text;
  }
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
