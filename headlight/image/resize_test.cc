#include "headlight/image/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <sstream>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"

namespace headlight::resize_test {
namespace {

TEST(Resize, EqualsPillowBitForBit) {
  std::istringstream lines(ReadFile(HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/resized.txt"));
  int cases = 0;
  for (std::string line; std::getline(lines, line); ++cases) {
    std::istringstream numbers(line);
    std::int64_t width, height, new_width, new_height;
    int filter;
    std::uint64_t sum;
    numbers >> width >> height >> new_width >> new_height >> filter >> sum;
    const Image resized = Resize(Pattern(width, height), new_height, new_width, static_cast<ResizeFilter>(filter));
    ASSERT_EQ(resized.width, new_width);
    ASSERT_EQ(resized.height, new_height);
    EXPECT_EQ(crc32(0, resized.pixels.data(), static_cast<uInt>(resized.pixels.size())), sum) << line;
  }
  EXPECT_GT(cases, 200);
}

TEST(Resize, RefusesAnEmptyResult) {
  EXPECT_THAT(ErrorOf([] { Resize(Pattern(2, 2), 0, 3, ResizeFilter::bilinear); }), testing::HasSubstr("3 x 0"));
}

}  // namespace
}  // namespace headlight::resize_test
