#include "headlight/image/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "headlight/base/test_support.h"
#include "headlight/image/testing.h"

namespace headlight::processor_test {
namespace {

ImageProcessor Processor(const char* config) {
  return ReadImageProcessor(JsonView(ParseJson(config, "test"), "preprocessor_config.json"));
}

template <typename T>
std::int64_t SumOf(std::span<const T> values) {
  return static_cast<std::int64_t>(
      crc32(0, reinterpret_cast<const Bytef*>(values.data()), static_cast<uInt>(values.size_bytes())));
}

// Compares the values with goldens from tools/make_image_processor_goldens.py.
TEST(ImageProcessor, MatchesTransformersBitForBit) {
  const JsonView goldens = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/image/testdata/processors.json");
  for (const JsonView& golden : goldens.Items()) {
    SCOPED_TRACE(golden.value().Line());
    const ImageProcessor processor = ReadImageProcessor(JsonView(golden["config"].value(), "golden"));
    const std::vector<JsonView> size = golden["image"].Items();
    const Image fitted = processor.Fit(Pattern(size[0].Integer(), size[1].Integer()));
    if (!golden["size"].present()) {
      const std::vector<std::int32_t> colors = processor.Colors(fitted);
      const std::vector<std::int64_t> ids(colors.begin(), colors.end());
      EXPECT_EQ(SumOf(std::span(ids)), golden["crc32"].Integer());
      continue;
    }
    const Tensor values = processor.Values(fitted);
    EXPECT_EQ(values.shape()[0], golden["size"].Items()[0].Integer());
    EXPECT_EQ(values.shape()[1], golden["size"].Items()[1].Integer());
    const std::vector<float> numbers = values.ToVector<float>();
    EXPECT_EQ(SumOf(std::span(numbers)), golden["crc32"].Integer());
  }
}

TEST(ImageProcessor, RefusesUnknownSettings) {
  const auto error = [](const char* config) { return ErrorOf([&] { Processor(config); }); };
  EXPECT_THAT(error(R"({"image_processor_type": "ViTImageProcessor", "do_flip": true})"),
              testing::HasSubstr("do_flip"));
  EXPECT_THAT(error(R"({"image_processor_type": "Mask2FormerImageProcessor"})"),
              testing::AllOf(testing::HasSubstr("Mask2FormerImageProcessor"), testing::HasSubstr("ViTImageProcessor")));
  EXPECT_THAT(error("{}"), testing::HasSubstr("image_processor_type is missing"));
  EXPECT_THAT(error(R"({"image_processor_type": "ViTImageProcessor", "resample": 7})"), testing::HasSubstr("resample"));
  EXPECT_THAT(error(R"({"image_processor_type": "ViTImageProcessor", "size": 0})"), testing::HasSubstr("size"));
  EXPECT_THAT(error(R"({"image_processor_type": "ViTImageProcessor", "image_std": [1, 0, 1]})"),
              testing::HasSubstr("image_std must be above 0"));
}

TEST(ImageProcessor, RefusesImagesThatAreTooElongated) {
  const ImageProcessor processor =
      Processor(R"({"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 224}})");
  EXPECT_THAT(ErrorOf([&] { processor.Fit(Pattern(2000, 1)); }), testing::HasSubstr("too elongated"));
}

}  // namespace
}  // namespace headlight::processor_test
