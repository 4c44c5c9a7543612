#include "headlight/data/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/data/testing.h"

namespace headlight {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(JsonLines, ReadsObjectsAndSkipsEmptyLines) {
  const TestFolder folder;
  JsonLines lines(folder.Write("a.jsonl",
                               "{\"text\": \"\\u00e4 \\ud83d\\ude00\", \"n\": -3, \"more\": [[{}]]}\r\n\n"
                               "{\"list\": [\"a\", \"\"], \"ints\": [], \"label\": 7, \"none\": null}"));
  const auto first = lines.Next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->String("text"), "ä 😀");
  EXPECT_EQ(first->StringOrInteger("text"), "ä 😀");
  EXPECT_EQ(first->Integer("n", -3, 0), -3);
  const auto second = lines.Next();
  ASSERT_TRUE(second);
  EXPECT_THAT(second->Strings("list"), ElementsAre("a", ""));
  EXPECT_THAT(second->Integers("ints", 0, 1), ElementsAre());
  EXPECT_EQ(second->StringOrInteger("label"), "7");
  EXPECT_TRUE(second->IsArray("list"));
  EXPECT_FALSE(second->IsArray("label") || second->Has("none") || second->Has("text"));
  EXPECT_FALSE(lines.Next());
}

TEST(JsonLines, ObjectsInObjectsKnowTheirPlace) {
  const JsonObject line = JsonObject::Parse(R"({"answers": [{"start": 1}, {"start": "x"}], "o": {"p": {}}})", "f:3");
  const std::vector<JsonObject> answers = line.Objects("answers");
  ASSERT_EQ(answers.size(), 2);
  EXPECT_EQ(answers[0].Integer("start", 0, 1), 1);
  EXPECT_EQ(ErrorOf([&] { answers[1].Integer("start", 0, 1); }),
            "f:3: key 'answers[1].start': expected an integer from 0 to 1, got a string");
  EXPECT_EQ(line.Object("o").Object("p").Place("q"), "f:3: key 'o.p.q'");
}

TEST(JsonLines, IsToldByTheName) {
  EXPECT_TRUE(IsJsonLines("a/train.jsonl"));
  EXPECT_TRUE(IsJsonLines("train.jsonl.gz"));
  for (const char* other : {"train.json", "train.gz", "jsonl", "a.jsonl/train.tsv", ""})
    EXPECT_FALSE(IsJsonLines(other)) << other;
}

TEST(JsonLines, RefusesWhatIsNoObject) {
  const auto refused = [](const std::string& line) { return ErrorOf([&] { JsonObject::Parse(line, "f:1"); }); };
  const std::string object = R"({"text": "a", "n": [1, 2]})";
  for (std::size_t size = 0; size < object.size(); ++size)
    EXPECT_THAT(refused(object.substr(0, size)), HasSubstr("not valid JSON, or was cut short")) << size;
  EXPECT_EQ(refused("[]"), "f:1: expected an object, got an array");
  EXPECT_EQ(refused("3"), "f:1: expected an object, got a number");
  for (const char* broken : {"{} {}", "{'a': 1}", "{\"a\": 1,}", "{\"a\": NaN}", "{\"a\": \"\\ud800\"}",
                             "{\"a\": \"\x01\"}", "{\"a\": \"\xff\"}", "{\"a\": 01}"})
    EXPECT_THAT(refused(broken), HasSubstr("not valid JSON")) << broken;
  EXPECT_EQ(refused("{\"a\": 1e999}"), "f:1: a number in it is too large");
  EXPECT_EQ(refused(R"({"a": 1, "b": {"a": 2, "c": 3, "c": 3}})"), "f:1: a key of 1 bytes stands twice in one object");
  EXPECT_THAT(refused("{\"a\": " + std::string(100000, '[')), HasSubstr("nests deeper than 16 levels"));
  EXPECT_EQ(refused("{\"a\": " + std::string(15, '[') + std::string(15, ']') + "}"), "");
}

TEST(JsonLines, RefusesOtherTypes) {
  const JsonObject line =
      JsonObject::Parse(R"({"s": "a", "nul": "a\u0000", "i": 5, "f": 5.0, "big": 18446744073709551615, "t": true,)"
                        R"( "a": ["x", 1], "n": [1, -1], "o": {"s": 1}})",
                        "f:2");
  const auto refused = [](const auto& ask) { return ErrorOf(ask); };
  EXPECT_EQ(refused([&] { line.String("none"); }), "f:2: key 'none': expected a string, but there is none");
  EXPECT_EQ(refused([&] { line.String("i"); }), "f:2: key 'i': expected a string, got a number");
  EXPECT_EQ(refused([&] { line.String("nul"); }), "f:2: key 'nul': it holds a NUL, which no text has");
  EXPECT_EQ(refused([&] { line.StringOrInteger("f"); }), "f:2: key 'f': expected a string or an integer, got a number");
  EXPECT_EQ(refused([&] { line.Integer("f", 0, 9); }), "f:2: key 'f': expected an integer from 0 to 9, got a number");
  EXPECT_EQ(refused([&] { line.Integer("i", 0, 4); }), "f:2: key 'i': expected an integer from 0 to 4, got 5");
  EXPECT_THAT(refused([&] { line.Integer("big", -9, 9); }), HasSubstr("got 18446744073709551615"));
  EXPECT_EQ(refused([&] { line.Integer("t", 0, 9); }),
            "f:2: key 't': expected an integer from 0 to 9, got true or false");
  EXPECT_EQ(refused([&] { line.Strings("a"); }), "f:2: key 'a[1]': expected a string, got a number");
  EXPECT_EQ(refused([&] { line.Strings("s"); }), "f:2: key 's': expected an array of strings, got a string");
  EXPECT_EQ(refused([&] { line.Integers("n", 0, 9); }), "f:2: key 'n[1]': expected an integer from 0 to 9, got -1");
  EXPECT_EQ(refused([&] { line.Object("a"); }), "f:2: key 'a': expected an object, got an array");
  EXPECT_EQ(refused([&] { line.Objects("a"); }), "f:2: key 'a[0]': expected an object, got a string");
  EXPECT_EQ(refused([&] { line.Objects("o"); }), "f:2: key 'o': expected an array of objects, got an object");
}

}  // namespace
}  // namespace headlight
