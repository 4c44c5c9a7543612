#include <gmock/gmock.h>

#include "headlight/base/json.h"
#include "headlight/cli/testing.h"
#include "headlight/io/model_folder.h"

namespace headlight {
namespace {

using testing::HasSubstr;

struct ConvertTest : ProgramTest {
  const std::string out = folder.File("int8");
};

TEST_F(ConvertTest, TranslatesAsTheModelDoesInThatType) {
  const Outcome outcome = RunProgram({"convert", model, out, "--compute", "int8"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const std::string input = "Ein Hund läuft.\nZwei Kinder spielen.\n";
  const std::string expected = RunProgram({"translate", model, "--compute", "int8"}, input).out;
  EXPECT_NE(expected, "");
  EXPECT_EQ(RunProgram({"translate", out}, input).out, expected);
  EXPECT_EQ(RunProgram({"translate", out, "--compute", "int8"}, input).out, expected);
  EXPECT_EQ(RunProgram({"translate", out, "--compute", "float32"}, input).exit_code, 0);
  EXPECT_LT(ReadFile(out + "/model.safetensors").size(), ReadFile(model + "/model.safetensors").size());
  EXPECT_EQ(ReadFile(out + "/tokenizer.json"), ReadFile(model + "/tokenizer.json"));
  EXPECT_THAT(RunProgram({"info", out}).out, HasSubstr("int8"));
  // In its own place again.
  EXPECT_EQ(RunProgram({"convert", model, out, "--compute", "int8"}).exit_code, 0);
  // And in 4 bits.
  EXPECT_EQ(RunProgram({"convert", model, out, "--compute", "int4"}).exit_code, 0);
  EXPECT_EQ(RunProgram({"translate", out}, input).out,
            RunProgram({"translate", model, "--compute", "int4"}, input).out);
  EXPECT_THAT(RunProgram({"info", out}).out, HasSubstr("int4"));
}

TEST_F(ConvertTest, ReadsWeightsInSeveralFilesAndReportsTheirSum) {
  const std::string one = RunProgram({"convert", model, folder.File("from_one"), "--compute", "int8"}).err;
  {
    const Safetensors weights(model + "/model.safetensors");
    std::vector<StoredTensor> parts[2];
    Json::Object map;
    for (const auto& [name, tensor] : weights.tensors()) {
      const std::size_t part = map.size() % 2;
      map.push_back({name, fmt::format("model-{}.safetensors", part)});
      parts[part].push_back(tensor);
    }
    for (const std::size_t part : {0, 1})
      WriteSafetensors(fmt::format("{}/model-{}.safetensors", model, part), parts[part]);
    WriteFile(model + "/model.safetensors.index.json", Json(Json::Object{{"weight_map", std::move(map)}}).Text());
  }
  std::filesystem::remove(model + "/model.safetensors");
  const Outcome outcome = RunProgram({"convert", model, out, "--compute", "int8"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err.substr(out.size()), one.substr(folder.File("from_one").size()));
  EXPECT_EQ(ReadFile(out + "/model.safetensors"), ReadFile(folder.File("from_one/model.safetensors")));
}

TEST_F(ConvertTest, NeverOverwritesOtherFiles) {
  EXPECT_THAT(RefusalOf({"convert", model, model, "--compute", "int8"}), HasSubstr("would be lost"));
  EXPECT_THAT(RefusalOf({"convert", model, folder.path(), "--compute", "int8"}), HasSubstr("is not part of a model"));
  EXPECT_THAT(RefusalOf({"convert", model, out, "--compute", "float32"}), HasSubstr("--compute"));
  EXPECT_THAT(RefusalOf({"convert", folder.File("nothing"), out, "--compute", "int8"}), HasSubstr("no such folder"));
  EXPECT_EQ(RunProgram({"translate", model}, "Hund\n").exit_code, 0);
}

}  // namespace
}  // namespace headlight
