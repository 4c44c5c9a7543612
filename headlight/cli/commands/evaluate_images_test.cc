#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/base/random.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/pipelines/image_classifier.h"
#include "headlight/pipelines/image_testing.h"

namespace headlight::evaluate_images_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A tiny ViT with the classes cat, dog and bird. The IDX files have gray images of 8 x 8 pixels that are bright in the
// upper half (0), bright in the lower half (1), or dark (2).
struct EvaluateImages : testing::Test {
  EvaluateImages() {
    std::filesystem::create_directory(model);
    SaveTinyVit(model);
    WriteIdx("train", 60, 1);
    WriteIdx("test", 30, 2);
  }

  void WriteIdx(const std::string& name, int count, std::uint64_t seed) const {
    std::string images = {0, 0, 8, 3, 0, 0, 0, static_cast<char>(count), 0, 0, 0, 8, 0, 0, 0, 8};
    std::string labels = {0, 0, 8, 1, 0, 0, 0, static_cast<char>(count)};
    Random random(seed);
    for (int i = 0; i < count; ++i) {
      labels += static_cast<char>(i % 3);
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x)
          images += static_cast<char>(random.Below(60) + (i % 3 == (y < 4 ? 0 : 1) ? 150 : 0));
    }
    WriteFile(Images(name), images);
    WriteFile(Labels(name), labels);
  }
  std::string Images(const std::string& name) const { return folder.File(name + "-images-idx3-ubyte"); }
  std::string Labels(const std::string& name) const { return folder.File(name + "-labels-idx1-ubyte"); }
  std::vector<std::string> Evaluate(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"evaluate", model, Images("test"), Labels("test")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  const TemporaryFolder folder;
  const std::string model = folder.File("model");
};

double NumberIn(const Json& json, const char* name) { return JsonView(json, "output")[name].Number(); }

TEST_F(EvaluateImages, ScoresTheClassesThatClassifyPrints) {
  const Outcome outcome = RunProgram(Evaluate({"--json", "--confusion", folder.File("confusions.svg")}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = ParseJson(outcome.out, "output");

  const ImageClassifier classifier = ImageClassifier::Load(model);
  const IdxImages images(Images("test"));
  int right = 0;
  double loss = 0;
  std::vector<std::int64_t> confusions(9);
  for (std::int64_t i = 0; i < 30; ++i) {
    const std::vector<float> scores = classifier.Scores({images[i]}).ToVector<float>();
    const auto found = std::ranges::max_element(scores) - scores.begin();
    const auto label = static_cast<std::size_t>(i % 3);
    right += found == i % 3 ? 1 : 0;
    loss -= std::log(static_cast<double>(scores[label])) / 30;
    ++confusions[label * 3 + static_cast<std::size_t>(found)];
  }
  EXPECT_NEAR(NumberIn(json, "accuracy"), 100.0 * right / 30, 1e-9);
  EXPECT_NEAR(NumberIn(json, "loss"), loss, 1e-5);
  EXPECT_EQ(json.Find("top5_accuracy"), nullptr);  // the model has only three classes
  const auto& rows = *json.Find("confusions")->As<Json::Array>();
  ASSERT_EQ(rows.size(), 3U);
  std::string table;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(*(*rows[i].As<Json::Array>())[j].As<std::int64_t>(), confusions[i * 3 + j]);
      table += fmt::format("{:>2} ", confusions[i * 3 + j]);
    }
    table += std::vector<std::string>{" cat\n", " dog\n", " bird\n"}[i];
  }
  EXPECT_THAT(ReadFile(folder.File("confusions.svg")), HasSubstr("<svg"));

  const std::string text = RunProgram(Evaluate({"--threads", "1"})).out;
  EXPECT_THAT(text, StartsWith(fmt::format("accuracy {:.2f}, macro F1 ", 100.0 * right / 30)));
  EXPECT_THAT(text, HasSubstr(" of 30 images\nloss "));
  EXPECT_THAT(text, HasSubstr("dog: precision "));
  EXPECT_THAT(text, testing::EndsWith(":\n" + table));
}

