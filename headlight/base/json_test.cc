#include "headlight/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headlight/base/test_support.h"

namespace headlight::json_test {
namespace {

using testing::HasSubstr;

std::string ParseError(std::string_view text) {
  return ErrorOf([&] { ParseJson(text, "a.json"); });
}

TEST(Json, PrintsEveryKind) {
  const Json config = Json::Object{{"model_type", "marian"},
                                   {"d_model", 512},
                                   {"dropout", 0.1f},
                                   {"layer_norm_eps", 1e-5},
                                   {"scale", 1.0},
                                   {"seed", ~std::uint64_t{0}},
                                   {"least", std::numeric_limits<std::int64_t>::min()},
                                   {"tied", true},
                                   {"nothing", Json()},
                                   {"empty", Json::Array{}},
                                   {"axes", std::vector<int>{2, 3}},
                                   {"nested", Json::Object{{"quote \" \\ \n", "Fluß"}}}};
  EXPECT_EQ(config.Line(),
            R"({"model_type":"marian","d_model":512,"dropout":0.1,"layer_norm_eps":1e-05,"scale":1.0,)"
            R"("seed":18446744073709551615,"least":-9223372036854775808,"tied":true,"nothing":null,"empty":[],)"
            R"("axes":[2,3],"nested":{"quote \" \\ \n":"Fluß"}})");
  EXPECT_EQ(Json(Json::Object{{"a", Json::Array{1, Json::Object{}}}, {"b", "c"}}).Text(),
            "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"c\"\n}\n");
  EXPECT_EQ(ParseJson(config.Text(), "a.json"), config);
  EXPECT_EQ(ParseJson(config.Line(), "a.json"), config);
}

TEST(Json, NumbersReadBackExactly) {
  for (const double number : {0.0, -0.0, 0.1, 1e300, -1e-300, 5e-324, 3.0, 1e22, 123456789.125}) {
    const Json read = ParseJson(Json(number).Line(), "a.json");
    ASSERT_NE(read.As<double>(), nullptr) << number;
    EXPECT_EQ(*read.As<double>(), number);
    EXPECT_EQ(std::signbit(*read.As<double>()), std::signbit(number));
  }
}

TEST(Json, RejectsNanInfinityAndInvalidUtf8) {
  EXPECT_THROW(Json(std::numeric_limits<double>::quiet_NaN()).Line(), Error);
  EXPECT_THROW(Json(std::numeric_limits<float>::infinity()).Text(), Error);
  EXPECT_THROW(Json("\xff").Line(), Error);
  EXPECT_THROW(Json(3).Set("name", 4), Error);
}

TEST(Json, EqualityIgnoresTheOrderOfMembers) {
  EXPECT_EQ(R"({"a": [1, {"x": 1, "y": 2}], "b": 2})"_json, R"({"b": 2, "a": [1, {"y": 2, "x": 1}]})"_json);
  EXPECT_NE(R"({"a": 1, "b": 2})"_json, R"({"a": 1, "b": 3})"_json);
  EXPECT_NE(R"({"a": 1, "b": 2})"_json, R"({"a": 1, "c": 2})"_json);
  EXPECT_NE(R"({"a": 1})"_json, R"({"a": 1, "b": 2})"_json);
  EXPECT_NE("[1, 2]"_json, "[2, 1]"_json);
}

TEST(Json, SetsAndFindsMembers) {
  Json object = Json::Object{{"a", 1}, {"b", 2}};
  object.Set("a", 3);
  object.Set("c", "new");
  EXPECT_EQ(object.Line(), R"({"a":3,"b":2,"c":"new"})");
  EXPECT_EQ(*object.Find("c"), Json("new"));
  EXPECT_EQ(object.Find("d"), nullptr);
  EXPECT_EQ(Json(1).Find("d"), nullptr);
}

TEST(ParseJson, ReadsEveryKind) {
  const Json json = ParseJson(" {\"z\": [null, true, -1, 2.5, 18446744073709551615, \"\\u00e4\\n\"], \"a\": {}} ", "");
  EXPECT_EQ(json, Json(Json::Object{
                      {"z", Json::Array{Json(), true, -1, 2.5, ~std::uint64_t{0}, "ä\n"}},
                      {"a", Json::Object{}},
                  }));
  EXPECT_EQ(ParseJson("7", ""), Json(7));
}

