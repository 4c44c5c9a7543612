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

TEST(JsonView, UsesTheFallbackForAbsentAndNull) {
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
  EXPECT_THAT(message([&] { config["n"].Integer(1); }), testing::HasSubstr("m/config.json: key 'n'"));
  EXPECT_THAT(message([&] { config["n"].Integer(1, 8); }), testing::HasSubstr("from 1 to 8, got 0"));
  EXPECT_THAT(message([&] { config["x"].Integer(); }), testing::HasSubstr("key 'x': expected an integer"));
  EXPECT_THAT(message([&] { config["big"].Integer(); }), testing::HasSubstr("got 9223372036854775808"));
  EXPECT_THAT(message([&] { config["x"].Unsigned(); }), testing::HasSubstr("from 0 to 2^64 - 1, got 1.5"));
  EXPECT_THAT(message([&] { config["x"].Number(0, 1); }), testing::HasSubstr("from 0 to 1, got 1.5"));
  EXPECT_THAT(message([&] { config["s"].Number(2); }), testing::HasSubstr("of at least 2, got 'swish'"));
  EXPECT_THAT(message([&] {
                config["s"].String({"relu", "gelu"});
              }),
              testing::HasSubstr("'relu', 'gelu', got 'swish'"));
  EXPECT_THAT(message([&] { config["n"].Bool(); }), testing::HasSubstr("key 'n': expected true"));
  EXPECT_THAT(message([&] { config["o"].String(); }), testing::HasSubstr("key 'o': expected a string"));
  EXPECT_THAT(message([&] { config["missing"].Integer(); }), testing::HasSubstr("key 'missing': expected an integer"));
  EXPECT_THAT(message([&] { config["none"].String(); }), testing::HasSubstr("key 'none': expected a string"));
  EXPECT_THAT(message([&] { config["o"]["deep"].Items()[0].Integer(); }), testing::HasSubstr("key 'o.deep[0]'"));
  EXPECT_THAT(message([&] { config["s"]["t"]; }), testing::HasSubstr("key 's': expected an object"));
  EXPECT_THAT(message([&] { config["missing"]["t"]; }), testing::HasSubstr("key 'missing': expected an object"));
  EXPECT_THAT(message([&] { View("[1]")["t"]; }), testing::HasSubstr("m/config.json: expected an object"));
}

TEST(JsonView, ListsUnreadKeys) {
  const JsonView config = View(R"({"n": 3, "rope": "yarn", "architectures": ["M"], "moe": 8, "none": null})");
  config["n"].Integer();
  EXPECT_THAT(ErrorOf([&] { config.RefuseUnread({"architectures"}); }),
              testing::HasSubstr("unknown keys: 'rope', 'moe'"));
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

TEST(ReadJson, RejectsBadPaths) {
  EXPECT_THAT(ErrorOf([] { ReadJson("/nowhere/config.json"); }), testing::HasSubstr("/nowhere/config.json"));
  EXPECT_THAT(ErrorOf([] { ReadJson("/tmp"); }), testing::HasSubstr("/tmp"));
}

}  // namespace
}  // namespace headlight::json_view_test
