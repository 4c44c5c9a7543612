#include "headlight/image/colors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"

namespace headlight::colors_test {
namespace {

// Returns an image with a height of 1 pixel.
Image Row(const std::vector<std::array<int, 3>>& pixels) {
  Image image{.height = 1, .width = std::ssize(pixels)};
  for (const auto& pixel : pixels)
    for (const int byte : pixel) image.pixels.push_back(static_cast<std::uint8_t>(byte));
  return image;
}

std::vector<std::array<std::uint8_t, 3>> Bytes(const std::vector<PaletteColor>& colors) {
  std::vector<std::array<std::uint8_t, 3>> bytes;
  for (const PaletteColor& color : colors) bytes.push_back(BytesOf(color));
  return bytes;
}

TEST(ColorCounts, FindsTheColors) {
  ColorCounts counts;
  counts.Add(Row({{255, 0, 0}, {253, 2, 0}, {0, 0, 250}, {0, 0, 254}, {10, 10, 10}}));
  counts.Add(Row({{10, 10, 10}, {10, 10, 10}, {250, 250, 250}}));
  using Three = std::array<std::uint8_t, 3>;
  // The expected colors are sorted by brightness: near black, blue, red and near white.
  EXPECT_EQ(Bytes(counts.Cluster(4)), (std::vector<Three>{{10, 10, 10}, {0, 0, 252}, {254, 1, 0}, {250, 250, 250}}));
  EXPECT_THAT(ErrorOf([&] { counts.Cluster(7); }), testing::HasSubstr("only 6 colors"));
  EXPECT_THAT(ErrorOf([&] { counts.Cluster(0); }), testing::HasSubstr("from 1 to 4096"));
}

// Checks that no color is nearer to another center, and that each center is the mean of its colors. Gray images must
// have gray colors.
TEST(ColorCounts, GraysGiveGreysThatAreMeansOfPixels) {
  ColorCounts counts;
  Random random(1);
  std::array<double, 256> weights = {};
  Image image{.height = 100, .width = 100};
  for (int i = 0; i < 10000; ++i) {
    const double u = random.Uniform();
    const auto gray = static_cast<std::uint8_t>(255 * u * u);
    ++weights[gray];
    image.pixels.insert(image.pixels.end(), 3, gray);
  }
  counts.Add(image);
  const std::vector<PaletteColor> colors = counts.Cluster(16);
  std::array<double, 16> sums = {}, counted = {};
  for (std::size_t gray = 0; gray < 256; ++gray) {
    std::size_t best = 0;
    const auto distance = [&](std::size_t i) {
      return std::abs(127.5 * (colors[i][0] + 1.0) - static_cast<double>(gray));
    };
    for (std::size_t i = 1; i < 16; ++i) best = distance(i) < distance(best) ? i : best;
    sums[best] += weights[gray] * static_cast<double>(gray);
    counted[best] += weights[gray];
  }
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(colors[i][0], colors[i][1]);
    EXPECT_EQ(colors[i][0], colors[i][2]);
    EXPECT_NEAR(127.5 * (colors[i][0] + 1.0), sums[i] / counted[i], 0.01) << i;
  }
}

TEST(ColorCounts, MergesSimilarColorsIfThereAreVeryMany) {
  ColorCounts counts;
  for (int green = 0; green < 3; ++green) {
    Image image{.height = 256, .width = 256};
    for (int i = 0; i < 65536; ++i)
      for (const int byte : {i & 255, 40 * green, i >> 8}) image.pixels.push_back(static_cast<std::uint8_t>(byte));
    counts.Add(image);
  }
  const std::vector<PaletteColor> colors = counts.Cluster(2);
  EXPECT_NEAR(colors[0][0] + colors[1][0], 0, 0.1);  // approximately symmetric around the middle
}

TEST(NearestColors, MatchTheProcessor) {
  ColorCounts counts;
  const Image image = Pattern(40, 30);
  counts.Add(image);
  const std::vector<PaletteColor> colors = counts.Cluster(20);
  const ImageProcessor processor =
      ReadImageProcessor(JsonView(ColorProcessorConfig({30, 40}, colors), "preprocessor_config.json"));
  ASSERT_EQ(processor.clusters, colors);
  ASSERT_EQ(processor.Fit(image), image);
  NearestColors nearest(processor);
  std::vector<std::uint16_t> numbers;
  for (int again = 0; again < 2; ++again) {
    numbers.clear();
    nearest.Append(image, numbers);
    const std::vector<std::int32_t> expected = processor.Colors(image);
    EXPECT_EQ(std::vector<std::int32_t>(numbers.begin(), numbers.end()), expected);
  }
}

}  // namespace
}  // namespace headlight::colors_test
