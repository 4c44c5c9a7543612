#include "headlight/image/sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"

namespace headlight::sheet_test {
namespace {

TEST(Sheet, ArrangesImagesInRows) {
  std::vector<Image> images(3, Pattern(4, 3));
  for (std::uint8_t& byte : images[2].pixels) byte = 7;
  const Image sheet = SheetOf(images, 2);
  ASSERT_EQ(sheet.width, 2 + 6 + 6);
  ASSERT_EQ(sheet.height, 2 + 5 + 5);
  for (std::int64_t y = 0; y < sheet.height; ++y)
    for (std::int64_t x = 0; x < sheet.width; ++x) {
      const std::int64_t column = (x - 2) / 6, row = (y - 2) / 5, dx = (x - 2) % 6, dy = (y - 2) % 5;
      const bool inside = x >= 2 && y >= 2 && dx < 4 && dy < 3 && 2 * row + column < 3;
      const int expected = !inside ? 255 : images[static_cast<std::size_t>(2 * row + column)].row(dy)[3 * dx];
      EXPECT_EQ(sheet.row(y)[3 * x], expected) << x << ", " << y;
    }
  EXPECT_EQ(SheetOf({images.data(), 1}, 5), images[0]);
  EXPECT_EQ(SheetOf(images, 100).width, 2 + 3 * 6);
}

TEST(Sheet, RefusesInvalidSheets) {
  EXPECT_THAT(ErrorOf([] { SheetOf({}, 1); }), testing::HasSubstr("at least 1 image"));
  const std::vector<Image> two = {Pattern(4, 3), Pattern(3, 4)};
  EXPECT_THAT(ErrorOf([&] { SheetOf(two, 1); }), testing::HasSubstr("4 x 3 and of 3"));
  EXPECT_THAT(ErrorOf([&] { SheetSize({4, 3}, 2, 0); }), testing::HasSubstr("0 columns"));
  EXPECT_THAT(ErrorOf([&] { SheetSize({98, 998}, 1000, 10); }), testing::HasSubstr("more than 100000000 pixels"));
  EXPECT_THAT(ErrorOf([&] { SheetSize({1, 1}, INT64_MAX, 1); }), testing::HasSubstr("more than 100000000 pixels"));
}

}  // namespace
}  // namespace headlight::sheet_test
