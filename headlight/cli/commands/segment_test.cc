#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/pipelines/image_segmenter.h"

namespace headlight::segment_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kImages = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/";

struct SegmentCommand : testing::Test {
  SegmentCommand() : photos(folder.File("photos")) {
    std::filesystem::create_directories(photos);
    std::filesystem::copy(kImages + "rgb.png", files[0]);
    std::filesystem::copy(kImages + "full_chroma.jpg", files[1]);
  }
  Segmentation Found(const std::string& path) const {
    return ImageSegmenter::Load(model).Segment(ReadImage(path), {.threshold = 0.3});
  }

  const TemporaryFolder folder;
  const std::string model = HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/detr_masks";
  const std::string photos;
  const std::vector<std::string> files = {folder.File("photos/a.png"), folder.File("photos/b.jpg")};
};

TEST_F(SegmentCommand, PrintsTheSegments) {
  std::string expected;
  for (const std::string& file : files)
    for (const auto& [id, label_id, score, area, label] : Found(file).segments)
      expected += fmt::format("{}\t{}\t{}\t{:.4f}\t{}\n", file, id, label, score, area);
  EXPECT_NE(expected, "");
  const Outcome outcome = RunProgram({"segment", model, photos, "--threshold", "0.3"});
  EXPECT_EQ(outcome.out, expected) << outcome.err;
  EXPECT_THAT(RunProgram({"segment", model, "--threshold", "0.3"}, ReadFile(files[0])).out,
              StartsWith("standard input\t1\tLABEL_"));
  const std::vector<std::string> rows =
      Lines(RunProgram({"segment", model, photos, "--threshold", "0.3", "--json"}).out);
  ASSERT_EQ(rows.size(), 2U);
  const ImageSegment segment = Found(files[0]).segments.at(0);
  EXPECT_EQ(rows[0], fmt::format(R"({{"image":"{}","segments":[{{"id":1,"label":"{}","score":{},"area":{}}}]}})",
                                 files[0], segment.label, static_cast<float>(segment.score), segment.area));
}

TEST_F(SegmentCommand, WritesIdsAndDrawings) {
  const std::string masks = folder.File("masks"), drawn = folder.File("drawn");
  MustRun({"segment", model, photos, "--threshold", "0.3", "--out", masks, "--overlay", drawn});
  EXPECT_EQ(ReadImage(masks + "/a.png"), ImageOfIds(Found(files[0])));
  EXPECT_EQ(ReadImage(masks + "/b.png"), ImageOfIds(Found(files[1])));
  for (const char* name : {"/a.png", "/b.png"}) EXPECT_GT(ReadImage(drawn + name).width, 0);
  const std::string piped = folder.File("piped.png"), again = folder.File("again.png");
  RunProgram({"segment", model, "--threshold", "0.3", "--overlay", piped}, ReadFile(files[0]));
  MustRun({"segment", model, files[0], "--threshold", "0.3", "--overlay", again});
  EXPECT_EQ(ReadFile(piped), ReadFile(again));
}

TEST_F(SegmentCommand, RefusesWhatItCannotDo) {
  EXPECT_THAT(RefusalOf({"segment", HEADLIGHT_SOURCE_DIR "/tests/testdata/detectors/detr", photos}),
              HasSubstr("no head for masks"));
  EXPECT_THAT(RefusalOf({"segment", model, photos, "--out", photos}), HasSubstr("reads the same file"));
  EXPECT_THAT(RefusalOf({"segment", model, photos, "--overlay", photos}), HasSubstr("reads the same file"));
  EXPECT_THAT(RefusalOf({"segment", model, files[0], "--out", files[0]}), HasSubstr("reads the same file"));
  const std::string one = folder.File("one.png");
  EXPECT_THAT(RefusalOf({"segment", model, files[0], "--out", one, "--overlay", one}),
              HasSubstr("goes to the same file"));
  EXPECT_THAT(RefusalOf({"segment", model, files[0], "--out", one, "--threshold", "2"}), HasSubstr("--threshold"));
  const std::string drawn = folder.File("drawn");
  std::filesystem::create_directory(drawn);
  EXPECT_THAT(RefusalOf({"segment", model, photos, "--out", drawn, "--overlay", folder.File("photos/../drawn")}),
              HasSubstr("goes to the same file"));
  EXPECT_THAT(RefusalOf({"segment", model, files[0], "--out", drawn, "--overlay", drawn + "/a.png"}),
              HasSubstr("goes to the same file"));
  WriteFile(folder.File("ids.svg"), "");
  EXPECT_THAT(RefusalOf({"segment", model, files[0], "--out", folder.File("ids.svg")}), HasSubstr("ends in .png"));
}

}  // namespace
}  // namespace headlight::segment_test
