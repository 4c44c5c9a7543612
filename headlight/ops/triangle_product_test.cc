#include "headlight/ops/triangle_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/autograd/gradient_check.h"

namespace headlight::ops::triangle_product_test {
namespace {

TEST(TriangleProduct, SumsOverTheThirdResidue) {
  constexpr std::int64_t n = 4, channels = 3;
  const Tensor projected = RandomTensor({n * n, 4 * channels}, 1, 2);
  // Returns the gated a (which = 0) or b (which = 1) of edge (i, j) in a channel.
  const auto gated = [&](std::int64_t i, std::int64_t j, std::int64_t which, std::int64_t channel) {
    const double* const row = projected.matrix<double>().row(i * n + j) + 2 * which * channels + channel;
    return row[0] / (1 + std::exp(-row[channels]));
  };
  for (const Triangle triangle : {Triangle::outgoing, Triangle::incoming}) {
    const Tensor y = TriangleProduct(projected, n, triangle);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t channel = 0; channel < channels; ++channel) {
          double expected = 0;
          for (std::int64_t k = 0; k < n; ++k)
            expected += triangle == Triangle::outgoing ? gated(i, k, 0, channel) * gated(j, k, 1, channel)
                                                       : gated(k, i, 0, channel) * gated(k, j, 1, channel);
          EXPECT_NEAR(y.matrix<double>().row(i * n + j)[channel], expected, 1e-13);
        }
      }
    }
  }
}

TEST(TriangleProduct, Gradients) {
  for (const Triangle triangle : {Triangle::outgoing, Triangle::incoming}) {
    const auto f = [triangle](const std::vector<Tensor>& in) { return TriangleProduct(in[0], 3, triangle); };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({9, 8}, 1, 2)}));
  }
}

TEST(TriangleProduct, RejectsOtherShapes) {
  EXPECT_THROW(TriangleProduct(Tensor::Zeros({8, 4}), 3, Triangle::outgoing), Error);
  EXPECT_THROW(TriangleProduct(Tensor::Zeros({9, 6}), 3, Triangle::outgoing), Error);
}

}  // namespace
}  // namespace headlight::ops::triangle_product_test
