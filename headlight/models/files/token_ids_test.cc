#include "headlight/models/files/token_ids.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/models/family.h"

namespace headlight::token_ids_test {
namespace {

TEST(TokenIds, EveryLanguageModelKeepsAllEndTokens) {
  for (const NewLanguageModel& family : NewLanguageModels()) {
    const TemporaryFolder folder, copy;
    const auto written =
        family.make({.model = 32, .ffn = family.Ffn(32), .heads = 2, .layers = 1, .vocabulary = 11, .end_id = 3});
    written->parameters().Initialize(1);
    written->Save(folder.path());
    Json config = ReadJson(folder.File("config.json")).value();
    EXPECT_EQ(*config.Find("eos_token_id"), Json(3)) << family.name;
    config.Set("eos_token_id", Json::Array{5, 12, 2});  // the vocabulary has no token 12
    WriteFile(folder.File("config.json"), config.Text());
    const auto model = LoadModel<LanguageModel>(folder.path());
    EXPECT_EQ(model->limits().end_id, 5) << family.name;
    model->Save(copy.path());
    EXPECT_EQ(ReadJson(copy.File("config.json"))["eos_token_id"].value(), Json(Json::Array{5, 2})) << family.name;
  }
}

TEST(TokenIds, MayBeAbsent) {
  const auto read = [](const char* text) {
    return ReadTokens(JsonView(ParseJson(text, "config.json"), "config.json"), "eos_token_id", /*fallback=*/4,
                      /*vocabulary=*/9);
  };
  EXPECT_EQ(read("{}"), (std::vector{4}));
  EXPECT_EQ(read(R"({"eos_token_id": null})"), std::vector<std::int32_t>());
  EXPECT_EQ(read(R"({"eos_token_id": [9, 8, -1]})"), (std::vector{8}));
  EXPECT_NE(ErrorOf([&] { read(R"({"eos_token_id": []})"); }), "");
}

}  // namespace
}  // namespace headlight::token_ids_test
