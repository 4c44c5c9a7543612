#include "headlight/ops/distillation_loss.h"

#include <gmock/gmock.h>

#include <cmath>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/parallel.h"
#include "headlight/ops/softmax.h"

namespace headlight::ops::distillation_loss_test {
namespace {

using Inputs = std::vector<Tensor>;
using Pairs = std::vector<DistillationPair>;

TEST(DistillationLoss, WorkedExample) {
  // The softmax is softmax({0, ln 3} / 0.5) = {1, 9} / 10.
  const Tensor logits = Tensor::From<double>({5, 5, 0, std::log(3.0)}, {2, 2});
  const Tensor targets = Tensor::From<double>({0.25, 0.75, 1, 0}, {2, 2});
  const double expected = -0.25 * std::log(0.1) - 0.75 * std::log(0.9) - std::log(0.1);
  const Tensor loss = DistillationLoss(logits, targets, Pairs{{1, 0}, {1, 1}}, 0.5, 3);
  EXPECT_NEAR(loss.data<double>()[0], 3 * expected, 1e-12);
}

TEST(DistillationLoss, Gradients) {
  const Tensor targets = Softmax(RandomTensor({3, 7}, 1, 3));
  for (const Pairs& pairs : {Pairs{{0, 0}}, Pairs{{0, 1}, {2, 0}, {0, 2}, {1, 2}, {2, 2}}, Pairs{}}) {
    const auto f = [&](const Inputs& in) { return DistillationLoss(in[0], targets, pairs, 0.3, 0.7); };
    EXPECT_EQ(CheckGradients(f, {RandomTensor({3, 7}, 2)}), "") << pairs.size();
  }
}

TEST(DistillationLoss, HasTheSameBitsForAnyThreadCount) {
  const auto loss_of = [](int threads) {
    const int before = Threads();
    SetThreads(threads);
    const auto single = [](const Tensor& x) {
      const std::vector<double> values = x.ToVector<double>();
      return Tensor::From(std::span<const float>(std::vector<float>(values.begin(), values.end())), x.shape());
    };
    Pairs pairs;
    for (std::int32_t i = 0; i < 300; ++i) pairs.push_back({i / 3, i % 40});
    const float loss = DistillationLoss(single(RandomTensor({100, 77}, 1)), Softmax(single(RandomTensor({40, 77}, 2))),
                                        pairs, 0.1, 0.01)
                           .data<float>()[0];
    SetThreads(before);
    return loss;
  };
  EXPECT_EQ(loss_of(1), loss_of(4));
}

TEST(DistillationLoss, NamesTheShapesThatDoNotFit) {
  const auto of = [](const Shape& logits, const Shape& targets, const Pairs& pairs) {
    DistillationLoss(RandomTensor(logits, 1), RandomTensor(targets, 2), pairs, 1, 1);
  };
  using testing::HasSubstr;
  EXPECT_THAT([&] { of({2, 4}, {2, 5}, {}); }, testing::ThrowsMessage<Error>(HasSubstr("[2, 5]")));
  EXPECT_THAT([&] { of({2, 4}, {3, 4}, {{2, 0}}); }, testing::ThrowsMessage<Error>(HasSubstr("rows 2 and 0")));
  EXPECT_THAT([&] { of({2, 4}, {3, 4}, {{0, 3}}); }, testing::ThrowsMessage<Error>(HasSubstr("rows 0 and 3")));
}

}  // namespace
}  // namespace headlight::ops::distillation_loss_test
