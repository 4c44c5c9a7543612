#include "headlight/image/decoding/encode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/testing.h"

namespace headlight::encode_test {
namespace {

TEST(EncodePng, RoundTrips) {
  const TemporaryFolder folder;
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(17, 5), std::pair(3, 64), std::pair(200, 100)}) {
    const Image image = Pattern(width, height);
    WritePng(folder.File("image.png"), image);
    EXPECT_EQ(ReadImage(folder.File("image.png")), image) << width << " x " << height;
  }
  Image noise{.height = 50, .width = 50};  // random pixels, which cannot be compressed
  std::uint32_t state = 1;
  for (int i = 0; i < 7500; ++i)
    noise.pixels.push_back(static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24));
  const std::string file = EncodePng(noise);
  EXPECT_EQ(DecodeImage(std::as_bytes(std::span(file)), "noise"), noise);
}

TEST(EncodePng, RefusesInvalidImages) {
  EXPECT_THAT(ErrorOf([] { EncodePng({}); }), testing::HasSubstr("0 x 0"));
  EXPECT_THAT(ErrorOf([] { EncodePng({.height = 2, .width = 2, .pixels = std::vector<std::uint8_t>(9)}); }),
              testing::HasSubstr("9 values"));
  EXPECT_THAT(ErrorOf([] { WritePng("/nowhere/at/all.png", Pattern(2, 2)); }), testing::HasSubstr("/nowhere/at"));
}

}  // namespace
}  // namespace headlight::encode_test