TEST(ParseJson, RejectsInvalidTextWithItsLocation) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "a.json: byte 1: not valid JSON: unexpected end"},
      {"{\"a\": 1,\n \"b\" 2}", "a.json: line 2, column 6"},
      {"{\"a\": 1} x", "byte 10"},
      {"{\"a\": 1", "unexpected end of input"},
      {"[1, 2,]", "byte 7"},
      {"{'a': 1}", "byte 2"},
      {"{\"a\": NaN}", "byte 7"},
      {"[Infinity]", "byte 2"},
      {"[-Infinity]", "byte 3"},
      {"[1e999]", "the number '1e999'"},
      {"[01]", "byte 3"},
      {"// note\n1", "line 1"},
      {"\"\xff\"", "ill-formed UTF-8 byte"},
      {"\"\xc3\"", "ill-formed UTF-8 byte"},
      {R"("\ud800")", "surrogate"},
      {"\"a\tb\"", "control character"},
      {std::string_view("{}\0[]", 5), "a.json: byte 2 is zero"},
      {R"({"a": 1, "b": 2, "a": 3})", "a.json: key 'a' occurs twice"},
      {R"([{"x\ny": {"b": 2}, "x\u000ay": 3}])", "key 'x\\x0ay' occurs twice"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ParseError(text), HasSubstr(std::string(message))) << text;
  }
}

TEST(ParseJson, BoundsDepthAndNumberOfValues) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(ParseError(nested(64)), "");
  EXPECT_THAT(ParseError(nested(65)), HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(ParseError(std::string(1'000'000, '[')), HasSubstr("nested more than 64 deep"));

  std::string many = "[0";
  for (int i = 1; i < 1 << 22; ++i) many += ",0";
  EXPECT_THAT(ParseError(many + "]"), HasSubstr("more than 4194304 JSON values"));
}

TEST(ParseJson, SkipsMembers) {
  const JsonLimits limits = {.values = 6, .without = {"outline", "mask"}};
  EXPECT_EQ(ParseJson(R"([{"id": 1, "outline": [[0, 1], {"id": 2, "mask": []}], "box": 3}, {"mask": 4}])", "a", limits),
            ParseJson(R"([{"id": 1, "box": 3}, {}])", "a"));
  EXPECT_THAT(ErrorOf([&] { ParseJson(R"({"mask": [0, 1,]})", "a", limits); }), HasSubstr("not valid JSON"));
  EXPECT_THAT(
      ErrorOf([&] { ParseJson("{\"mask\": " + std::string(64, '[') + std::string(64, ']') + "}", "a", limits); }),
      HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(ErrorOf([&] { ParseJson(R"({"a": 1, "b": [1, 2, 3, 4, 5]})", "a", limits); }),
              HasSubstr("more than 6 JSON values"));
}

TEST(ParseJson, ReportsShortErrors) {
  EXPECT_LT(ParseError(std::string(1'000'000, 'x')).size(), 300u);
  EXPECT_LT(ParseError("\"" + std::string(1'000'000, 'x')).size(), 300u);
  const std::string key = "\"" + std::string(1'000'000, 'x') + "\": 1";
  EXPECT_LT(ParseError("{" + key + "," + key + "}").size(), 300u);
  EXPECT_LT(ParseError(std::string(1'000'000, '9') + "e1").size(), 300u);
}

// Checks that text with any truncation or flipped bit is parsed as a value or rejected with an Error. Printing and
// parsing a value again must return an equal value.
TEST(ParseJson, EveryTruncationAndEveryFlippedBit) {
  const std::string text =
      "{\"d_model\": 512, \"dropout\": 0.1, \"names\": [\"a\\n\", \"\xC3\xA4\", null, true], \"o\": {\"x\": -1e3}}";
  for (std::size_t length = 0; length < text.size(); ++length) EXPECT_NE(ParseError(text.substr(0, length)), "");
  int read = 0;
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    if (!ParseError(flipped).empty()) continue;
    ++read;
    const Json value = ParseJson(flipped, "a.json");
    EXPECT_EQ(ParseJson(value.Text(), "b.json"), value);
  }
  EXPECT_GT(read, 0);  // a changed letter or digit is often still valid JSON
}

TEST(Quoted, IsOneShortLine) {
  EXPECT_EQ(Quoted("layer.0"), "'layer.0'");
  EXPECT_EQ(Quoted("a\nb\x1b[31m\x7f"), "'a\\x0ab\\x1b[31m\\x7f'");
  EXPECT_EQ(Quoted(std::string(99, 'a') + "äb"), "'" + std::string(99, 'a') + "...'");
}

}  // namespace
}  // namespace headlight::json_test
