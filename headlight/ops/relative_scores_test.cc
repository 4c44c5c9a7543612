#include "headlight/ops/relative_scores.h"

#include <gtest/gtest.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/base/test_support.h"
#include "headlight/ops/view.h"

namespace headlight::ops::relative_scores_test {
namespace {

TEST(RelativeScores, MultipliesEachHeadSeparately) {
  const Tensor x = Tensor::From({1.0, 2.0, 3.0, 4.0}, {1, 4}), relative = Tensor::From({1.0, 0.0, 10.0, 1.0}, {1, 4});
  EXPECT_EQ(RelativeScores(x, relative, {}, {}, 2).ToVector<double>(), (std::vector<double>{1, 34}));
  EXPECT_EQ(RelativeScores({}, {}, x, relative, 1).ToVector<double>(), (std::vector<double>{35}));
  EXPECT_EQ(RelativeScores(x, relative, relative, x, 1).ToVector<double>(), (std::vector<double>{35, 35}));
}

TEST(RelativeScores, GradientsMatchFiniteDifferences) {
  const Tensor query = RandomTensor({3, 4}, 1), key = RandomTensor({3, 4}, 2);
  const Tensor relative_key = RandomTensor({5, 4}, 3), relative_query = RandomTensor({2, 4}, 4);
  const auto both = [](const std::vector<Tensor>& in) { return RelativeScores(in[0], in[1], in[2], in[3], 2); };
  EXPECT_EQ("", CheckGradients(both, {query, relative_key, key, relative_query}));
  const auto of_one = [](const std::vector<Tensor>& in) {  // views of one projection
    return RelativeScores(Columns(in[0], 0, 2), Columns(in[1], 2, 2), Columns(in[0], 2, 2), Columns(in[1], 0, 2), 1);
  };
  EXPECT_EQ("", CheckGradients(of_one, {query, relative_key}));
}

TEST(RelativeScores, RejectsShapesThatDoNotFit) {
  const Tensor x = Tensor::Zeros({2, 4}), other = Tensor::Zeros({3, 4}), narrow = Tensor::Zeros({2, 3});
  EXPECT_NE(ErrorOf([&] { RelativeScores(x, narrow, {}, {}, 1); }), "");
  EXPECT_NE(ErrorOf([&] { RelativeScores(x, x, {}, {}, 3); }), "");
  EXPECT_NE(ErrorOf([&] { RelativeScores(x, {}, {}, {}, 1); }), "");
  EXPECT_NE(ErrorOf([&] { RelativeScores({}, {}, {}, {}, 1); }), "");
  EXPECT_NE(ErrorOf([&] { RelativeScores(x, x, other, x, 1); }), "");
}

}  // namespace
}  // namespace headlight::ops::relative_scores_test