TEST_F(EvaluateImages, ReadsFoldersAndTables) {
  const std::string photos = folder.File("photos");
  for (const char* name : {"cat", "dog"}) {
    std::filesystem::create_directories(photos + "/" + name);
    std::filesystem::copy(HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/rgb.png", photos + "/" + name + "/a.png");
  }
  WriteFile(folder.File("table.csv"), "path,label\nphotos/cat/a.png,cat\nphotos/dog/a.png,dog\n");
  const Outcome outcome = RunProgram({"evaluate", model, photos});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(" of 2 images\n"));
  EXPECT_EQ(RunProgram({"evaluate", model, folder.File("table.csv")}).out, outcome.out);
  std::filesystem::rename(photos + "/cat", photos + "/horse");
  EXPECT_THAT(RefusalOf({"evaluate", model, photos}), HasSubstr("horse"));
  WriteFile(photos + "/dog/a.png", "damaged");
  EXPECT_THAT(RefusalOf({"evaluate", model, photos + "/dog/.."}), HasSubstr("horse"));
  std::filesystem::rename(photos + "/horse", photos + "/cat");
  EXPECT_THAT(RefusalOf({"evaluate", model, photos}), HasSubstr("dog/a.png: not an image"));
}

TEST_F(EvaluateImages, EvaluatesFeaturesByLabeledImages) {
  SaveTinyVit(model, /*classes=*/false);
  const std::vector<std::string> both = {"--train", Images("train"), Labels("train"), "--knn", "5", "--linear-probe"};
  const Outcome outcome = RunProgram(Evaluate(both));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], StartsWith("5 nearest neighbors: accuracy "));
  EXPECT_THAT(lines[1], testing::MatchesRegex(
                            "linear probe: accuracy [0-9.]+ of 30 images; 60 labeled images, 16 features each"));
  std::vector<std::string> json = both;
  json.insert(json.end(), {"--json", "--threads", "1"});
  const Json object = ParseJson(RunProgram(Evaluate(json)).out, "output");
  EXPECT_GT(NumberIn(object, "knn_accuracy"), 90);
  EXPECT_GT(NumberIn(object, "linear_probe_accuracy"), 90);
  json.insert(json.end(), {"--pixels"});
  const Json pixels = ParseJson(RunProgram(Evaluate(json)).out, "output");
  EXPECT_EQ(NumberIn(pixels, "linear_probe_accuracy"), 100);
  EXPECT_EQ(NumberIn(pixels, "pixels"), 8 * 8 * 3);
}

TEST_F(EvaluateImages, RefusesWhatHasNoEffectOrDoesNotFit) {
  const auto refusal = [&](const std::vector<std::string>& more) { return RefusalOf(Evaluate(more)); };
  EXPECT_THAT(refusal({"--knn", "5"}), HasSubstr("--knn and --linear-probe need --train"));
  EXPECT_THAT(refusal({"--knn", "0"}), HasSubstr("--knn must be at least"));
  EXPECT_THAT(refusal({"--train", Images("train"), Labels("train")}), HasSubstr("--train and --pixels are for"));
  EXPECT_THAT(refusal({"--pixels"}), HasSubstr("--train and --pixels are for"));
  EXPECT_THAT(refusal({"--knn", "61", "--train", Images("train"), Labels("train")}),
              HasSubstr("--knn 61: --train has 60"));
  EXPECT_THAT(refusal({"--knn", "1", "--train", Images("train")}), HasSubstr("by that of their classes"));
  EXPECT_THAT(refusal({"--knn", "1", "--train", Images("train"), Labels("train"), "--confusion", "a.png"}),
              HasSubstr("--confusion is for the model's"));
  EXPECT_THAT(refusal({"--confusion", folder.File("a.jpg")}), HasSubstr(".svg"));
  EXPECT_THAT(refusal({"--confusion", Images("test")}), HasSubstr("--confusion"));
  EXPECT_THAT(refusal({"--confusion", folder.File("none/a.png")}), HasSubstr("none/a.png"));
  EXPECT_THAT(refusal({"--end"}), HasSubstr("--end is not for this"));
  EXPECT_THAT(RefusalOf({"evaluate", model}), HasSubstr("the images to evaluate on"));
  WriteIdx("test", 31, 2);
  std::string labels = ReadFile(Labels("test"));
  labels.back() = 3;
  WriteFile(Labels("test"), labels);
  EXPECT_THAT(refusal({}), HasSubstr("3"));
  EXPECT_THAT(refusal({"--linear-probe", "--train", Images("train"), Labels("train")}), HasSubstr("3"));
  SaveTinyVit(model, /*classes=*/false);
  EXPECT_THAT(refusal({}), HasSubstr("of images; --knn or --linear-probe"));
  std::filesystem::create_directory(folder.File("translator"));
  SaveTinyModel(folder.File("translator"));
  EXPECT_THAT(RefusalOf({"evaluate", folder.File("translator"), Images("test"), "--knn", "3"}),
              HasSubstr("--knn is for encoders of"));
}

}  // namespace
}  // namespace headlight::evaluate_images_test
