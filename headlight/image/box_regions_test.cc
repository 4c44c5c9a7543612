#include "headlight/image/box_regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "headlight/base/test_support.h"

namespace headlight::box_regions_test {
namespace {

// Returns a black image of height 2 and width 4 with a white square of 2 x 2 pixels on the right.
Image HalfWhite() {
  Image image{2, 4, std::vector<std::uint8_t>(24)};
  for (std::int64_t y = 0; y < 2; ++y) std::fill_n(image.row(y) + 6, 6, std::uint8_t{255});
  return image;
}

TEST(BoxRegions, ContainPixelsAndPositions) {
  const std::vector<Box> boxes = {{2, 0, 4, 2}, {-3, 0.2, 1.5, 9}};
  const BoxRegions regions = RegionsOfBoxes(HalfWhite(), boxes, 2);
  EXPECT_EQ(regions.features.shape(), (Shape{3, 12}));
  const std::vector<float> features = regions.features.ToVector<float>();
  EXPECT_LT(features[0], -0.5F);  // the first row is the whole image, which is black on the left
  EXPECT_GT(features[3], 0.5F);
  for (int i = 12; i < 24; ++i) EXPECT_EQ(features[static_cast<std::size_t>(i)], 1) << i;
  for (int i = 24; i < 36; ++i) EXPECT_EQ(features[static_cast<std::size_t>(i)], -1) << i;
  EXPECT_EQ(regions.places.ToVector<float>(), (std::vector<float>{0, 0, 1, 1, 1,        //
                                                                  0.5F, 0, 1, 1, 0.5F,  //
                                                                  0, 0.1F, 0.375F, 1, 0.3375F}));
  // A model can use fewer than five values.
  EXPECT_EQ(RegionsOfBoxes(HalfWhite(), boxes, 2, 4).places.ToVector<float>(),
            (std::vector<float>{0, 0, 1, 1, 0.5F, 0, 1, 1, 0, 0.1F, 0.375F, 1}));
  EXPECT_EQ(RegionsOfBoxes(HalfWhite(), boxes, 2, 0).places.shape(), (Shape{3, 0}));
  EXPECT_THAT(ErrorOf([&] { RegionsOfBoxes(HalfWhite(), boxes, 2, 6); }), testing::HasSubstr("not 6"));
}

TEST(BoxRegions, RefuseWhatIsOutside) {
  const auto error = [](const Box& box, std::int64_t side = 2) {
    return ErrorOf([&] { RegionsOfBoxes(HalfWhite(), std::span(&box, 1), side); });
  };
  EXPECT_EQ(error({0, 0, 1, 1}), "");
  EXPECT_THAT(error({4, 0, 6, 1}), testing::HasSubstr("the box (4, 0, 6, 1)"));
  EXPECT_THAT(error({1, 1, 1, 2}), testing::HasSubstr("is outside"));
  EXPECT_THAT(error({0, 0, 1, 1}, 0), testing::HasSubstr("1 to 64 pixels"));
  EXPECT_THAT(ErrorOf([] { RegionsOfBoxes({}, {}, 2); }), testing::HasSubstr("an image of 0 x 0"));
}

}  // namespace
}  // namespace headlight::box_regions_test
