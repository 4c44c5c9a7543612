#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/inspect/drawing/box_drawing.h"
#include "headlight/pipelines/object_detector.h"

namespace headlight::detect_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kImages = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/";
constexpr double kThreshold = 0.3;

struct DetectCommand : testing::Test {
  DetectCommand() : photos(folder.File("photos")) {
    std::filesystem::create_directories(photos + "/more");
    std::filesystem::copy(kImages + "rgb.png", photos + "/a.png");
    std::filesystem::copy(kImages + "full_chroma.jpg", photos + "/b.jpg");
    std::filesystem::copy(kImages + "lossy.webp", photos + "/more/c.webp");
  }
  std::vector<DetectedObject> Found(const std::string& path, double threshold) const {
    return ObjectDetector::Load(model).Detect(ReadImage(path), {.threshold = threshold});
  }

  const TemporaryFolder folder;
  const std::string model = HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/detr";
  const std::string photos;
  const std::vector<std::string> files = {photos + "/a.png", photos + "/b.jpg", photos + "/more/c.webp"};
};

TEST_F(DetectCommand, PrintsALineForEachBox) {
  std::string expected;
  for (const std::string& file : files)
    for (const auto& [label, score, box, label_id] : Found(file, kThreshold))
      expected += fmt::format("{}\t{}\t{:.4f}\t{:.1f}\t{:.1f}\t{:.1f}\t{:.1f}\n", file, label, score, box.left, box.top,
                              box.right, box.bottom);
  EXPECT_NE(expected, "");
  const std::string threshold = fmt::format("{}", kThreshold);
  const Outcome outcome = RunProgram({"detect", model, photos, "--threshold", threshold});
  EXPECT_EQ(outcome.out, expected) << outcome.err;
  EXPECT_EQ(RunProgram({"detect", model, files[0], photos + "/b*", photos + "/more", "--threshold", threshold}).out,
            expected);
  EXPECT_EQ(RunProgram({"detect", model, photos, "--threshold", "1"}).out, "");
  EXPECT_THAT(RunProgram({"detect", model, "--threshold", "0"}, ReadFile(files[0])).out,
              StartsWith("standard input\tLABEL_"));
}

TEST_F(DetectCommand, PrintsAnObjectForEachImage) {
  WriteFile(photos + "/bad.png", "no image");
  const std::vector<std::string> rows =
      Lines(RunProgram({"detect", model, photos, "--threshold", "0", "--json", "--skip-errors"}).out);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[2], StartsWith(R"({"image":")" + photos + R"(/bad.png","error":)"));
  const std::vector<DetectedObject> found = Found(files[1], 0);
  const JsonView row(ParseJson(rows[1], "row"), "row");
  EXPECT_EQ(row["image"].String(), files[1]);
  const std::vector<JsonView> boxes = row["boxes"].Items();
  ASSERT_EQ(boxes.size(), found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(boxes[i]["label"].String(), found[i].label);
    EXPECT_EQ(static_cast<float>(boxes[i]["score"].Number(0, 1)), static_cast<float>(found[i].score));
    const std::vector<JsonView> sides = boxes[i]["box"].Items();
    ASSERT_EQ(sides.size(), 4U);
    EXPECT_EQ(static_cast<float>(sides[3].Number(-1e3, 1e3)), static_cast<float>(found[i].box.bottom));
  }
  EXPECT_EQ(RunProgram({"detect", model, files[0], "--threshold", "1", "--json"}).out,
            R"({"image":")" + files[0] + "\",\"boxes\":[]}\n");
}

TEST_F(DetectCommand, DrawsTheBoxes) {
  // The best box must be drawn last, in the color of its class. DrawBoxes is not called in this process, because
  // fontconfig never frees its memory and the leak checker would report it.
  const std::string expected = folder.File("boxes.png"), none = folder.File("none.png");
  MustRun({"detect", model, files[0], "--threshold", "0", "--out", expected});
  MustRun({"detect", model, files[0], "--threshold", "1", "--out", none});
  const Color color = ColorOfClass(Found(files[0], 0).front().label_id);
  const auto colored = [&](const std::string& path) {
    const std::vector<std::uint8_t> pixels = ReadImage(path).pixels;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < pixels.size(); i += 3)
      count += pixels[i] == color.red && pixels[i + 1] == color.green && pixels[i + 2] == color.blue ? 1 : 0;
    return count;
  };
  EXPECT_EQ(colored(none), 0);
  EXPECT_GT(colored(expected), 500);
  const std::string piped = folder.File("piped.png"), drawn = folder.File("drawn");
  RunProgram({"detect", model, "--threshold", "0", "--out", piped}, ReadFile(files[0]));
  EXPECT_EQ(ReadFile(piped), ReadFile(expected));
  MustRun({"detect", model, photos, "--threshold", "0", "--out", drawn});
  EXPECT_EQ(ReadFile(drawn + "/a.png"), ReadFile(expected));
  for (const char* name : {"/b.png", "/c.png"}) EXPECT_GT(ReadImage(drawn + name).width, 0);
  MustRun({"detect", model, files[1], "--out", folder.File("boxes.SVG")});
  EXPECT_THAT(ReadFile(folder.File("boxes.SVG")), StartsWith("<?xml"));
}

