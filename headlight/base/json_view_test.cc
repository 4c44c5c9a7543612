#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"

namespace headlight::json_view_test {
namespace {

JsonView View(std::string_view text) { return {ParseJson(text, "m/config.json"), "m/config.json"}; }

TEST(JsonView, ReadsEveryKind) {
  const JsonView config = View(R"({"n": 3, "x": 0.5, "one": 1, "yes": true, "s": "relu", "big": 18446744073709551615,
                                   "none": null, "list": [1, {"a": "b"}], "map": {"0": "LABEL_0", "1": "LABEL_1"}})");
  EXPECT_EQ(config["n"].Integer(), 3);
  EXPECT_EQ(config["n"].Integer(3, 3), 3);
  EXPECT_EQ(config["n"].Unsigned(), 3u);
  EXPECT_EQ(config["big"].Unsigned(), ~std::uint64_t{0});
  EXPECT_EQ(config["x"].Number(0, 1), 0.5);
  EXPECT_EQ(config["one"].Number(0, 1), 1.0);
  EXPECT_TRUE(config["yes"].Bool());
  EXPECT_EQ(config["s"].String({"gelu", "relu"}), "relu");
  EXPECT_EQ(config["list"].Items().size(), 2u);
  EXPECT_EQ(config["list"].Items()[1]["a"].String(), "b");
  EXPECT_EQ(View(R"(["a", "b"])").Strings(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config["map"].Members()[1].first, "1");
  EXPECT_EQ(config["map"].Members()[1].second.String(), "LABEL_1");
}

TEST(JsonView, AbsentAndNullTakeTheFallback) {
  const JsonView config = View(R"({"n": 3, "none": null})");
  EXPECT_FALSE(config["none"].present());
  EXPECT_FALSE(config["missing"].present());
  EXPECT_EQ(config.Get("n", 7).Integer(), 3);
  EXPECT_EQ(config.Get("none", 7).Integer(), 7);
  EXPECT_EQ(config.Get("missing", "relu").String(), "relu");
}

TEST(JsonView, ErrorsNameFileKeyAndRule) {
  const JsonView config = View(R"({"n": 0, "x": 1.5, "s": "swish", "o": {"deep": ["a\nb"]}, "none": null,
                                   "big": 9223372036854775808})");
  const auto message = [&](auto read) { return ErrorOf([&] { read(); }); };
  EXPECT_EQ(message([&] { config["n"].Integer(1); }),
            "m/config.json: key 'n': expected an integer of at least 1, got 0");
  EXPECT_EQ(message([&] { config["n"].Integer(1, 8); }),
            "m/config.json: key 'n': expected an integer from 1 to 8, got 0");
  EXPECT_EQ(message([&] { config["x"].Integer(); }), "m/config.json: key 'x': expected an integer, got 1.5");
  EXPECT_EQ(message([&] { config["big"].Integer(); }),
            "m/config.json: key 'big': expected an integer, got 9223372036854775808");
  EXPECT_EQ(message([&] { config["x"].Unsigned(); }),
            "m/config.json: key 'x': expected an integer from 0 to 2^64 - 1, got 1.5");
  EXPECT_EQ(message([&] { config["x"].Number(0, 1); }),
            "m/config.json: key 'x': expected a number from 0 to 1, got 1.5");
  EXPECT_EQ(message([&] { config["s"].Number(2); }),
            "m/config.json: key 's': expected a number of at least 2, got 'swish'");
  EXPECT_EQ(message([&] {
              config["s"].String({"relu", "gelu"});
            }),
            "m/config.json: key 's': expected one of 'relu', 'gelu', got 'swish'");
  EXPECT_EQ(message([&] { config["n"].Bool(); }), "m/config.json: key 'n': expected true or false, got 0");
  EXPECT_EQ(message([&] { config["o"].String(); }), "m/config.json: key 'o': expected a string, got an object");
  EXPECT_EQ(message([&] { config["missing"].Integer(); }),
            "m/config.json: key 'missing': expected an integer, but there is none");
  EXPECT_EQ(message([&] { config["none"].String(); }),
            "m/config.json: key 'none': expected a string, but there is none");
  EXPECT_EQ(message([&] { config["o"]["deep"].Items()[0].Integer(); }),
            "m/config.json: key 'o.deep[0]': expected an integer, got 'a\\x0ab'");
  EXPECT_EQ(message([&] { config["s"]["t"]; }), "m/config.json: key 's': expected an object, got 'swish'");
  EXPECT_EQ(message([&] { config["missing"]["t"]; }),
            "m/config.json: key 'missing': expected an object, but there is none");
  EXPECT_EQ(message([&] { View("[1]")["t"]; }), "m/config.json: expected an object, got an array");
}

TEST(JsonView, UnreadKeysAreListed) {
  const JsonView config = View(R"({"n": 3, "rope": "yarn", "architectures": ["M"], "moe": 8, "none": null})");
  config["n"].Integer();
  EXPECT_EQ(ErrorOf([&] { config.RefuseUnread({"architectures"}); }),
            "m/config.json: unknown keys: 'rope', 'moe'; what this asks for would be missing from the result");
  config["rope"];
  EXPECT_THAT(ErrorOf([&] { config.RefuseUnread({"architectures"}); }), testing::HasSubstr("unknown key: 'moe';"));
  config.Get("moe", 1);
  EXPECT_EQ(ErrorOf([&] { config.RefuseUnread({"architectures"}); }), "");

  Json many = Json::Object{};
  for (int i = 0; i < 30; ++i) many.Set(std::to_string(i), i);
  EXPECT_THAT(ErrorOf([&] { JsonView(many, "a").RefuseUnread({}); }), testing::HasSubstr("'19' and 10 more;"));
}

TEST(JsonView, OutlivesItsFile) {
  std::vector<JsonView> items;
  {
    const JsonView config = View(R"({"list": ["a", "b"]})");
    items = config["list"].Items();
  }
  EXPECT_EQ(items[1].String(), "b");
}

TEST(ReadJson, BadPathsAreErrors) {
  EXPECT_THAT(ErrorOf([] { ReadJson("/nowhere/config.json"); }), testing::HasSubstr("/nowhere/config.json"));
  EXPECT_THAT(ErrorOf([] { ReadJson("/tmp"); }), testing::HasSubstr("/tmp"));
}

}  // namespace
}  // namespace headlight::json_view_test
