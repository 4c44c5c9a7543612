#include "headlight/ops/convolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "headlight/autograd/gradient_check.h"
#include "headlight/autograd/tape.h"
#include "headlight/base/parallel.h"
#include "headlight/base/test_support.h"
#include "headlight/kernels/winograd.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"

namespace headlight::ops::convolution_test {
namespace {

struct Case {
  const char* name;
  ConvolutionShape shape;
  std::int64_t inputs, outputs;
  std::vector<Grid> grids = {{4, 5}, {3, 3}};
};

void PrintTo(const Case& one, std::ostream* to) { *to << one.name; }

const Case kCases[] = {
    {"one_tap", {.kernel = {1, 1}}, 3, 2},
    {"one_tap_stride", {.kernel = {1, 1}, .stride = {2, 2}}, 2, 3},
    {"padded", {.kernel = {3, 3}, .padding = {1, 1}}, 2, 3},
    {"without_padding", {.kernel = {3, 2}}, 2, 2},
    {"stride", {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}, 2, 2},
    {"oblong", {.kernel = {2, 3}, .stride = {1, 2}, .padding = {0, 1}}, 2, 2},
    {"long_stride", {.kernel = {2, 2}, .stride = {3, 3}, .padding = {1, 0}}, 2, 2},
    {"dilated", {.kernel = {3, 2}, .padding = {2, 1}, .dilation = {2, 3}}, 2, 2},
    {"dilated_stride", {.kernel = {2, 3}, .stride = {2, 2}, .padding = {1, 2}, .dilation = {2, 2}}, 2, 2},
    {"groups", {.kernel = {3, 3}, .padding = {1, 1}, .groups = 2}, 4, 2},
    {"each_channel", {.kernel = {2, 2}, .stride = {2, 1}, .groups = 3}, 3, 3},
    {"wide_padding", {.kernel = {3, 3}, .stride = {2, 2}, .padding = {3, 3}}, 1, 1, {{1, 2}}},
};

class ConvolutionOf : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(, ConvolutionOf, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

std::int64_t Cells(const std::vector<Grid>& grids) {
  std::int64_t cells = 0;
  for (const Grid& grid : grids) cells += grid.cells();
  return cells;
}

Tensor RandomMaps(const Case& one, std::uint64_t seed = 1) {
  return RandomTensor({Cells(one.grids), one.inputs}, seed);
}
Tensor RandomWeight(const Case& one) {
  return RandomTensor({one.outputs, one.shape.taps() * one.inputs / one.shape.groups}, 2);
}

// Computes the convolution by its definition, cell by cell.
std::vector<double> Convolved(const Case& one, const Tensor& x, const Tensor& weight) {
  const ConvolutionShape& shape = one.shape;
  const std::int64_t group_inputs = one.inputs / shape.groups, group_outputs = one.outputs / shape.groups;
  const double *const all_x = x.data<double>(), *const all_weights = weight.data<double>();
  std::vector<double> y;
  std::int64_t first = 0;
  for (const Grid& grid : one.grids) {
    const Grid result = shape.ResultOf(grid);
    for (std::int64_t row = 0; row < result.height; ++row)
      for (std::int64_t column = 0; column < result.width; ++column)
        for (std::int64_t output = 0; output < one.outputs; ++output) {
          double sum = 0;
          for (std::int64_t i = 0; i < shape.kernel.height; ++i)
            for (std::int64_t j = 0; j < shape.kernel.width; ++j) {
              const std::int64_t from_y = row * shape.stride.height - shape.padding.height + i * shape.dilation.height;
              const std::int64_t from_x = column * shape.stride.width - shape.padding.width + j * shape.dilation.width;
              if (from_y < 0 || from_y >= grid.height || from_x < 0 || from_x >= grid.width) continue;
              const double* const from =
                  all_x + (first + from_y * grid.width + from_x) * one.inputs + output / group_outputs * group_inputs;
              const double* const taps =
                  all_weights + ((output * shape.kernel.height + i) * shape.kernel.width + j) * group_inputs;
              for (std::int64_t input = 0; input < group_inputs; ++input) sum += from[input] * taps[input];
            }
          y.push_back(sum);
        }
    first += grid.cells();
  }
  return y;
}

TEST_P(ConvolutionOf, SumsOverTaps) {
  const Case& one = GetParam();
  const Tensor x = RandomMaps(one), weight = RandomWeight(one);
  const FeatureMaps y = Convolution({x, one.grids}, one.shape, Weight{weight});
  EXPECT_THAT(y.rows.ToVector<double>(), testing::Pointwise(testing::DoubleNear(1e-12), Convolved(one, x, weight)));
}

TEST_P(ConvolutionOf, GradientsMatchFiniteDifferences) {
  const Case& one = GetParam();
  const auto f = [&](const std::vector<Tensor>& in) {
    return Convolution({in[0], one.grids}, one.shape, Weight{in[1]}, {.bias = in[2]}).rows;
  };
  EXPECT_EQ("", CheckGradients(f, {RandomMaps(one), RandomWeight(one), RandomTensor({one.outputs}, 3)}));
}

TEST_P(ConvolutionOf, AddsResidualAndRelu) {
  const Case& one = GetParam();
  const Tensor residual =
      RandomTensor(Convolution({RandomMaps(one), one.grids}, one.shape, Weight{RandomWeight(one)}).rows.shape(), 4);
  const auto fused = [&](const std::vector<Tensor>& in) {
    return Convolution({in[0], one.grids}, one.shape, Weight{in[1]}, {.bias = in[2], .residual = in[3], .relu = true})
        .rows;
  };
  const auto composed = [&](const std::vector<Tensor>& in) {
    const Tensor y = Convolution({in[0], one.grids}, one.shape, Weight{in[1]}, {.bias = in[2]}).rows;
    return Activate(Activation::relu, Add(y, in[3]));
  };
  const std::vector<Tensor> inputs = {RandomMaps(one), RandomWeight(one), RandomTensor({one.outputs}, 3), residual};
  EXPECT_THAT(fused(inputs).ToVector<double>(),
              testing::Pointwise(testing::DoubleNear(1e-12), composed(inputs).ToVector<double>()));
  EXPECT_EQ("", CheckGradients(fused, inputs));
}

// Checks that <Convolution(x), y> = <x, TransposedConvolution(y)> for all x and y.
TEST_P(ConvolutionOf, IsTheAdjointOfTransposedConvolution) {
  const Case& one = GetParam();
  const Tensor x = RandomMaps(one), weight = RandomWeight(one);
  const FeatureMaps y = Convolution({x, one.grids}, one.shape, Weight{weight});
  const Tensor other = RandomTensor(y.rows.shape(), 5);
  const ConvolutionShape& shape = one.shape;
  std::vector<double> back;  // computed map by map, because `more` may differ between maps
  std::int64_t first = 0;
  for (std::size_t map = 0; map < one.grids.size(); ++map) {
    const Grid &from = y.grids[map], &to = one.grids[map];
    const auto more = [](std::int64_t size, std::int64_t places, std::int64_t taps, std::int64_t stride,
                         std::int64_t padding, std::int64_t dilation) {
      return size - ((places - 1) * stride - 2 * padding + dilation * (taps - 1) + 1);
    };
    const FeatureMaps result =
        TransposedConvolution({other.ViewRows(first, from.cells()), {from}}, shape, Weight{weight}, {},
                              {more(to.height, from.height, shape.kernel.height, shape.stride.height,
                                    shape.padding.height, shape.dilation.height),
                               more(to.width, from.width, shape.kernel.width, shape.stride.width, shape.padding.width,
                                    shape.dilation.width)});
    EXPECT_EQ(result.grids, std::vector{to});
    const std::vector<double> rows = result.rows.ToVector<double>();
    back.insert(back.end(), rows.begin(), rows.end());
    first += from.cells();
  }
  double forward = 0, backward = 0;
  for (std::int64_t i = 0; i < y.rows.elements(); ++i) forward += y.rows.data<double>()[i] * other.data<double>()[i];
  for (std::size_t i = 0; i < back.size(); ++i) backward += back[i] * x.data<double>()[i];
  EXPECT_NEAR(forward, backward, 1e-10);
}

TEST(TransposedConvolution, GradientsMatchFiniteDifferences) {
  for (const Case& one : kCases) {
    const std::vector<Grid> grids = {{2, 3}, {3, 3}};
    const ConvolutionShape& shape = one.shape;
    if (shape.padding.height > 2) continue;  // the map would be empty
    const auto f = [&](const std::vector<Tensor>& in) {
      return TransposedConvolution({in[0], grids}, shape, Weight{in[1]}, in[2],
                                   {shape.stride.height - 1, shape.stride.width - 1})
          .rows;
    };
    const std::int64_t of_group = one.inputs / shape.groups;
    EXPECT_EQ(
        "", CheckGradients(f, {RandomTensor({15, one.outputs}, 1),
                               RandomTensor({one.outputs, shape.taps() * of_group}, 2), RandomTensor({one.inputs}, 3)}))
        << one.name;
  }
}

Tensor InSingle(const Tensor& x) {
  const std::vector<double> values = x.ToVector<double>();
  const std::vector<float> single(values.begin(), values.end());
  return Tensor::From(std::span<const float>(single), x.shape());
}

// Cases with depths that need several chunks, maps that need several blocks, and partial panels.
const Case kLarge[] = {{"deep", {.kernel = {3, 3}, .padding = {1, 1}}, 190, 70, {{9, 13}, {1, 2}, {14, 11}}},
                       {"stem", {.kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}}, 3, 64, {{30, 25}, {7, 8}}},
                       {"few_places", {.kernel = {3, 3}, .padding = {1, 1}}, 21, 300, {{3, 4}, {5, 5}}},
                       {"one_tap", {.kernel = {1, 1}}, 66, 130, {{9, 13}, {5, 5}}}};

double Worst(const Tensor& actual, const std::vector<double>& expected) {
  double worst = 0, scale = 0;
  const std::vector<float> values = actual.ToVector<float>();
  EXPECT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(values[i]) - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  return worst / scale;
}

TEST(Convolution, ComputesInEveryType) {
  const std::pair<Compute, double> tolerances[] = {
      {Compute::float32, 1e-6}, {Compute::bfloat16, 1e-2}, {Compute::int8, 2e-2}, {Compute::int4, 2e-1}};
  for (const Case& one : kLarge) {
    const Tensor x = RandomMaps(one), weight = RandomWeight(one), single = InSingle(weight);
    const std::vector<double> sums = Convolved(one, x, weight);
    for (const auto& [compute, tolerance] : tolerances) {
      if (!kernels::CpuHas(compute)) continue;
      std::vector<double> expected = sums;
      kernels::PackedMatrix<float> packed(weight.columns(), weight.rows(), compute);
      packed.Pack(single.matrix<float>(), /*transposed=*/true);
      const Weight packed_alone{.value = {}, .packed = &packed, .compute = compute};
      const FeatureMaps maps{InSingle(x), one.grids};
      const FeatureMaps y = Convolution(maps, one.shape, packed_alone);
      EXPECT_LT(Worst(y.rows, expected), tolerance) << one.name << Name(compute);

      const Tensor residual = RandomTensor(y.rows.shape(), 6);
      const Tensor bias = RandomTensor({one.outputs}, 7);
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = std::max(0.0, expected[i] + residual.data<double>()[i] +
                                        bias.data<double>()[i % static_cast<std::size_t>(one.outputs)]);
      const FeatureMaps after = Convolution(maps, one.shape, packed_alone,
                                            {.bias = InSingle(bias), .residual = InSingle(residual), .relu = true});
      EXPECT_LT(Worst(after.rows, expected), tolerance) << one.name << Name(compute);
    }
  }
}

// Packs a weight for products in int8.
kernels::PackedMatrix<float> InInt8(const Tensor& weight) {
  kernels::PackedMatrix<float> packed(weight.columns(), weight.rows(), Compute::int8);
  packed.Pack(InSingle(weight).matrix<float>(), /*transposed=*/true);
  return packed;
}

// Taps are quantized directly from the maps. The product of the unfolded taps must have the same bits.
TEST(Convolution, Int8EqualsTheProductOfItsTaps) {
  std::vector<Case> cases(std::begin(kCases), std::end(kCases));
  cases.insert(cases.end(), std::begin(kLarge), std::end(kLarge));
  for (const Case& one : cases) {
    if (one.shape.groups > 1) continue;
    const Tensor x = RandomMaps(one), weight = RandomWeight(one), bias = InSingle(RandomTensor({one.outputs}, 7));
    std::fill_n(x.data<double>(), one.inputs, 0);  // with one tap, a row of zeros has the scale 0
    Case unfolding = one;
    const std::int64_t depth = unfolding.outputs = weight.columns();
    const Tensor identity = Tensor::Zeros({depth, depth}, DType::float64);
    for (std::int64_t i = 0; i < depth; ++i) identity.matrix<double>().row(i)[i] = 1;
    const std::vector<double> taps = Convolved(unfolding, x, identity);
    const std::vector<float> rows(taps.begin(), taps.end());
    const auto count = std::ssize(rows) / depth;

    const kernels::PackedMatrix<float> packed = InInt8(weight);
    const Tensor product = Tensor::Empty({count, one.outputs}), residual = InSingle(RandomTensor(product.shape(), 6));
    kernels::Gemm<float>({rows.data(), count, depth, depth}, packed, product.matrix<float>(), bias.data<float>());
    const FeatureMaps maps{InSingle(x), one.grids};
    const Weight in_int8{.value = {}, .packed = &packed, .compute = Compute::int8};
    EXPECT_EQ(Convolution(maps, one.shape, in_int8, {.bias = bias}).rows.ToVector<float>(), product.ToVector<float>())
        << one.name;
    std::vector<float> expected = product.ToVector<float>();
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = std::max(0.0F, expected[i] + residual.data<float>()[i]);
    const AfterConvolution after{.bias = bias, .residual = residual, .relu = true};
    EXPECT_EQ(Convolution(maps, one.shape, in_int8, after).rows.ToVector<float>(), expected) << one.name;
  }
}

// Taps of a transposed convolution are unfolded before they are quantized.
TEST(TransposedConvolution, ComputesInInt8) {
  for (const Case& one : kCases) {
    if (one.shape.groups > 1 || one.shape.padding.height > 2) continue;
    const std::vector<Grid> grids = {{2, 3}, {3, 3}};
    const FeatureMaps y{InSingle(RandomTensor({15, one.outputs}, 1)), grids};
    const Tensor weight = InSingle(RandomTensor({one.outputs, one.shape.taps() * one.inputs}, 2));
    const FeatureMaps exact = TransposedConvolution(y, one.shape, {.value = weight});
    const FeatureMaps rounded =
        TransposedConvolution(y, one.shape, {.value = weight, .packed = nullptr, .compute = Compute::int8});
    const std::vector<float> expected = exact.rows.ToVector<float>();
    EXPECT_LT(Worst(rounded.rows, {expected.begin(), expected.end()}), 2e-2) << one.name;
  }
}

TEST(Convolution, Int8KeepsNaN) {
  const Case one{"", {.kernel = {3, 3}, .padding = {1, 1}}, 20, 8, {{5, 5}}};
  const Tensor x = InSingle(RandomMaps(one));
  x.matrix<float>().row(12)[19] = std::nanf("");
  const kernels::PackedMatrix<float> packed = InInt8(RandomWeight(one));
  const FeatureMaps y =
      Convolution({x, one.grids}, one.shape, {.value = {}, .packed = &packed, .compute = Compute::int8});
  for (std::int64_t row = 0; row < 5; ++row)
    for (std::int64_t column = 0; column < 5; ++column) {
      const bool near = std::abs(row - 2) <= 1 && std::abs(column - 2) <= 1;
      EXPECT_EQ(std::isnan(y.rows.matrix<float>().row(row * 5 + column)[0]), near);
    }
}

// Cases for Winograd: maps smaller and larger than a tile, maps of several blocks, and a map whose panels are divided
// among threads. Channels do not fill a vector, and panels are partial.
const Case kOfWinograd[] = {
    {"padded", {.kernel = {3, 3}, .padding = {1, 1}}, 65, 70, {{9, 13}, {1, 2}, {4, 4}, {41, 38}, {5, 1}}},
    {"without_padding", {.kernel = {3, 3}}, 32, 128, {{3, 3}, {14, 11}, {6, 30}}},
    {"wide_padding", {.kernel = {3, 3}, .padding = {2, 3}}, 256, 256, {{2, 2}, {1, 1}, {7, 8}, {9, 10}}}};

// Computes a convolution whose weight is packed only for Winograd.
FeatureMaps ByWinograd(const Case& one, const FeatureMaps& x, const Tensor& weight,
                       const AfterConvolution& after = {}) {
  EXPECT_TRUE(kernels::SuitsWinograd(one.shape, one.inputs, one.outputs));
  const kernels::PackedMatrix<float> packed = kernels::PackedForWinograd(InSingle(weight).matrix<float>());
  return Convolution(x, one.shape, Weight{.value = {}, .packed = &packed}, after);
}

TEST(Convolution, WinogradSumsOverTaps) {
  for (const Case& one : kOfWinograd) {
    const Tensor x = RandomMaps(one), weight = RandomWeight(one), bias = RandomTensor({one.outputs}, 7);
    const FeatureMaps maps{InSingle(x), one.grids};
    std::vector<double> expected = Convolved(one, x, weight);
    const FeatureMaps y = ByWinograd(one, maps, weight);
    EXPECT_LT(Worst(y.rows, expected), 5e-6) << one.name;
    const Tensor residual = RandomTensor(y.rows.shape(), 6);
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = std::max(0.0, expected[i] + residual.data<double>()[i] +
                                      bias.data<double>()[i % static_cast<std::size_t>(one.outputs)]);
    const AfterConvolution after{.bias = InSingle(bias), .residual = InSingle(residual), .relu = true};
    EXPECT_LT(Worst(ByWinograd(one, maps, weight, after).rows, expected), 5e-6) << one.name;
  }
  EXPECT_FALSE(kernels::SuitsWinograd({.kernel = {3, 3}, .stride = {2, 2}}, 64, 64));
  EXPECT_FALSE(kernels::SuitsWinograd({.kernel = {3, 3}, .dilation = {2, 2}}, 64, 64));
  EXPECT_FALSE(kernels::SuitsWinograd({.kernel = {3, 3}, .groups = 2}, 64, 64));
  EXPECT_FALSE(kernels::SuitsWinograd({.kernel = {1, 3}}, 64, 64));
  EXPECT_FALSE(kernels::SuitsWinograd({.kernel = {3, 3}}, 512, 512));
  EXPECT_FALSE(kernels::SuitsWinograd({.kernel = {3, 3}}, 3, 64));
}

TEST(Convolution, WinogradKeepsNaN) {
  Case one = kOfWinograd[0];
  one.grids = {{9, 9}};
  const Tensor x = InSingle(RandomMaps(one));
  x.matrix<float>().row(40)[7] = std::nanf("");
  const Tensor y = ByWinograd(one, {x, one.grids}, RandomWeight(one), {.relu = true}).rows;
  for (const std::int64_t near : {30, 31, 32, 39, 40, 41, 48, 49, 50})
    EXPECT_TRUE(std::isnan(y.matrix<float>().row(near)[3]));
}

// Checks that a map has the same bits in any batch and for any number of threads.
TEST(Convolution, IsBatchInvariant) {
  const int threads = Threads();
  for (const Case& one : kLarge)
    for (const Compute compute : {Compute::float32, Compute::bfloat16, Compute::int8, Compute::int4}) {
      if (!kernels::CpuHas(compute)) continue;
      const Tensor x = InSingle(RandomMaps(one));
      const Weight weight{.value = InSingle(RandomWeight(one)), .compute = compute};
      const std::vector<float> together = Convolution({x, one.grids}, one.shape, weight).rows.ToVector<float>();
      SetThreads(3);
      EXPECT_EQ(Convolution({x, one.grids}, one.shape, weight).rows.ToVector<float>(), together);
      SetThreads(1);
      std::vector<float> alone;
      std::int64_t first = 0;
      for (const Grid& grid : one.grids) {
        const std::vector<float> rows =
            Convolution({x.ViewRows(first, grid.cells()), {grid}}, one.shape, weight).rows.ToVector<float>();
        alone.insert(alone.end(), rows.begin(), rows.end());
        first += grid.cells();
      }
      EXPECT_EQ(alone, together) << one.name << Name(compute);
      SetThreads(threads);
    }
}

TEST(Convolution, WinogradIsBatchInvariant) {
  const int threads = Threads();
  for (const Case& one : kOfWinograd) {
    const Tensor x = InSingle(RandomMaps(one)), weight = RandomWeight(one);
    const std::vector<float> together = ByWinograd(one, {x, one.grids}, weight).rows.ToVector<float>();
    SetThreads(3);
    EXPECT_EQ(ByWinograd(one, {x, one.grids}, weight).rows.ToVector<float>(), together);
    SetThreads(1);
    std::vector<float> alone;
    std::int64_t first = 0;
    for (const Grid& grid : one.grids) {
      const std::vector<float> rows =
          ByWinograd(one, {x.ViewRows(first, grid.cells()), {grid}}, weight).rows.ToVector<float>();
      alone.insert(alone.end(), rows.begin(), rows.end());
      first += grid.cells();
    }
    EXPECT_EQ(alone, together) << one.name;
    SetThreads(threads);
  }
}

// Large maps are divided into blocks. Checks that their gradients in single precision match the gradients in double
// precision.
TEST(Convolution, GradientsOfLargeMapsMatchDoublePrecision) {
  const int threads = Threads();
  for (const Case& one : kLarge) {
    const auto gradients = [&](const Tensor& x, const Tensor& weight, Compute compute) {
      Tape tape;
      const Tensor watched = tape.Watch(x), of_weight = tape.Watch(weight);
      const Tensor y =
          Convolution({watched, one.grids}, one.shape, Weight{.value = of_weight, .compute = compute}).rows;
      const Tensor weights = RandomTensor(y.shape(), 8);
      tape.Backward(Sum(Multiply(y, y.dtype() == DType::float32 ? InSingle(weights) : weights)));
      return std::pair(tape.GradientOf(watched), tape.GradientOf(of_weight));
    };
    const Tensor x = RandomMaps(one), weight = RandomWeight(one);
    const auto expected = gradients(x, weight, Compute::float32);
    for (const Compute compute : {Compute::float32, Compute::bfloat16}) {
      if (!kernels::CpuHas(compute)) continue;
      const auto actual = gradients(InSingle(x), InSingle(weight), compute);
      const double tolerance = compute == Compute::float32 ? 1e-5 : 1e-2;
      EXPECT_LT(Worst(actual.first, expected.first.ToVector<double>()), tolerance) << one.name;
      EXPECT_LT(Worst(actual.second, expected.second.ToVector<double>()), tolerance) << one.name;
      SetThreads(threads == 1 ? 2 : 1);
      const auto again = gradients(InSingle(x), InSingle(weight), compute);
      SetThreads(threads);
      EXPECT_EQ(again.first.ToVector<float>(), actual.first.ToVector<float>()) << one.name;
      EXPECT_EQ(again.second.ToVector<float>(), actual.second.ToVector<float>()) << one.name;
    }
  }
}

TEST(Convolution, RejectsShapesThatDoNotFit) {
  const auto of = [](const Shape& rows, std::vector<Grid> grids, const ConvolutionShape& shape, const Shape& weight) {
    return ErrorOf([&] { Convolution({Tensor::Zeros(rows), grids}, shape, Weight{Tensor::Zeros(weight)}); });
  };
  EXPECT_EQ(of({9, 2}, {{3, 3}}, {.kernel = {3, 3}}, {4, 18}), "");
  EXPECT_THAT(of({8, 2}, {{3, 3}}, {.kernel = {3, 3}}, {4, 18}), testing::HasSubstr("shape [8, 2]"));
  EXPECT_THAT(of({9, 2}, {{3, 3}}, {.kernel = {3, 3}}, {4, 17}), testing::HasSubstr("does not fit maps"));
  EXPECT_THAT(of({9, 2}, {{3, 3}}, {.kernel = {3, 3}, .groups = 3}, {3, 6}), testing::HasSubstr("in 3 groups"));
  EXPECT_THAT(of({6, 2}, {{2, 3}}, {.kernel = {3, 3}}, {4, 18}), testing::HasSubstr("map of 2 x 3"));
  EXPECT_THAT(of({9, 2}, {{3, 3}}, {.kernel = {3, 3}, .stride = {0, 1}}, {4, 18}), testing::HasSubstr("not possible"));
  EXPECT_THAT(ErrorOf([] {
                TransposedConvolution({Tensor::Zeros({9, 2}), {{3, 3}}}, {.kernel = {2, 2}, .stride = {2, 2}},
                                      Weight{Tensor::Zeros({2, 4})}, {}, {2, 0});
              }),
              testing::HasSubstr("with 2 x 0 more"));
}

}  // namespace
}  // namespace headlight::ops::convolution_test