TEST_F(DetectCommand, WritesResultsOfCoco) {
  const std::string annotations = folder.File("instances.json"), results = folder.File("results.json");
  WriteFile(annotations, R"({"images": [{"id": 12, "file_name": "val/b.jpg", "height": 1, "width": 1},
                                        {"id": 7, "file_name": "a.png", "height": 1, "width": 1},
                                        {"id": 9, "file_name": "c.webp", "height": 1, "width": 1}],
                             "annotations": [], "categories": [{"id": 18, "name": "LABEL_0"}]})");
  MustRun({"detect", model, photos, "--threshold", "0", "--coco", results, "--annotations", annotations});
  const JsonView written = ReadJson(results);
  WriteFile(folder.File("other.json"),
            R"({"images": [{"id": 7, "file_name": "a.png"}], "categories": [{"id": 18, "name": "LABEL_1"}]})");
  std::size_t expected = 0;
  for (const std::string& file : files)
    for (const DetectedObject& one : Found(file, 0)) expected += one.label == "LABEL_0";
  const std::vector<JsonView> items = written.Items();
  ASSERT_EQ(items.size(), expected);
  ASSERT_GT(expected, 0U);
  const Outcome other = RunProgram(
      {"detect", model, files[0], "--threshold", "0", "--coco", results, "--annotations", folder.File("other.json")});
  EXPECT_THAT(other.err, HasSubstr("3 boxes are left out:"));
  const DetectedObject first = Found(files[0], 0)[0];
  EXPECT_EQ(items[0]["image_id"].Integer(0, 100), 7);
  EXPECT_EQ(items[0]["category_id"].Integer(0, 100), 18);
  EXPECT_EQ(static_cast<float>(items[0]["score"].Number(0, 1)), static_cast<float>(first.score));
  const std::vector<JsonView> box = items[0]["bbox"].Items();
  EXPECT_EQ(static_cast<float>(box[0].Number(-1e3, 1e3)), static_cast<float>(first.box.left));
  EXPECT_EQ(static_cast<float>(box[2].Number(-1e3, 1e3)), static_cast<float>(first.box.width()));

  const auto refusal = [&](const std::string& path) {
    return RefusalOf({"detect", model, path, "--coco", results, "--annotations", annotations});
  };
  EXPECT_THAT(refusal(kImages + "grey.png"), HasSubstr("it lists no image with"));
  WriteFile(annotations, R"({"images": [{"id": 7, "file_name": "a.png"}], "categories": [{"id": 18, "name": "x"}]})");
  EXPECT_THAT(refusal(files[0]), HasSubstr("none of its categories"));
  EXPECT_THAT(RefusalOf({"detect", model, files[0], "--coco", results}), HasSubstr("--coco needs --annotations"));
  EXPECT_THAT(RefusalOf({"detect", model, files[0], "--annotations", results}), HasSubstr("needs --coco"));
  EXPECT_THAT(RefusalOf({"detect", model, files[0], "--coco", annotations, "--annotations", annotations}),
              HasSubstr("reads the same file"));
}

TEST_F(DetectCommand, WritesOverNothingThatItReads) {
  const std::string before = ReadFile(files[0]);
  EXPECT_THAT(RefusalOf({"detect", model, files[0], "--out", files[0]}), HasSubstr("reads the same file"));
  EXPECT_THAT(RefusalOf({"detect", model, photos, "--out", photos}),
              AllOf(HasSubstr("--out " + photos + "/a.png"), HasSubstr("reads the same file")));
  std::filesystem::create_directory_symlink(photos, folder.File("link"));
  EXPECT_THAT(RefusalOf({"detect", model, photos, "--out", folder.File("link")}), HasSubstr("reads the same file"));
  const std::string linked = folder.File("linked");
  std::filesystem::create_directory(linked);
  std::filesystem::create_symlink(model + "/config.json", linked + "/b.png");
  EXPECT_THAT(RefusalOf({"detect", model, photos, "--out", linked}), HasSubstr("as " + model + "/config.json"));
  EXPECT_FALSE(std::filesystem::exists(linked + "/a.png"));
  std::filesystem::copy(files[0], photos + "/b.png");
  EXPECT_THAT(RefusalOf({"detect", model, photos, "--out", folder.File("drawn")}), HasSubstr("would both become"));
  EXPECT_THAT(RefusalOf({"detect", model, photos, "--out", folder.File("boxes.png")}),
              HasSubstr("one image, and there are"));
  WriteFile(folder.File("file"), "");
  for (const char* name : {"file", "boxes.jpg", "boxes.GIF"})
    EXPECT_THAT(RefusalOf({"detect", model, photos, "--out", folder.File(name)}), HasSubstr(".png, .svg or .pdf"));
  EXPECT_EQ(ReadFile(files[0]), before);
}

TEST_F(DetectCommand, RefusesWhatItCannotRead) {
  // The type of the model is checked before the image is read.
  EXPECT_THAT(RefusalOf({"detect", HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences", "/nowhere.png"}),
              HasSubstr("a detector is needed"));
  EXPECT_THAT(RefusalOf({"detect", model, folder.File("none.jpg")}), EndsWith("no such file or folder\n"));
  EXPECT_THAT(RefusalOf({"detect", HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/classify", photos}),
              HasSubstr("detector"));
  EXPECT_THAT(RefusalOf({"detect", model, photos, "--threshold", "1.5"}), HasSubstr("--threshold must be from 0"));
  EXPECT_THAT(RefusalOf({"detect", model, files[0], "--out", folder.File("no/such/boxes.png")}), HasSubstr("no/such"));
}

}  // namespace
}  // namespace headlight::detect_test
