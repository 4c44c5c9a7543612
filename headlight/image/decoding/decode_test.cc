#include "headlight/image/decoding/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"

namespace headlight::decode_test {
namespace {

const std::string kFolder = HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/";

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// Checks the files described in tools/make_image_goldens.py.
TEST(DecodeImage, MatchesPillow) {
  std::istringstream lines(ReadFile(kFolder + "images.txt"));
  int files = 0;
  for (std::string line; std::getline(lines, line); ++files) {
    std::istringstream words(line);
    std::string name, width;
    words >> name >> width;
    SCOPED_TRACE(name);
    if (width == "refused") {
      EXPECT_THAT(ErrorOf([&] { ReadImage(kFolder + name); }), testing::StartsWith(kFolder + name + ": "));
      ErrorOf([&] { ReadImageSize(kFolder + name); });  // must not crash; succeeds if the header is intact
      continue;
    }
    std::int64_t height = 0;
    std::uint64_t sum = 0;
    words >> height >> sum;
    const Image image = ReadImage(kFolder + name);
    ASSERT_EQ(image.width, std::stoll(width));
    ASSERT_EQ(image.height, height);
    EXPECT_EQ(ReadImageSize(kFolder + name), (ImageSize{height, image.width}));
    if (std::filesystem::exists(kFolder + name + ".rgb")) {
      const std::string expected = ReadFile(kFolder + name + ".rgb");
      ASSERT_EQ(expected.size(), image.pixels.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_LE(std::abs(static_cast<std::uint8_t>(expected[i]) - image.pixels[i]), 1) << i;
    } else {
      EXPECT_EQ(crc32(0, image.pixels.data(), static_cast<uInt>(image.pixels.size())), sum);
    }
  }
  EXPECT_GT(files, 40);
}

TEST(DecodeImage, ErrorsNameTheProblem) {
  const auto error = [](const char* name) { return ErrorOf([&] { ReadImage(kFolder + name); }); };
  EXPECT_THAT(error("wide.png"), testing::HasSubstr("200000 x 200000 pixels"));
  EXPECT_THAT(error("truncated.png"), testing::HasSubstr("the file ends early"));
  EXPECT_THAT(error("truncated.jpg"), testing::HasSubstr("the file ends early"));
  EXPECT_THAT(error("truncated.webp"), testing::HasSubstr("damaged or ends early"));
  EXPECT_THAT(error("text.txt"), testing::HasSubstr("JPEG, PNG, WebP, BMP"));
  EXPECT_THAT(ErrorOf([] { ReadImage(kFolder + "rgb.jpg", 200); }), testing::EndsWith("limit of 200"));
}

TEST(DecodeImage, SurvivesTruncationsAndFlippedBytes) {
  for (const char* name : {"rgb.jpg", "progressive.jpg", "cmyk.jpg", "palette.png", "interlaced.png", "exif_text.png",
                           "lossy.webp", "animated.webp", "rgb_565.bmp", "runs.bmp", "runs_4.bmp", "transparent.gif",
                           "animated.gif", "lzw.tiff", "fax.tiff", "jpeg.tiff", "turned_6.tiff"}) {
    const std::string whole = ReadFile(kFolder + name);
    const auto read = [&](const std::string& file) {
      Image image;
      const std::string error = ErrorOf([&] { image = DecodeImage(Bytes(file), name, 10'000); });
      ImageSize size;
      const std::string error_of_size = ErrorOf([&] { size = DecodeImageSize(Bytes(file), name, 10'000); });
      if (error.empty()) {
        EXPECT_EQ(size, (ImageSize{image.height, image.width})) << error_of_size;
      }
      return error;
    };
    for (std::size_t size = 0; size < whole.size(); ++size) read(whole.substr(0, size));
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 0x55);
      read(flipped);
    }
    EXPECT_EQ(read(whole), "");
  }
}

}  // namespace
}  // namespace headlight::decode_test
