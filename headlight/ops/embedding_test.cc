#include "headlight/ops/embedding.h"

#include <gmock/gmock.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/dropout.h"

namespace headlight::ops::embedding_test {
namespace {

using Inputs = std::vector<Tensor>;

const std::vector<std::int32_t> ids = {3, 0, 3, 5, 3, 1}, positions = {0, 1, 2, 0, 1, 1};
const Dropout dropout{0.3, 5};

TEST(Embedding, LooksUpAndScales) {
  const Tensor table = Tensor::From<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_EQ(Embedding(table, std::vector<std::int32_t>{2, 0, 2}).ToVector<float>(),
            (std::vector<float>{5, 6, 1, 2, 5, 6}));
  EXPECT_EQ(Embedding(table, std::vector<std::int32_t>{1}, 10).ToVector<float>(), (std::vector<float>{30, 40}));
}

TEST(Embedding, EqualsItsComposition) {
  const Inputs in = {RandomTensor({6, 9}, 1), RandomTensor({3, 9}, 2)};
  const auto fused = [](const Inputs& x) { return Embedding(x[0], ids, 1.7, x[1], positions, dropout); };
  const auto twin = [](const Inputs& x) {
    return Drop(Add(Scale(Embedding(x[0], ids), 1.7), Embedding(x[1], positions)), dropout);
  };
  EXPECT_THAT(fused(in).ToVector<double>(),
              testing::Pointwise(testing::DoubleNear(1e-15), twin(in).ToVector<double>()));
  EXPECT_EQ(CheckGradients(fused, in), "");
  EXPECT_EQ(CheckGradients(twin, in), "");
}

// Checks that the gradients of a table that is used twice, such as a tied table, are summed.
TEST(Embedding, GradientOfATiedTable) {
  EXPECT_EQ(CheckGradients([](const Inputs& x) { return Add(Embedding(x[0], ids), Embedding(x[0], positions, 0.5)); },
                           {RandomTensor({6, 4}, 1)}),
            "");
}

TEST(Embedding, NamesTheTokenOutsideTheTable) {
  const Tensor table = RandomTensor({4, 3}, 1);
  EXPECT_THAT([&] { Embedding(table, ids); }, testing::ThrowsMessage<Error>(testing::HasSubstr("row 3 is 5")));
  EXPECT_THAT(
      [&] {
        Embedding(table, positions, 1, RandomTensor({2, 3}, 1), positions);
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("position of row 2 is 2")));
  EXPECT_THAT(
      [&] {
        Embedding(table, positions, 1, RandomTensor({9, 2}, 1), positions);
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[9, 2]")));
}

}  // namespace
}  // namespace headlight::ops::embedding_test
