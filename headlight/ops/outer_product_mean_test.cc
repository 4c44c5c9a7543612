#include "headlight/ops/outer_product_mean.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/kernels/gemm.h"

namespace headlight::ops::outer_product_mean_test {
namespace {

// Returns a mask of `rows` rows and `residues` residues, with some entries missing.
std::vector<std::uint8_t> SomePresent(std::int64_t rows, std::int64_t residues) {
  std::vector<std::uint8_t> present(static_cast<std::size_t>(rows * residues), 1);
  for (std::size_t i = 1; i < present.size(); i += 3) present[i] = 0;
  return present;
}

// Computes the mean by its definition, in plain loops.
Tensor Expected(const Tensor& a, const Tensor& b, std::int64_t residues, const std::vector<std::uint8_t>& present,
                const Tensor& weight, const Tensor& bias, double epsilon) {
  const std::int64_t rows = a.rows() / residues, channels = a.columns(), outputs = weight.rows();
  const Tensor y = Tensor::Empty({residues * residues, outputs}, DType::float64);
  const auto there = [&](std::int64_t at) { return present.empty() || present[static_cast<std::size_t>(at)] != 0; };
  for (std::int64_t i = 0; i < residues; ++i) {
    for (std::int64_t j = 0; j < residues; ++j) {
      std::vector<double> sums(static_cast<std::size_t>(channels * channels));
      double count = 0;
      for (std::int64_t s = 0; s < rows; ++s) {
        if (!there(s * residues + i) || !there(s * residues + j)) continue;
        count += 1;
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t d = 0; d < channels; ++d)
            sums[static_cast<std::size_t>(c * channels + d)] +=
                a.matrix<double>().row(s * residues + i)[c] * b.matrix<double>().row(s * residues + j)[d];
      }
      for (std::int64_t o = 0; o < outputs; ++o) {
        double sum = bias.data<double>()[o];
        for (std::size_t k = 0; k < sums.size(); ++k) sum += weight.matrix<double>().row(o)[k] * sums[k];
        y.matrix<double>().row(i * residues + j)[o] = sum / (count + epsilon);
      }
    }
  }
  return y;
}

Tensor ToFloat(const Tensor& x) {
  const std::vector<double> values = x.ToVector<double>();
  return Tensor::From<float>(std::vector<float>(values.begin(), values.end()), x.shape());
}

void ExpectNear(const Tensor& actual, const Tensor& expected, double tolerance) {
  ASSERT_EQ(actual.shape(), expected.shape());
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double number = actual.dtype() == DType::float32 ? double{actual.data<float>()[i]} : actual.data<double>()[i];
    ASSERT_NEAR(number, expected.data<double>()[i], tolerance) << i;
  }
}

TEST(OuterProductMean, MatchesTheDefinition) {
  struct {
    std::int64_t rows, residues, channels;
  } const cases[] = {{1, 1, 1}, {4, 5, 3}, {3, 70, 8}, {700, 3, 32}};
  for (const auto& c : cases) {
    const Tensor a = RandomTensor({c.rows * c.residues, c.channels}, 1), b = RandomTensor(a.shape(), 2);
    const Tensor weight = RandomTensor({6, c.channels * c.channels}, 3), bias = RandomTensor({6}, 4);
    for (const auto& present : {std::vector<std::uint8_t>(), SomePresent(c.rows, c.residues)}) {
      const Tensor expected = Expected(a, b, c.residues, present, weight, bias, 0.1);
      ExpectNear(OuterProductMean(a, b, c.residues, present, {weight}, bias, 0.1), expected, 1e-11);
      Weight single{ToFloat(weight)};
      ExpectNear(OuterProductMean(ToFloat(a), ToFloat(b), c.residues, present, single, ToFloat(bias), 0.1), expected,
                 2e-5);
      if (!kernels::CpuHas(Compute::bfloat16)) continue;
      single.compute = Compute::bfloat16;
      ExpectNear(OuterProductMean(ToFloat(a), ToFloat(b), c.residues, present, single, ToFloat(bias), 0.1), expected,
                 5e-2);
    }
  }
}

TEST(OuterProductMean, Gradients) {
  for (const auto& present : {std::vector<std::uint8_t>(), SomePresent(3, 4)}) {
    const auto f = [&](const std::vector<Tensor>& in) {
      return OuterProductMean(in[0], in[1], 4, present, Weight{in[2]}, in[3]);
    };
    EXPECT_EQ("", CheckGradients(f, {RandomTensor({12, 2}, 1), RandomTensor({12, 2}, 2), RandomTensor({3, 4}, 3),
                                     RandomTensor({3}, 4)}));
  }
  const Tensor fixed = RandomTensor({6, 2}, 1), weight = RandomTensor({3, 4}, 3), bias = RandomTensor({3}, 4);
  const auto of_a = [&](const std::vector<Tensor>& in) {
    return OuterProductMean(in[0], fixed, 2, {}, Weight{weight}, bias);
  };
  EXPECT_EQ("", CheckGradients(of_a, {RandomTensor({6, 2}, 2)}));
}

TEST(OuterProductMean, RejectsOtherShapes) {
  const Tensor a = Tensor::Zeros({6, 2}), weight = Tensor::Zeros({3, 4}), bias = Tensor::Zeros({3});
  EXPECT_THROW(OuterProductMean(a, a, 4, {}, {weight}, bias), Error);
  EXPECT_THROW(OuterProductMean(a, a, 2, {}, {Tensor::Zeros({3, 5})}, bias), Error);
  EXPECT_THROW(OuterProductMean(a, a, 2, std::vector<std::uint8_t>(5), {weight}, bias), Error);
}

}  // namespace
}  // namespace headlight::ops::outer_product_mean_test
