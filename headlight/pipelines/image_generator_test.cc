#include "headlight/pipelines/image_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <set>
#include <thread>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/pipelines/testing.h"

namespace headlight::image_generator_test {
namespace {

using testing::HasSubstr;

using Pixel = std::array<std::uint8_t, 3>;

Pixel At(const Image& image, std::int64_t y, std::int64_t x) {
  const std::uint8_t* const pixel = image.row(y) + 3 * x;
  return {pixel[0], pixel[1], pixel[2]};
}

struct ImageGeneratorTest : testing::Test {
  ImageGeneratorTest() { SaveTinyImageGpt(folder.path()); }

  const TemporaryFolder folder;
};

TEST_F(ImageGeneratorTest, GeneratesImagesInTheModelsColors) {
  const ImageGenerator generator = ImageGenerator::Load(folder.path());
  EXPECT_EQ(generator.height(), 4);
  EXPECT_EQ(generator.width(), 6);
  std::vector<std::int64_t> told;
  TextToImageOptions options{.count = 8, .seed = 5};
  options.progress = [&](std::int64_t done, std::int64_t all) {
    EXPECT_EQ(all, 8 * 24);
    told.push_back(done);
  };
  const std::vector<Image> images = generator.Generate(options);
  ASSERT_EQ(images.size(), 8U);
  EXPECT_EQ(told.size(), 8U * 24);
  EXPECT_EQ(told.back(), 8 * 24);
  std::set<Pixel> seen;
  for (const Image& image : images) {
    ASSERT_EQ(image.height, 4);
    ASSERT_EQ(image.width, 6);
    ASSERT_EQ(std::ssize(image.pixels), 4 * 6 * 3);
    for (std::int64_t y = 0; y < 4; ++y)
      for (std::int64_t x = 0; x < 6; ++x) seen.insert(At(image, y, x));
  }
  EXPECT_EQ(seen, (std::set<Pixel>{{0, 0, 0}, {255, 0, 0}, {255, 255, 255}}));
  EXPECT_NE(images[0], images[1]);
}

TEST_F(ImageGeneratorTest, TheSameSeedGivesTheSameImagesInAnyCallOnAnyThread) {
  const ImageGenerator generator = ImageGenerator::Load(folder.path());
  const std::vector<Image> images = generator.Generate({.count = 70, .seed = 5});  // more than one batch
  EXPECT_EQ(generator.Generate({.count = 70, .seed = 5}), images);
  EXPECT_EQ(generator.Generate({.count = 3, .seed = 5}), std::vector(images.begin(), images.begin() + 3));
  EXPECT_NE(generator.Generate({.count = 3, .seed = 6}), std::vector(images.begin(), images.begin() + 3));
  std::vector<Image> elsewhere;
  std::thread([&] { elsewhere = generator.Generate({.count = 2, .seed = 5}); }).join();
  EXPECT_EQ(elsewhere, std::vector(images.begin(), images.begin() + 2));
}

TEST_F(ImageGeneratorTest, KeepsGivenRows) {
  const ImageGenerator generator = ImageGenerator::Load(folder.path());
  Image given{.height = 4, .width = 6};
  for (int i = 0; i < 24; ++i)  // nearly red and nearly white
    for (const int byte : {250, i % 2 == 0 ? 4 : 240, i % 2 == 0 ? 0 : 255})
      given.pixels.push_back(static_cast<std::uint8_t>(byte));
  const auto given_rows_of = [&](const Image& image) {
    std::int64_t rows = 0;
    while (rows < 4) {
      for (std::int64_t x = 0; x < 6; ++x)
        if (At(image, rows, x) != (x % 2 == 0 ? Pixel{255, 0, 0} : Pixel{255, 255, 255})) return rows;
      ++rows;
    }
    return rows;
  };
  for (const std::int64_t rows : {0, 1, 3}) {
    const std::vector<Image> images = generator.Complete({&given, 1}, rows, {.count = 5, .seed = 2}).front();
    ASSERT_EQ(images.size(), 5U);
    for (const Image& image : images) EXPECT_GE(given_rows_of(image), rows);
    EXPECT_NE(images[0], images[1]);
  }
  EXPECT_EQ(generator.Complete({&given, 1}), generator.Complete({&given, 1}, 2));
  EXPECT_EQ(generator.Complete({&given, 1}, 0, {.count = 3, .seed = 9}).front(),
            generator.Generate({.count = 3, .seed = 9}));
  Image black{.height = 4, .width = 6, .pixels = std::vector<std::uint8_t>(72)};
  const std::array<Image, 2> two = {given, black};
  const std::vector<std::vector<Image>> both = generator.Complete(two, 3, {.count = 2});
  ASSERT_EQ(both.size(), 2U);
  ASSERT_EQ(both[1].size(), 2U);
  EXPECT_GE(given_rows_of(both[0][1]), 3);
  EXPECT_EQ(At(both[1][0], 0, 0), (Pixel{0, 0, 0}));
}

// If embeddings are tied, the start token also has a logit, although it is not a color.
TEST(ImageGenerator, NeverSamplesTheStartToken) {
  const TemporaryFolder folder;
  SaveTinyImageGpt(folder.path(), /*tie_output=*/true);
  for (const Image& image : ImageGenerator::Load(folder.path()).Generate({.count = 20, .temperature = 5}))
    EXPECT_EQ(std::ssize(image.pixels), 72);
}

TEST_F(ImageGeneratorTest, TopKOfOneIsGreedy) {
  const ImageGenerator generator = ImageGenerator::Load(folder.path());
  EXPECT_EQ(generator.Generate({.count = 1, .top_k = 1, .seed = 1}),
            generator.Generate({.count = 1, .top_k = 1, .seed = 2}));
}

TEST_F(ImageGeneratorTest, RefusesInvalidInput) {
  const ImageGenerator generator = ImageGenerator::Load(folder.path());
  EXPECT_THAT(ErrorOf([&] { generator.Generate({.count = 0}); }), HasSubstr("`count`"));
  EXPECT_THAT(ErrorOf([&] { generator.Generate({.guidance = 2}); }), HasSubstr("`guidance` must be 1, not 2"));
  EXPECT_THAT(ErrorOf([&] {
                generator.Complete(
                    std::vector<Image>(1, {.height = 4, .width = 6, .pixels = std::vector<std::uint8_t>(72)}), 2,
                    {.guidance = 2});
              }),
              HasSubstr("`guidance`"));
  EXPECT_THAT(ErrorOf([&] { generator.Generate({.count = 1, .temperature = 0}); }), HasSubstr("temperature"));
  EXPECT_THAT(ErrorOf([&] { generator.Generate({.count = 1, .top_p = 0}); }), HasSubstr("top_p"));
  const Image image{.height = 1, .width = 1, .pixels = {1, 2, 3}};
  EXPECT_THAT(ErrorOf([&] { generator.Complete({&image, 1}, 4); }), HasSubstr("from 0 to 3 rows"));
  TextToImageOptions options;
  options.cancelled = [] { return true; };
  EXPECT_THROW(generator.Generate(options), Cancelled);

  const std::string path = folder.File("preprocessor_config.json"), config = ReadFile(path);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = config;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    WriteFile(path, changed.replace(at, from.size(), to));
    return ErrorOf([&] { ImageGenerator::Load(folder.path()); });
  };
  EXPECT_THAT(with("\"height\": 4", "\"height\": 5"), HasSubstr("generates at most 24 pixels"));
  EXPECT_THAT(with("\"do_color_quantize\": true", "\"do_color_quantize\": false"), HasSubstr("0 clusters"));
  EXPECT_THAT(with("\"do_resize\": true", "\"do_resize\": false"), HasSubstr("one height and width"));
  std::filesystem::remove(path);
  EXPECT_THAT(ErrorOf([&] { ImageGenerator::Load(folder.path()); }), HasSubstr("preprocessor_config.json"));
  EXPECT_THAT(ErrorOf([&] { ImageGenerator::Load(folder.path(), {.draft = true}); }), HasSubstr("draft"));
  const TemporaryFolder text;
  SaveTinyGpt(text.path());
  EXPECT_THAT(ErrorOf([&] { ImageGenerator::Load(text.path()); }), HasSubstr("an image generation model"));
}

}  // namespace
}  // namespace headlight::image_generator_test
