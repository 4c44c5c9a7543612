#include "headlight/nn/drop_path.h"

#include <gtest/gtest.h>

#include <vector>

namespace headlight::drop_path_test {
namespace {

TEST(DropPath, DropsWholeExamplesMoreOftenInLaterLayers) {
  Sequences examples;
  for (std::int32_t i = 0; i < 2000; ++i) examples.push_back({3 * i, 3});
  const Tensor change = Tensor::Empty({6000, 2});
  change.Fill(1);
  Context context;
  EXPECT_EQ(DropPath(context, change, examples, 4, 5).ToVector<float>(), change.ToVector<float>());  // not in training
  context.training = {.drop_path = 0.4};
  for (const int layer : {0, 2, 4}) {
    const std::vector<float> dropped = DropPath(context, change, examples, layer, 5).ToVector<float>();
    int left_out = 0;
    for (std::size_t i = 0; i < 2000; ++i) {
      const float factor = dropped[6 * i];
      for (std::size_t j = 0; j < 6; ++j) ASSERT_EQ(dropped[6 * i + j], factor);
      if (factor == 0)
        ++left_out;
      else
        ASSERT_FLOAT_EQ(factor, static_cast<float>(1 / (1 - 0.1 * layer)));
    }
    EXPECT_NEAR(left_out / 2000.0, 0.1 * layer, 0.04);
  }
  EXPECT_NE(DropPath(context, change, examples, 4, 5).ToVector<float>(),
            DropPath(context, change, examples, 4, 5).ToVector<float>());
}

}  // namespace
}  // namespace headlight::drop_path_test
