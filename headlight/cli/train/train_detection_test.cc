#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/processor.h"
#include "headlight/models/detr.h"
#include "headlight/models/family.h"
#include "headlight/synthetic/scene_files.h"

namespace headlight::train_detection_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Synthetic scenes of 48 x 48 pixels with one or two shapes.
struct Setting {
  TemporaryFolder folder;
  std::string train = folder.File("train/annotations.json"), valid = folder.File("valid/annotations.json");

  Setting() {
    const SceneOptions scenes = {.height = 48, .width = 48, .fewest = 1, .most = 2};
    WriteScenes(folder.File("train"), 16, 1, scenes);
    WriteScenes(folder.File("valid"), 6, 2, scenes);
  }

  Outcome Train(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train", "detection", "--train", train, "--out", folder.File(out)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }
  // Trains a small model from scratch.
  Outcome TrainSmall(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {
        "--valid", valid, "--preset",  "small-scenes", "--image-size",  "32", "--layers",     "1", "--model-dim", "16",
        "--heads", "2",   "--ffn-dim", "16",           "--num-queries", "4",  "--batch-size", "4", "--log-every", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Train(out, arguments);
  }
};

// Writes Pascal VOC annotations of images with a cell on the left.
void WriteVoc(const TemporaryFolder& folder) {
  std::filesystem::create_directory(folder.File("voc"));
  for (const char* name : {"0", "1", "2", "3"})
    WriteFile(folder.File("voc/") + name + ".xml",
              std::string("<annotation><filename>") + name +
                  ".png</filename><object><name>cell</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>20</xmax>"
                  "<ymax>40</ymax></bndbox></object></annotation>");
}

TEST(TrainDetection, ADetectorIsTrainedEvaluatedAndGoesOn) {
  const Setting setting;
  const Outcome trained = setting.TrainSmall("model", {"--epochs", "2"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("16 images with "));
  EXPECT_THAT(trained.err, HasSubstr(" images/s"));
  EXPECT_THAT(trained.err, testing::ContainsRegex("validation: loss [0-9.]+, ap [0-9.]+, ap50 [0-9.]+, ap75 [0-9.]+"));
  EXPECT_THAT(trained.err, HasSubstr("headlight detect"));
  const std::string model = setting.folder.File("model");
  EXPECT_EQ(LoadModel<Detr>(model)->labels(), SceneLabels());
  EXPECT_EQ(LoadImageProcessor(model).resize.edge, 32);
  EXPECT_TRUE(std::filesystem::exists(model + "/training.svg"));
  for (const char* cost : {"\"class_cost\": 1,", "\"bbox_cost\": 5,", "\"giou_loss_coefficient\": 2,"})
    EXPECT_THAT(ReadFile(model + "/config.json"), HasSubstr(cost));  // Transformers rejects 1.0
  EXPECT_THAT(setting.TrainSmall("model", {}).err, HasSubstr("holds a training already"));

  const Outcome evaluated = RunProgram({"evaluate", model, setting.valid, "--json"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const Json scores = ParseJson(evaluated.out, "evaluate");
  EXPECT_EQ(scores.Find("images")->Line(), "6");
  EXPECT_NE(scores.Find("ap"), nullptr);
  EXPECT_EQ(scores.Find("ap_large")->Line(), "null");
  EXPECT_EQ(scores.Find("classes")->As<Json::Array>()->size(), 6U);
  EXPECT_THAT(RunProgram({"evaluate", model, setting.valid}).out,
              testing::ContainsRegex("AP [0-9.]+, AP50 [0-9.]+, AP75 [0-9.]+; small [0-9.]+, medium "));

  // If the classes are equal, the head is kept. Otherwise, it is initialized. The image size may change.
  const Outcome same = setting.Train("same", {"--valid", setting.valid, "--from", model, "--steps", "1"});
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.err, Not(HasSubstr("initialized")));
  EXPECT_EQ(LoadImageProcessor(setting.folder.File("same")).resize.edge, 32);
  WriteVoc(setting.folder);
  const std::string voc = setting.folder.File("voc");
  const Outcome other = RunProgram(
      {"train", "detection", "--train", voc, "--valid", voc, "--images", setting.folder.File("train"), "--from", model,
       "--out", setting.folder.File("other"), "--steps", "1", "--image-size", "64", "--num-queries", "7"});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.err, HasSubstr("it has 6 other classes"));
  EXPECT_THAT(other.err, HasSubstr("it has 4 queries; 7"));
  EXPECT_EQ(LoadModel<Detr>(setting.folder.File("other"))->labels(), (std::vector<std::string>{"cell"}));
  EXPECT_EQ(LoadImageProcessor(setting.folder.File("other")).resize.edge, 64);
  // A class that the model does not have is an error.
  EXPECT_THAT(RefusalOf({"evaluate", model, voc, "--images", setting.folder.File("train")}), HasSubstr("cell"));
}

TEST(TrainDetection, AResumedTrainingIsTheSame) {
  const Setting setting;
  const auto train = [&](const std::string& out, const std::string& epochs, const std::string& threads,
                         const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "--epochs", epochs,      "--augment", "scale",      "--warmup",           "2", "--average-decay", "0.9",
        "--resume", "--threads", threads,     "--schedule", "inverse-square-root"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return setting.TrainSmall(out, arguments);
  };
  ASSERT_EQ(train("whole", "3", "2", {}).exit_code, 0);
  ASSERT_EQ(train("parts", "1", "1", {}).exit_code, 0);
  const Outcome resumed = train("parts", "3", "3", {});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resumed after step"));
  EXPECT_EQ(ReadFile(setting.folder.File("whole/last/model.safetensors")),
            ReadFile(setting.folder.File("parts/last/model.safetensors")));
  const Outcome refused = train("parts", "4", "1", {"--cell-loss", "0"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--cell-loss"));
}

TEST(TrainDetection, FrozenParametersStay) {
  const Setting setting;
  ASSERT_EQ(setting.TrainSmall("model", {"--steps", "1"}).exit_code, 0);
  const Outcome trained =
      setting.Train("frozen", {"--validate-split", "0.3", "--from", setting.folder.File("model"), "--freeze",
                               "model.backbone.*", "--steps", "2", "--validate-metric", "loss", "--patience", "3"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const auto before = LoadModel<Detr>(setting.folder.File("model")),
             after = LoadModel<Detr>(setting.folder.File("frozen"));
  for (std::size_t i = 0; i < before->parameters().all().size(); ++i) {
    const Parameter &was = before->parameters().all()[i], &is = after->parameters().all()[i];
    const bool same = std::ranges::equal(was.value.span<float>(), is.value.span<float>());
    if (was.names.front().starts_with("model.backbone.")) {
      EXPECT_TRUE(same) << was.names.front();
    } else if (was.names.front() == "model.query_position_embeddings.weight") {
      EXPECT_FALSE(same);
    }
  }
}

TEST(TrainDetection, ShowsTheImagesOfTheTraining) {
  const Setting setting;
  const std::string page = setting.folder.File("page.html");
  const Outcome trained = setting.TrainSmall("model", {"--steps", "1", "--show-augmented", page});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string text = ReadFile(page);
  EXPECT_THAT(text, HasSubstr("<img src=\"data:image/png;base64,"));
  EXPECT_THAT(text, testing::ContainsRegex("<i style=\"left:[0-9.]+%;top:[0-9.]+%;width:[0-9.]+%;height:[0-9.]+%\">"
                                           "(circle|square|triangle|star|cross|ring)</i>"));
  const Outcome refused = setting.TrainSmall("other", {"--steps", "1", "--show-augmented", setting.train});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--show-augmented"));
}

TEST(TrainDetection, RefusesWhatCannotBe) {
  const Setting setting;
  const auto refusal = [&](const std::vector<std::string>& more) {
    const Outcome outcome = setting.TrainSmall("model", more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(setting.folder.File("model")));
    return outcome.err;
  };
  EXPECT_THAT(refusal({"--heads", "3"}), HasSubstr("heads"));
  EXPECT_THAT(refusal({"--model-dim", "18"}), HasSubstr("multiple of 4"));
  EXPECT_THAT(refusal({"--validate-split", "0.1"}), HasSubstr("--validate-split"));
  EXPECT_THAT(refusal({"--augment", "much"}), HasSubstr("--augment must be none, flip"));
  EXPECT_THAT(refusal({"--backbone", "vgg"}), HasSubstr("--backbone must be small, resnet18,"));
  EXPECT_THAT(refusal({"--image-size", "15"}), HasSubstr("--image-size must be from 16"));
  EXPECT_THAT(refusal({"--from", ".", "--backbone", "small"}), HasSubstr("--from"));
  EXPECT_THAT(refusal({"--freeze", "encoder.*"}), HasSubstr("no parameter's name matches 'encoder.*'"));
  EXPECT_THAT(refusal({"--images", setting.folder.File("none")}), HasSubstr("none: no such folder"));
  EXPECT_THAT(refusal({"--train", setting.folder.File("none.json")}), HasSubstr("none.json: there is no such"));
  const std::string good = ReadFile(setting.train), bad = setting.folder.File("train/bad.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    WriteFile(bad, text.replace(text.find(from), from.size(), to));
    return refusal({"--train", bad});
  };
  EXPECT_THAT(with("0.png", "none.png"), HasSubstr("there is no image 'none.png'"));
  EXPECT_THAT(with("\"category_id\"", "\"category\""), HasSubstr("category_id"));
  EXPECT_THAT(with("{", "["), HasSubstr("bad.json"));
}

TEST(TrainDetection, NamesAllDamagedImagesOrLeavesThemOut) {
  const Setting setting;
  for (const char* name : {"train/0.png", "train/7.png", "valid/3.png"})
    WriteFile(setting.folder.File(name), "no image");
  const Outcome refused = setting.TrainSmall("model", {"--steps", "1"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, testing::ContainsRegex("train/0.png: .*train/7.png: "));
  EXPECT_FALSE(std::filesystem::exists(setting.folder.File("model")));
  const Outcome trained = setting.TrainSmall("model", {"--steps", "1", "--skip-errors"});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  for (const char* name : {"train/0.png", "train/7.png", "valid/3.png"})
    EXPECT_THAT(trained.err, HasSubstr("warning: left out: " + setting.folder.File(name)));
}

}  // namespace
}  // namespace headlight::train_detection_test
