#include "headlight/image/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/base/test_support.h"

namespace headlight::mix_test {
namespace {

// Images of 4 x 6 pixels. All values of an image are equal to its index plus one, and each image has a different class.
struct Batch {
  Tensor values = Tensor::Empty({3, 4, 6, 2}), targets = Tensor::Zeros({3, 3});
  Batch() {
    for (int i = 0; i < 3; ++i) {
      values.ViewRows(i, 1).Fill(i + 1);
      targets.data<float>()[4 * i] = 1;
    }
  }
};

TEST(Mixup, WeightsImagesAndClassesEqually) {
  const Batch batch;
  Mixup(batch.values, batch.targets, 0.75);
  EXPECT_EQ(batch.values.data<float>()[0], 0.75F * 1 + 0.25F * 3);  // mixed with the last image
  EXPECT_EQ(batch.values.data<float>()[48], 0.75F * 2 + 0.25F * 1);
  EXPECT_EQ(batch.targets.ToVector<float>(), (std::vector<float>{0.75, 0, 0.25, 0.25, 0.75, 0, 0, 0.25, 0.75}));
}

TEST(CutMix, TakesARegionOfTheOther) {
  const Batch batch;
  CutMix(batch.values, batch.targets, {1, 2, 2, 3});
  for (int image = 0; image < 3; ++image)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 6; ++x) {
        const bool inside = y >= 1 && y < 3 && x >= 2 && x < 5;
        const int expected = inside ? (image + 2) % 3 + 1 : image + 1;
        EXPECT_EQ(batch.values.data<float>()[((image * 4 + y) * 6 + x) * 2 + 1], static_cast<float>(expected));
      }
  EXPECT_EQ(batch.targets.data<float>()[0], 0.75F);
  EXPECT_EQ(batch.targets.data<float>()[2], 0.25F);
  EXPECT_THAT(ErrorOf([&] {
                CutMix(batch.values, batch.targets, {0, 4, 2, 3});
              }),
              testing::HasSubstr("3 x 2 at (4, 0)"));
}

TEST(Mix, SamplesSharesFromABetaDistribution) {
  for (const double alpha : {0.2, 1.0, 4.0}) {
    Random random(5);
    double sum = 0, squares = 0;
    constexpr int draws = 4000;
    for (int i = 0; i < draws; ++i) {
      const Batch batch;
      Mix(batch.values, batch.targets, {.mixup = alpha}, random);
      const auto share = static_cast<double>(batch.targets.data<float>()[0]);
      sum += share;
      squares += share * share;
    }
    const double mean = sum / draws;
    EXPECT_NEAR(mean, 0.5, 0.02);
    EXPECT_NEAR(squares / draws - mean * mean, 1 / (4 * (2 * alpha + 1)), 0.01);
  }
}

TEST(Mix, KeepsEachImagesTargetsAtASumOfOne) {
  Random random(9);
  for (int i = 0; i < 50; ++i) {
    const Batch batch;
    Mix(batch.values, batch.targets, {.mixup = 0.8, .cutmix = 1}, random);
    for (int image = 0; image < 3; ++image) {
      float sum = 0;
      for (int c = 0; c < 3; ++c) sum += batch.targets.data<float>()[3 * image + c];
      EXPECT_NEAR(sum, 1, 1e-6);
    }
  }
}

TEST(EraseAtRandom, MakesARegionZero) {
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const Tensor values = Tensor::Empty({20, 30, 3});
    values.Fill(1);
    EraseAtRandom(values, 1, random);
    double kept = 0;
    for (const float value : values.ToVector<float>()) kept += static_cast<double>(value);
    const double erased = 1 - kept / 1800;
    EXPECT_GT(erased, 0.01);
    EXPECT_LT(erased, 0.36);
    EraseAtRandom(values, 0, random);
    double after = 0;
    for (const float value : values.ToVector<float>()) after += static_cast<double>(value);
    EXPECT_EQ(after, kept);
  }
}

}  // namespace
}  // namespace headlight::mix_test
