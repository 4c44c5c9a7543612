#include "headlight/inspect/drawing/image_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/inspect/attention_testing.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/inspect/drawing/drawing_testing.h"

namespace headlight::image_drawing_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Returns a record with a white image: a class token and 2 x 3 cells, and two heads of two layers with equal rows for
// all queries.
AttentionRecord WhiteImage() {
  AttentionRecord record{"vit", {"class token", "1·1", "1·2", "1·3", "2·1", "2·2", "2·3"}, {}, {}};
  record.source_image = {Image{20, 30, std::vector<std::uint8_t>(20 * 30 * 3, 255)}, 1, 2, 3};
  const std::vector<float> first = {0, 0.4f, 0.2f, 0.1f, 0.3f, 0, 0}, second = {0.5f, 0, 0, 0, 0, 0, 0.5f};
  for (int layer = 0; layer < 2; ++layer) {
    AttentionMap map{AttentionKind::encoder_self, layer, 2, 7, 7, {}};
    for (const std::vector<float>& row : {layer == 0 ? first : second, second})
      for (int query = 0; query < 7; ++query) map.weights.insert(map.weights.end(), row.begin(), row.end());
    record.maps.push_back(map);
  }
  return record;
}

// Returns the green channel of white under the overlay of a cell. The overlay has an opacity of 0.6.
double Green(double share) { return 0.4 + 0.6 * HeatColor(share).green / 255; }

struct Sheet {
  Sheet(const AttentionRecord& record, const ImageDrawing& drawing, int rows, int columns)
      : layout(LayOutSheet(record.source_image ? *record.source_image : *record.target_image, rows, columns)) {
    DrawImageAttention(record, drawing, folder.File("sheet.png"));
    png.emplace(folder.File("sheet.png"));
  }
  // Returns the green channel in the middle of a cell, relative to the image's white.
  double At(int row, int column, int cell) const {
    const Rectangle image = layout.At(row, column);
    const double scale = png->width() / std::ceil(layout.width);
    return png->At(scale * (image.x + (cell % 3 + 0.5) * image.width / 3),
                   scale * (image.y + (cell / 3 + 0.5) * image.height / 2))
               .green /
           255.0;
  }
  TemporaryFolder folder;
  SheetLayout layout;
  std::optional<Png> png;
};

TEST(DrawImageAttention, ColorsACellByItsWeight) {
  const Sheet sheet(WhiteImage(), {}, 2, 3);
  EXPECT_NEAR(sheet.At(0, 0, 0), Green(1), 0.01);
  EXPECT_NEAR(sheet.At(0, 0, 1), Green(0.5), 0.01);
  EXPECT_NEAR(sheet.At(0, 0, 2), Green(0.25), 0.01);
  EXPECT_NEAR(sheet.At(0, 0, 3), Green(0.75), 0.01);
  EXPECT_NEAR(sheet.At(0, 0, 5), Green(0), 0.01);
  EXPECT_NEAR(sheet.At(0, 1, 5), Green(1), 0.01);  // relative to the weight within the image
  EXPECT_NEAR(sheet.At(0, 1, 0), Green(0), 0.01);
  EXPECT_NEAR(sheet.At(0, 2, 0), Green(0.8), 0.01);  // the mean is 0.2, and the maximum 0.25
  EXPECT_NEAR(sheet.At(1, 0, 5), Green(1), 0.01);
}

TEST(DrawImageAttention, AMassMakesMasks) {
  const Sheet sheet(WhiteImage(), {.mass = 0.6}, 2, 3);
  for (const int cell : {0, 3}) EXPECT_NEAR(sheet.At(0, 0, cell), Green(1), 0.01) << cell;
  for (const int cell : {1, 2, 4, 5}) EXPECT_NEAR(sheet.At(0, 0, cell), Green(0), 0.01) << cell;
}

TEST(DrawImageAttention, HasTheRolloutAsItsLastColumn) {
  AttentionRecord record = WhiteImage();
  AddRollout(record);
  const Sheet sheet(record, {.query = 2}, 2, 4);
  EXPECT_NEAR(sheet.At(0, 3, 1), Green(1), 0.01);  // in rollout, half of each token comes from itself
  EXPECT_LT(sheet.At(0, 3, 3), Green(0.5));
  const Sheet alone(SelectAttention(record, {.rollout = true}), {.query = 2}, 2, 1);
  EXPECT_NEAR(alone.At(0, 0, 1), Green(1), 0.01);
}

