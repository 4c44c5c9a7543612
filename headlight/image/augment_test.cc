#include "headlight/image/augment.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/image/augment_boxes.h"
#include "headlight/image/color.h"
#include "headlight/image/testing.h"

namespace headlight::augment_test {
namespace {

double Number(std::istream& in) {
  double number = 0;
  in >> number;
  return number;
}

// The changes by name. In a line of augmented.txt, the parameters of a change follow its name.
const std::map<std::string, std::function<Image(const Image&, std::istream&)>> kChanges = {
    {"brightness", [](const Image& p, std::istream& in) { return AdjustBrightness(p, Number(in)); }},
    {"contrast", [](const Image& p, std::istream& in) { return AdjustContrast(p, Number(in)); }},
    {"saturation", [](const Image& p, std::istream& in) { return AdjustSaturation(p, Number(in)); }},
    {"sharpness", [](const Image& p, std::istream& in) { return AdjustSharpness(p, Number(in)); }},
    {"hue", [](const Image& p, std::istream& in) { return AdjustHue(p, Number(in)); }},
    {"grey", [](const Image& p, std::istream&) { return Gray(p); }},
    {"flip", [](const Image& p, std::istream&) { return FlipHorizontally(p); }},
    {"autocontrast", [](const Image& p, std::istream&) { return AutoContrast(p); }},
    {"autocontrast_of_dark", [](const Image& p, std::istream&) { return AutoContrast(AdjustBrightness(p, 0.3)); }},
    {"equalize", [](const Image& p, std::istream&) { return Equalize(p); }},
    {"equalize_of_dark", [](const Image& p, std::istream&) { return Equalize(AdjustBrightness(p, 0.3)); }},
    {"solarize", [](const Image& p, std::istream& in) { return Solarize(p, Number(in)); }},
    {"posterize", [](const Image& p, std::istream& in) { return Posterize(p, static_cast<int>(Number(in))); }},
    {"shear_x", [](const Image& p, std::istream& in) { return ShearX(p, Number(in)); }},
    {"shear_y", [](const Image& p, std::istream& in) { return ShearY(p, Number(in)); }},
    {"translate_x",
     [](const Image& p, std::istream& in) { return Translate(p, static_cast<std::int64_t>(Number(in)), 0); }},
    {"translate_y",
     [](const Image& p, std::istream& in) { return Translate(p, 0, static_cast<std::int64_t>(Number(in))); }},
    {"rotate", [](const Image& p, std::istream& in) { return Rotate(p, Number(in)); }},
    {"resized_crop",
     [](const Image& p, std::istream& in) {
       Region region;
       std::int64_t height, width;
       int filter;
       in >> region.top >> region.left >> region.height >> region.width >> height >> width >> filter;
       return Resize(Crop(p, region), height, width, static_cast<ResizeFilter>(filter));
     }},
};

TEST(PaletteColor, EqualsTorchvisionBitForBit) {
  std::istringstream lines(ReadFile(HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/augmented.txt"));
  int cases = 0;
  for (std::string line; std::getline(lines, line); ++cases) {
    std::istringstream words(line);
    std::int64_t width, height;
    std::string name;
    words >> width >> height >> name;
    if (name == "blur") {
      int kernel;
      double deviation;
      std::string hex;
      words >> kernel >> deviation >> hex;
      const Image blurred = GaussianBlur(Pattern(width, height), kernel, deviation);
      ASSERT_EQ(hex.size(), 2 * blurred.pixels.size());
      for (std::size_t i = 0; i < blurred.pixels.size(); ++i)
        EXPECT_LE(std::abs(std::stoi(hex.substr(2 * i, 2), nullptr, 16) - blurred.pixels[i]), 1) << line;
      continue;
    }
    ASSERT_TRUE(kChanges.contains(name)) << line;
    const Image changed = kChanges.at(name)(Pattern(width, height), words);
    std::uint64_t sum;
    words >> sum;
    EXPECT_EQ(crc32(0, changed.pixels.data(), static_cast<uInt>(changed.pixels.size())), sum) << line;
  }
  EXPECT_GT(cases, 150);
}

TEST(Crop, FillsWithBlackBeyondTheImage) {
  const Image image = Pattern(3, 2);
  const Image crop = Crop(image, {-1, 2, 3, 2});
  ASSERT_EQ(crop.pixels.size(), 18U);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(crop.pixels[static_cast<std::size_t>(i)], 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(crop.row(1)[i], image.row(0)[6 + i]);
  for (int i = 3; i < 6; ++i) EXPECT_EQ(crop.row(1)[i], 0);
  EXPECT_EQ(Crop(image, {0, 9, 2, 1}).pixels, std::vector<std::uint8_t>(6));
}

TEST(RandomRegion, IsWithinTheImageAndTheBounds) {
  Random random(7);
  double least = 1, most = 0;
  for (int i = 0; i < 2000; ++i) {
    const Region region = RandomRegion({80, 100}, {0.1, 0.5}, random);
    ASSERT_GE(std::min(region.top, region.left), 0);
    ASSERT_LE(region.top + region.height, 80);
    ASSERT_LE(region.left + region.width, 100);
    const double share = static_cast<double>(region.height * region.width) / 8000;
    least = std::min(least, share);
    most = std::max(most, share);
    const double aspect = static_cast<double>(region.width) / static_cast<double>(region.height);
    EXPECT_GT(aspect, 0.7);
    EXPECT_LT(aspect, 1.42);
  }
  EXPECT_NEAR(least, 0.1, 0.01);
  EXPECT_NEAR(most, 0.5, 0.01);
  // The image is too elongated, so the region is in the center.
  EXPECT_EQ(RandomRegion({1000, 10}, {1, 1}, random), (Region{493, 0, 13, 10}));
}

Augmentation Everything() {
  return {.size = {24, 32},
          .share = Range{0.3, 1},
          .padding = 4,
          .flip = 0.5,
          .rand_augment = RandAugmentOptions{},
          .jitter = {0.4, 0.4, 0.2, 0.1},
          .jitter_probability = 0.8,
          .gray = 0.2,
          .blur = 0.5,
          .solarize = 0.2};
}

TEST(Augment, IsDeterministicInTheRandomStream) {
  const Image image = Pattern(50, 40);
  Random first(3, 5), again(3, 5), other(3, 6);
  const Image changed = Augment(image, Everything(), first);
  EXPECT_EQ(changed.height, 24);
  EXPECT_EQ(changed.width, 32);
  EXPECT_EQ(changed, Augment(image, Everything(), again));
  EXPECT_NE(changed, Augment(image, Everything(), other));
}

TEST(Augment, KeepsTheImageWithoutOptions) {
  Random random(1);
  EXPECT_EQ(Augment(Pattern(9, 8), {.size = {8, 9}}, random), Pattern(9, 8));
  EXPECT_EQ(Augment(Pattern(9, 8), {.size = {8, 9}, .flip = 1}, random), FlipHorizontally(Pattern(9, 8)));
}

TEST(RandomCrops, HasTwoLargeOnesAndSmallOnes) {
  Random random(1);
  const std::vector<Image> views =
      RandomCrops(Pattern(60, 50), {.global_size = 32, .local_size = 16, .locals = 3}, random);
  ASSERT_EQ(views.size(), 5U);
  for (std::size_t i = 0; i < views.size(); ++i) EXPECT_EQ(views[i].width, i < 2 ? 32 : 16);
  EXPECT_NE(views[0], views[1]);
}

TEST(BoxedImages, KeepTheirBoxesInPlace) {
  // After a change, the box must match the white pixels of a white rectangle on black.
  Image image{.height = 40, .width = 60, .pixels = std::vector<std::uint8_t>(40 * 60 * 3)};
  const std::vector<LabeledBox> boxes = {{.box = {10, 5, 30, 25}, .label = 3, .area = 400},
                                         {.box = {50, 30, 60, 40}, .area = 100}};
  for (std::int64_t y = 5; y < 25; ++y) std::fill_n(image.row(y) + 30, 60, std::uint8_t{255});
  const auto white = [](const Image& shown) {
    Box box{1e9, 1e9, 0, 0};
    for (std::int64_t y = 0; y < shown.height; ++y)
      for (std::int64_t x = 0; x < shown.width; ++x)
        if (shown.row(y)[3 * x] > 127) {
          box.left = std::min(box.left, static_cast<double>(x));
          box.top = std::min(box.top, static_cast<double>(y));
          box.right = std::max(box.right, static_cast<double>(x + 1));
          box.bottom = std::max(box.bottom, static_cast<double>(y + 1));
        }
    return box;
  };
  EXPECT_EQ(white(image), boxes[0].box);
  const auto changed = [&](const BoxedChange& change) { return Changed(boxes, {40, 60}, change); };
  const BoxedChange flip{.flip = true, .size = {40, 60}};
  EXPECT_EQ(white(Changed(image, flip)), changed(flip)[0].box);
  const BoxedChange crop{.cut = BoxedChange::Cut{{40, 60}, {10, 20, 20, 30}}, .size = {20, 30}};
  const std::vector<LabeledBox> cropped = changed(crop);
  ASSERT_EQ(cropped.size(), 1U);  // the other box is outside of the region
  EXPECT_EQ(white(Changed(image, crop)), cropped[0].box);
  EXPECT_EQ(cropped[0].area, 150);
  EXPECT_EQ(cropped[0].label, 3);
  const BoxedChange resize{.size = {80, 180}};
  EXPECT_EQ(changed(resize)[0].box, (Box{30, 10, 90, 50}));
  EXPECT_EQ(changed(resize)[0].area, 2400);
  EXPECT_EQ(white(Changed(image, resize)), changed(resize)[0].box);
  Random random(2);
  for (int i = 0; i < 20; ++i) {
    const BoxedChange change = RandomScaleAndCrop(
        {40, 60}, {.first_sides = {60, 80}, .least_crop = 50, .most_crop = 70, .sides = {48, 64}, .longest = 90},
        random);
    const Image shown = Changed(image, change);
    EXPECT_EQ((ImageSize{shown.height, shown.width}), change.size);
    const auto [shorter, longer] = std::minmax(shown.height, shown.width);
    EXPECT_TRUE(shorter == 48 || shorter == 64 || longer == 90) << shorter << " x " << longer;
    const std::vector<LabeledBox> left = changed(change);
    if (left.empty() || left[0].label != 3) continue;
    const Box found = white(shown), box = left[0].box;
    for (double difference :
         {found.left - box.left, found.top - box.top, found.right - box.right, found.bottom - box.bottom})
      EXPECT_LE(std::abs(difference), 1.5);
  }
}

}  // namespace
}  // namespace headlight::augment_test
