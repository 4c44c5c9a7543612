#include "headlight/tasks/image_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <set>
#include <thread>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/tasks/testing.h"

namespace headlight::image_generator_test {
namespace {

using testing::HasSubstr;

using Pixel = std::array<std::uint8_t, 3>;

Pixel At(const Picture& picture, std::int64_t y, std::int64_t x) {
  const std::uint8_t* const pixel = picture.row(y) + 3 * x;
  return {pixel[0], pixel[1], pixel[2]};
}

struct ImageGeneratorTest : testing::Test {
  ImageGeneratorTest() { SaveTinyImageGpt(folder.path()); }

  const TemporaryFolder folder;
};

TEST_F(ImageGeneratorTest, DrawsPicturesInTheModelsColours) {
  const ImageGenerator generator = ImageGenerator::Load(folder.path());
  EXPECT_EQ(generator.height(), 4);
  EXPECT_EQ(generator.width(), 6);
  std::vector<std::int64_t> told;
  DrawOptions options{.seed = 5};
  options.progress = [&](std::int64_t done, std::int64_t all) {
    EXPECT_EQ(all, 8 * 24);
    told.push_back(done);
  };
  const std::vector<Picture> pictures = generator.Generate(8, options);
  ASSERT_EQ(pictures.size(), 8U);
  EXPECT_EQ(told.size(), 8U * 24);
  EXPECT_EQ(told.back(), 8 * 24);
  std::set<Pixel> seen;
  for (const Picture& picture : pictures) {
    ASSERT_EQ(picture.height, 4);
    ASSERT_EQ(picture.width, 6);
    ASSERT_EQ(std::ssize(picture.pixels), 4 * 6 * 3);
    for (std::int64_t y = 0; y < 4; ++y)
      for (std::int64_t x = 0; x < 6; ++x) seen.insert(At(picture, y, x));
  }
  EXPECT_EQ(seen, (std::set<Pixel>{{0, 0, 0}, {255, 0, 0}, {255, 255, 255}}));
  EXPECT_NE(pictures[0], pictures[1]);
}

TEST_F(ImageGeneratorTest, TheSameSeedDrawsTheSamePicturesInAnyCallOnAnyThread) {
  const ImageGenerator generator = ImageGenerator::Load(folder.path());
  const std::vector<Picture> pictures = generator.Generate(70, {.seed = 5});  // more than are drawn at once
  EXPECT_EQ(generator.Generate(70, {.seed = 5}), pictures);
  EXPECT_EQ(generator.Generate(3, {.seed = 5}), std::vector(pictures.begin(), pictures.begin() + 3));
  EXPECT_NE(generator.Generate(3, {.seed = 6}), std::vector(pictures.begin(), pictures.begin() + 3));
  std::vector<Picture> elsewhere;
  std::thread([&] { elsewhere = generator.Generate(2, {.seed = 5}); }).join();
  EXPECT_EQ(elsewhere, std::vector(pictures.begin(), pictures.begin() + 2));
}

TEST_F(ImageGeneratorTest, KeepsTheRowsThatAreGiven) {
  const ImageGenerator generator = ImageGenerator::Load(folder.path());
  Picture given{.height = 4, .width = 6};
  for (int i = 0; i < 24; ++i)  // nearly red and nearly white
    for (const int byte : {250, i % 2 == 0 ? 4 : 240, i % 2 == 0 ? 0 : 255})
      given.pixels.push_back(static_cast<std::uint8_t>(byte));
  const auto given_rows_of = [&](const Picture& picture) {
    std::int64_t rows = 0;
    while (rows < 4) {
      for (std::int64_t x = 0; x < 6; ++x)
        if (At(picture, rows, x) != (x % 2 == 0 ? Pixel{255, 0, 0} : Pixel{255, 255, 255})) return rows;
      ++rows;
    }
    return rows;
  };
  for (const std::int64_t rows : {0, 1, 3}) {
    const std::vector<Picture> pictures = generator.Complete({&given, 1}, rows, 5, {.seed = 2});
    ASSERT_EQ(pictures.size(), 5U);
    for (const Picture& picture : pictures) EXPECT_GE(given_rows_of(picture), rows);
    EXPECT_NE(pictures[0], pictures[1]);
  }
  EXPECT_EQ(generator.Complete({&given, 1}, {}, 2), generator.Complete({&given, 1}, 2, 2));
  EXPECT_EQ(generator.Complete({&given, 1}, 0, 3, {.seed = 9}), generator.Generate(3, {.seed = 9}));
  // Of several pictures one after another.
  Picture black{.height = 4, .width = 6, .pixels = std::vector<std::uint8_t>(72)};
  const std::array<Picture, 2> two = {given, black};
  const std::vector<Picture> both = generator.Complete(two, 3, 2);
  ASSERT_EQ(both.size(), 4U);
  EXPECT_GE(given_rows_of(both[1]), 3);
  EXPECT_EQ(At(both[2], 0, 0), (Pixel{0, 0, 0}));
}

// A tied output scores the start, too, which is no colour.
TEST(ImageGenerator, NeverDrawsTheStart) {
  const TemporaryFolder folder;
  SaveTinyImageGpt(folder.path(), /*tie_output=*/true);
  for (const Picture& picture : ImageGenerator::Load(folder.path()).Generate(20, {.temperature = 5}))
    EXPECT_EQ(std::ssize(picture.pixels), 72);
}

TEST_F(ImageGeneratorTest, TopKOfOneIsTheLikeliest) {
  const ImageGenerator generator = ImageGenerator::Load(folder.path());
  EXPECT_EQ(generator.Generate(1, {.top_k = 1, .seed = 1}), generator.Generate(1, {.top_k = 1, .seed = 2}));
}

TEST_F(ImageGeneratorTest, RefusesWhatCannotBe) {
  const ImageGenerator generator = ImageGenerator::Load(folder.path());
  EXPECT_THAT(ErrorOf([&] { generator.Generate(0); }), HasSubstr("at least one picture"));
  EXPECT_THAT(ErrorOf([&] { generator.Generate(1, {.temperature = 0}); }), HasSubstr("temperature"));
  EXPECT_THAT(ErrorOf([&] { generator.Generate(1, {.top_p = 0}); }), HasSubstr("top_p"));
  const Picture picture{.height = 1, .width = 1, .pixels = {1, 2, 3}};
  EXPECT_THAT(ErrorOf([&] { generator.Complete({&picture, 1}, 4, 1); }), HasSubstr("from 0 to 3 rows"));
  DrawOptions options;
  options.cancelled = [] { return true; };
  EXPECT_THROW(generator.Generate(1, options), Cancelled);

  const std::string path = folder.File("preprocessor_config.json"), config = ReadFile(path);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = config;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    WriteFile(path, changed.replace(at, from.size(), to));
    return ErrorOf([&] { ImageGenerator::Load(folder.path()); });
  };
  EXPECT_THAT(with("\"height\": 4", "\"height\": 5"), HasSubstr("6 x 5, and the model generates at most 24 pixels"));
  EXPECT_THAT(with("\"do_color_quantize\": true", "\"do_color_quantize\": false"), HasSubstr("0 clusters"));
  EXPECT_THAT(with("\"do_resize\": true", "\"do_resize\": false"), HasSubstr("one height and width"));
  std::filesystem::remove(path);
  EXPECT_THAT(ErrorOf([&] { ImageGenerator::Load(folder.path()); }), HasSubstr("preprocessor_config.json"));
  EXPECT_THAT(ErrorOf([&] { ImageGenerator::Load(folder.path(), {.draft = true}); }), HasSubstr("draft"));
  const TemporaryFolder text;
  SaveTinyGpt(text.path());
  EXPECT_THAT(ErrorOf([&] { ImageGenerator::Load(text.path()); }),
              HasSubstr("is a gpt2 model, a language model, and a generator of pictures is needed: imagegpt"));
}

}  // namespace
}  // namespace headlight::image_generator_test