// Checks that a cell of the raster has the color of the region with the largest weight among the regions that contain
// its center.
TEST(DrawImageAttention, ShowsRegionsAndWords) {
  AttentionRecord record{"vilbert", {"whole image", "dog", "cat"}, {"a"}, {}};
  record.source_image = {Image{20, 30, std::vector<std::uint8_t>(20 * 30 * 3, 255)}, 0, 2, 3};
  record.source_image->boxes = {{0, 0, 30, 20}, {0, 0, 20, 10}, {10, 0, 30, 20}};
  record.maps.push_back({AttentionKind::text_to_image, 0, 1, 1, 3, {0.2f, 0.6f, 0.2f}});
  const Sheet sheet(record, {}, 1, 1);
  const auto near = [](const Sheet& drawn, int cell, double share) {
    EXPECT_NEAR(drawn.At(0, 0, cell), Green(share), 0.01) << cell;
  };
  for (const int cell : {0, 1}) near(sheet, cell, 1);
  for (const int cell : {2, 3, 4, 5}) near(sheet, cell, 1.0 / 3);
  const Sheet masks(record, {.mass = 0.5}, 1, 1);
  for (const int cell : {0, 1}) near(masks, cell, 1);
  for (const int cell : {2, 3, 4, 5}) near(masks, cell, 0);
  // Checks the attention of regions to a word.
  record.maps[0] = {AttentionKind::image_to_text, 0, 1, 3, 1, {0, 0.5f, 1}};
  const Sheet words(record, {}, 1, 1);
  near(words, 0, 0.5);
  for (const int cell : {1, 2, 4, 5}) near(words, cell, 1);
  near(words, 3, 0);
}

// Uses a text-to-image decoder whose cells attend to the word "dog". A start token, which is not a cell, precedes the
// cells. The last cell has no token.
TEST(DrawImageAttention, ShowsWhichCellsLookAtAWord) {
  AttentionRecord record{"mini", {"dog"}, {"start", "1·1", "1·2", "1·3", "2·1", "2·2"}, {}};
  record.target_image = {Image{20, 30, std::vector<std::uint8_t>(20 * 30 * 3, 255)}, 1, 2, 3};
  record.maps.push_back({AttentionKind::cross, 0, 1, 6, 1, {1, 0.5f, 0, 0.25f, 0, 0.125f}});
  const Sheet sheet(record, {.query = 5}, 1, 1);
  const double shares[] = {1, 0, 0.5, 0, 0.25, 0};
  for (int cell = 0; cell < 6; ++cell) EXPECT_NEAR(sheet.At(0, 0, cell), Green(shares[cell]), 0.01) << cell;
}

// Checks that red keeps a quarter of its saturation, so that it differs from a gray of the same luma.
TEST(DrawImageAttention, DrawsOverThePaleImage) {
  AttentionRecord record = WhiteImage();
  record.source_image->image.pixels.assign(20 * 30 * 3, 0);
  for (std::size_t pixel = 0; pixel < 20 * 30; ++pixel) record.source_image->image.pixels[3 * pixel] = 200;  // red
  const Sheet sheet(record, {}, 2, 3);
  EXPECT_NEAR(sheet.At(0, 0, 5), 0.4 * (0.75 * 0.299 * 200) / 255 + 0.6 * HeatColor(0).green / 255, 0.01);
}

// Checks that the last row of pixels is white, although the page covers only a part of it.
TEST(WriteImage, PaintsAWholeNumberOfPixels) {
  const TemporaryFolder folder;
  WriteImage(folder.File("a.png"), "a", {{.title = "a", .width = 8.1, .height = 8.1, .draw = [](Canvas&) {}}});
  const Png png(folder.File("a.png"));
  ASSERT_EQ(png.width(), 17);
  EXPECT_EQ(png.At(16, 16), png.At(0, 0));
}

TEST(DrawImageAttention, WritesEachFormat) {
  const TemporaryFolder folder;
  for (const auto& [name, magic] : {std::pair{"a.svg", "<?xml"}, {"a.pdf", "%PDF"}, {"a.png", "\x89PNG"}}) {
    DrawImageAttention(WhiteImage(), {}, folder.File(name));
    EXPECT_THAT(ReadFile(folder.File(name)), StartsWith(magic));
  }
  // A vector drawing must store the image only once.
  const std::string svg = ReadFile(folder.File("a.svg"));
  std::size_t images = 0;
  for (std::size_t at = svg.find("data:image"); at != svg.npos; at = svg.find("data:image", at + 1)) ++images;
  EXPECT_EQ(images, 1U);
}

TEST(DrawImageAttention, RefusesInvalidRequests) {
  const TemporaryFolder folder;
  EXPECT_THAT(ErrorOf([&] { DrawImageAttention(WhiteImage(), {.query = 7}, folder.File("a.png")); }),
              HasSubstr("query 7:"));
  EXPECT_THAT(ErrorOf([&] { DrawImageAttention(WhiteImage(), {}, folder.File("a.gif")); }), HasSubstr("must end in"));
  EXPECT_THAT(ErrorOf([&] { DrawImageAttention(SampleRecord({"a"}, {"b"}, 1, 1), {}, folder.File("a.png")); }),
              HasSubstr("of an image"));
}

}  // namespace
}  // namespace headlight::image_drawing_test
