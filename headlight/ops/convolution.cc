#include "headlight/ops/convolution.h"

#include <algorithm>
#include <utility>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/arithmetic.h"
#include "headlight/kernels/winograd.h"
#include "headlight/ops/weight.h"

namespace headlight::ops {
namespace {

constexpr std::int64_t kLargestTap = 1 << 16;  // limit of kernel sizes, strides, paddings and dilations

void CheckShape(const char* operation, const ConvolutionShape& shape) {
  const auto within = [](Grid grid, std::int64_t least) {
    return std::min(grid.height, grid.width) >= least && std::max(grid.height, grid.width) <= kLargestTap;
  };
  Check(within(shape.kernel, 1) && within(shape.stride, 1) && within(shape.padding, 0) && within(shape.dilation, 1) &&
            shape.groups >= 1,
        "{}: a kernel of {} x {} with stride {} x {}, padding {} x {}, dilation {} x {} in {} groups is not possible",
        operation, shape.kernel.height, shape.kernel.width, shape.stride.height, shape.stride.width,
        shape.padding.height, shape.padding.width, shape.dilation.height, shape.dilation.width, shape.groups);
}

std::int64_t Cells(const std::vector<Grid>& grids) {
  std::int64_t cells = 0;
  for (const Grid& grid : grids) cells += grid.cells();
  return cells;
}

template <typename T>
kernels::MapRows<const T> Read(const Tensor& rows, const std::vector<Grid>& grids) {
  return {rows.matrix<T>(), grids};
}

// Returns the packed matrix of each group.
template <typename T>
std::vector<kernels::PackedMatrix<T>> PackedGroups(const Weight& weight, std::int64_t groups) {
  const std::int64_t outputs = weight.shape()[0] / groups;
  std::vector<kernels::PackedMatrix<T>> packed(static_cast<std::size_t>(groups));
  if (groups == 1) {
    packed.front() = PackedTransposed<T>(weight, packed.front());
    return packed;
  }
  for (std::int64_t group = 0; group < groups; ++group)
    PackedTransposed<T>(Weight{.value = weight.value.ViewRows(group * outputs, outputs), .compute = weight.compute},
                        packed[static_cast<std::size_t>(group)]);
  return packed;
}

// Returns the gradient of relu: dy where y is not 0, otherwise 0.
Tensor OfRelu(bool relu, const Tensor& y, const Tensor& dy) {
  if (!relu) return dy;
  const Tensor masked = Tensor::Empty(dy.shape(), dy.dtype());
  Dispatch(dy.dtype(), [&]<typename T>(T) {
    kernels::ActivationRowsGradient<T>(Activation::relu, y.matrix<T>(), dy.matrix<T>(), masked.matrix<T>());
  });
  return masked;
}

void AddToBias(Node* bias, const Tensor& dy) {
  if (bias == nullptr) return;
  Dispatch(dy.dtype(),
           [&]<typename T>(T) { kernels::AddColumnSums<T>(dy.matrix<T>(), SumSlotFor(bias).template data<T>()); });
}

}  // namespace

FeatureMaps Convolution(const FeatureMaps& x, const ConvolutionShape& shape, const Weight& weight,
                        const AfterConvolution& after) {
  CheckMaps("Convolution", x);
  CheckShape("Convolution", shape);
  const Shape w = weight.shape();
  const std::int64_t inputs = x.rows.columns(), outputs = w[0];
  const bool for_winograd = weight.value.empty() && kernels::SuitsWinograd(shape, inputs, outputs) &&
                            w[1] == kernels::kWinogradProducts * inputs;
  Check(w.rank() == 2 && inputs % shape.groups == 0 && outputs % shape.groups == 0 &&
            (w[1] == shape.taps() * (inputs / shape.groups) || for_winograd) &&
            (shape.groups == 1 || !weight.value.empty()),
        "Convolution: a weight of shape {} in {} groups with a kernel of {} x {} does not fit maps of shape {}",
        ToString(w), shape.groups, shape.kernel.height, shape.kernel.width, ToString(x.rows.shape()));
  FeatureMaps y;
  for (const Grid& map : x.grids) {
    y.grids.push_back(shape.ResultOf(map));
    Check(y.grids.back().cells() > 0, "a map of {} x {} is smaller than a dilated kernel of {} x {}", map.height,
          map.width, (shape.kernel.height - 1) * shape.dilation.height + 1,
          (shape.kernel.width - 1) * shape.dilation.width + 1);
  }
  y.rows = Tensor::Empty({Cells(y.grids), outputs}, x.rows.dtype());
  Check(after.bias.empty() || after.bias.elements() == outputs, "Convolution: a bias of shape {} for {} outputs",
        ToString(after.bias.shape()), outputs);
  Check(after.residual.empty() || after.residual.shape() == y.rows.shape(),
        "Convolution: a residual of shape {} for a result of shape {}", ToString(after.residual.shape()),
        ToString(y.rows.shape()));
  Dispatch(x.rows.dtype(), [&]<typename T>(T) {
    const std::vector<kernels::PackedMatrix<T>> packed = PackedGroups<T>(weight, shape.groups);
    kernels::Convolve<T>(shape, Read<T>(x.rows, x.grids), packed, {y.rows.matrix<T>(), y.grids},
                         {.bias = after.bias.empty() ? nullptr : after.bias.data<T>(),
                          .residual = after.residual.empty() ? Matrix<const T>{} : after.residual.matrix<T>(),
                          .relu = after.relu});
  });
  if (!RequiresGradient({&x.rows, &weight.value, &after.bias, &after.residual})) return y;

  y.rows =
      Record(y.rows, {&x.rows, &weight.value, &after.bias, &after.residual},
             [x = x.rows.Detached(), x_node = x.rows.node(), x_grids = x.grids, y_grids = y.grids, weight, shape,
              bias = after.bias.node(), residual = after.residual.node(), relu = after.relu,
              y = after.relu ? y.rows : Tensor()](const Tensor& gradient) {
               const Tensor dy = OfRelu(relu, y, gradient);
               Dispatch(dy.dtype(), [&]<typename T>(T) {
                 if (x_node != nullptr) {
                   const GradientSlot dx = SlotFor(x_node);
                   kernels::ConvolveTransposed<T>(shape, Read<T>(dy, y_grids), weight.value.matrix<T>(), weight.compute,
                                                  {dx.tensor.matrix<T>(), x_grids}, /*bias=*/nullptr, dx.accumulate);
                 }
                 if (weight.value.node() != nullptr)
                   kernels::AddConvolutionWeightGradient<T>(shape, Read<T>(x, x_grids), Read<T>(dy, y_grids),
                                                            SumSlotFor(weight.value.node()).template matrix<T>(),
                                                            weight.compute);
               });
               AddToBias(bias, dy);
               Accumulate(residual, dy);
             });
  return y;
}

FeatureMaps TransposedConvolution(const FeatureMaps& x, const ConvolutionShape& shape, const Weight& weight,
                                  const Tensor& bias, Grid more) {
  CheckMaps("TransposedConvolution", x);
  CheckShape("TransposedConvolution", shape);
  const Shape& w = weight.value.shape();
  Check(w.rank() == 2 && w[0] == x.rows.columns() && w[0] % shape.groups == 0 && w[1] % shape.taps() == 0 && w[1] > 0,
        "TransposedConvolution: a weight of shape {} in {} groups with a kernel of {} x {} does not fit maps of shape "
        "{}",
        ToString(w), shape.groups, shape.kernel.height, shape.kernel.width, ToString(x.rows.shape()));
  const std::int64_t outputs = w[1] / shape.taps() * shape.groups;
  Check(bias.empty() || bias.elements() == outputs, "TransposedConvolution: a bias of shape {} for {} outputs",
        ToString(bias.shape()), outputs);
  FeatureMaps y;
  for (const Grid& map : x.grids) {
    const auto size = [](std::int64_t places, std::int64_t taps, std::int64_t stride, std::int64_t padding,
                         std::int64_t dilation, std::int64_t added) {
      return (places - 1) * stride - 2 * padding + dilation * (taps - 1) + 1 + added;
    };
    y.grids.push_back({size(map.height, shape.kernel.height, shape.stride.height, shape.padding.height,
                            shape.dilation.height, more.height),
                       size(map.width, shape.kernel.width, shape.stride.width, shape.padding.width,
                            shape.dilation.width, more.width)});
    const auto fits = [](std::int64_t added, std::int64_t stride, std::int64_t dilation) {
      return added >= 0 && added < std::max(stride, dilation);
    };
    Check(fits(more.height, shape.stride.height, shape.dilation.height) &&
              fits(more.width, shape.stride.width, shape.dilation.width) && y.grids.back().height > 0 &&
              y.grids.back().width > 0,
          "TransposedConvolution: a map of {} x {} becomes {} x {} with {} x {} more", map.height, map.width,
          y.grids.back().height, y.grids.back().width, more.height, more.width);
  }
  y.rows = Tensor::Empty({Cells(y.grids), outputs}, x.rows.dtype());
  Dispatch(x.rows.dtype(), [&]<typename T>(T) {
    kernels::ConvolveTransposed<T>(shape, Read<T>(x.rows, x.grids), weight.value.matrix<T>(), weight.compute,
                                   {y.rows.matrix<T>(), y.grids}, bias.empty() ? nullptr : bias.data<T>(),
                                   /*accumulate=*/false);
  });
  y.rows = Record(y.rows, {&x.rows, &weight.value, &bias},
                  [x = x.rows.Detached(), x_node = x.rows.node(), x_grids = x.grids, y_grids = y.grids, weight, shape,
                   bias = bias.node()](const Tensor& dy) {
                    Dispatch(dy.dtype(), [&]<typename T>(T) {
                      if (x_node != nullptr) {
                        const Tensor dx = Tensor::Empty(x.shape(), x.dtype());
                        kernels::Convolve<T>(shape, Read<T>(dy, y_grids), PackedGroups<T>(weight, shape.groups),
                                             {dx.matrix<T>(), x_grids});
                        Accumulate(x_node, dx);
                      }
                      if (weight.value.node() != nullptr)
                        kernels::AddConvolutionWeightGradient<T>(shape, Read<T>(dy, y_grids), Read<T>(x, x_grids),
                                                                 SumSlotFor(weight.value.node()).template matrix<T>(),
                                                                 weight.compute);
                    });
                    AddToBias(bias, dy);
                  });
  return y;
}

}  // namespace headlight::ops
