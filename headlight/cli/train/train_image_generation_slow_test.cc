// Trains an ImageGPT on synthetic images in two minutes. The model's bits per pixel must be far below the entropy of
// the colors, and below the conditional entropy of a color given its upper and left neighbors.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

#include "headlight/base/json.h"
#include "headlight/base/random.h"
#include "headlight/cli/program/testing.h"
#include "headlight/image/decoding/encode.h"

namespace headlight::train_image_generation_slow_test {
namespace {

constexpr std::int64_t kSide = 12;

// Returns an image of a filled square, a frame or a diagonal cross, of 5 to 8 pixels, in one of three colors on black.
Image Draw(Random& random) {
  Image image{.height = kSide, .width = kSide, .pixels = std::vector<std::uint8_t>(kSide * kSide * 3)};
  const auto below = [&](std::int64_t limit) { return static_cast<std::int64_t>(random.Below(limit)); };
  const std::int64_t shape = below(3), color = below(3), size = 5 + below(4);
  const std::int64_t top = below(kSide - size + 1), left = below(kSide - size + 1);
  for (std::int64_t y = 0; y < size; ++y)
    for (std::int64_t x = 0; x < size; ++x) {
      const bool edge = x == 0 || y == 0 || x == size - 1 || y == size - 1, cross = x == y || x + y == size - 1;
      if (shape == 0 || (shape == 1 && edge) || (shape == 2 && cross)) image.row(top + y)[3 * (left + x) + color] = 255;
    }
  return image;
}

// Returns the entropy of the colors, and their conditional entropy given the upper and left neighbors, in bits per
// pixel. Both are estimated from the images.
std::pair<double, double> Entropies(const std::vector<Image>& images) {
  std::map<int, double> colors;
  std::map<std::tuple<int, int, int>, double> three;
  std::map<std::tuple<int, int>, double> two;
  for (const Image& image : images) {
    const auto at = [&](std::int64_t y, std::int64_t x) {
      if (y < 0 || x < 0) return -1;
      const std::uint8_t* const pixel = image.row(y) + 3 * x;
      return pixel[0] * 4 + pixel[1] * 2 + pixel[2];
    };
    for (std::int64_t y = 0; y < kSide; ++y)
      for (std::int64_t x = 0; x < kSide; ++x) {
        ++colors[at(y, x)];
        ++two[{at(y - 1, x), at(y, x - 1)}];
        ++three[{at(y - 1, x), at(y, x - 1), at(y, x)}];
      }
  }
  const double all = static_cast<double>(images.size()) * kSide * kSide;
  double alone = 0, given = 0;
  for (const auto& [color, count] : colors) alone -= count / all * std::log2(count / all);
  for (const auto& [key, count] : three) {
    const auto& [above, left, color] = key;
    given -= count / all * std::log2(count / two[{above, left}]);
  }
  return {alone, given};
}

TEST(ImageGenerationTraining, BeatsTheColorsAndTheNeighbors) {
  const TemporaryFolder folder;
  Random random(7);
  std::vector<Image> valid;
  for (const auto& [name, count] : {std::pair("train", 2000), std::pair("valid", 200)}) {
    std::filesystem::create_directory(folder.File(name));
    for (int i = 0; i < count; ++i) {
      const Image image = Draw(random);
      WritePng(fmt::format("{}/{}.png", folder.File(name), i), image);
      if (name == std::string("valid")) valid.push_back(image);
    }
  }
  const std::string model = folder.File("model");
  MustRun({"train",           "image-generation",
           "--train",         folder.File("train"),
           "--valid",         folder.File("valid"),
           "--out",           model,
           "--image-size",    "12",
           "--clusters",      "4",
           "--layers",        "3",
           "--model-dim",     "64",
           "--heads",         "4",
           "--steps",         "800",
           "--learning-rate", "0.003",
           "--threads",       "2"});
  const Outcome evaluated = RunProgram({"evaluate", model, folder.File("valid"), "--json"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const double bits = JsonView(ParseJson(evaluated.out, "out"), "out")["bits_per_pixel"].Number();
  const auto [alone, given] = Entropies(valid);
  std::cout << "bits per pixel " << bits << ", of the colors alone " << alone << ", given the neighbors " << given
            << "\n";
  EXPECT_LT(bits, 0.25 * alone);
  EXPECT_LT(bits, 0.6 * given);
}

}  // namespace
}  // namespace headlight::train_image_generation_slow_test
