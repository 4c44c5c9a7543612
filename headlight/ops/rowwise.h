// Functions of short rows, such as frames and angles, written once as plain arithmetic. Gradients are computed with
// dual numbers. The cost of a gradient is the cost of the values multiplied by the number of elements in a row. This is
// only suitable for a few short rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "headlight/autograd/tape.h"
#include "headlight/base/parallel.h"
#include "headlight/ops/dual.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Computes y [rows, outputs] with y.row(r) = f(r, x...), for inputs x of shape [rows, width]. f(row, const Number*
/// x..., Number* y) must accept any Number that has arithmetic operators, sqrt, exp and log1p. Throws Error if shapes
/// do not fit.
template <std::size_t outputs, std::size_t... widths, typename Function, typename... Tensors>
Tensor Rowwise(const Function& f, const Tensors&... x) {
  static constexpr std::size_t kInputs = sizeof...(widths);
  static_assert(kInputs == sizeof...(Tensors));
  static constexpr std::array<std::size_t, kInputs> kWidths = {widths...};
  static constexpr std::size_t kWidth = (widths + ...);
  const std::array<Tensor, kInputs> inputs = {x...};
  const std::int64_t rows = inputs[0].rows();
  for (std::size_t i = 0; i < kInputs; ++i)
    Check(inputs[i].rows() == rows && inputs[i].columns() == static_cast<std::int64_t>(kWidths[i]),
          "Rowwise: an input has shape {}, not [{}, {}]", ToString(inputs[i].shape()), rows, kWidths[i]);
  // Calls f with the concatenated elements of all inputs.
  const auto call = []<typename Number>(const Function& function, std::int64_t row, const Number* numbers, Number* y) {
    [&]<std::size_t... index>(std::index_sequence<index...>) {
      std::array<const Number*, kInputs> starts{};
      for (std::size_t i = 0, start = 0; i < kInputs; start += kWidths[i++]) starts[i] = numbers + start;
      function(row, starts[index]..., y);
    }
    (std::make_index_sequence<kInputs>());
  };
  static constexpr std::int64_t kRows = 16;  // rows per task
  const auto for_rows = [rows](const auto& body) {
    ParallelFor((rows + kRows - 1) / kRows, [&](std::int64_t chunk) {
      for (std::int64_t row = chunk * kRows; row < std::min(rows, (chunk + 1) * kRows); ++row) body(row);
    });
  };
  const Tensor y = Tensor::Empty({rows, static_cast<std::int64_t>(outputs)}, inputs[0].dtype());
  Dispatch(y.dtype(), [&]<typename T>(T) {
    for_rows([&](std::int64_t row) {
      std::array<T, kWidth> numbers;
      for (std::size_t i = 0, start = 0; i < kInputs; start += kWidths[i++])
        std::copy_n(inputs[i].template matrix<T>().row(row), kWidths[i], numbers.data() + start);
      call(f, row, static_cast<const T*>(numbers.data()), y.matrix<T>().row(row));
    });
  });
  if (!RequiresGradient({&x...})) return y;
  return Record(y, {&x...}, [inputs, f, call, for_rows](const Tensor& dy) {
    std::array<Tensor, kInputs> gradients;
    for (std::size_t i = 0; i < kInputs; ++i)
      if (inputs[i].node() != nullptr) gradients[i] = Tensor::Empty(inputs[i].shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      using Number = Dual<T, kWidth>;
      for_rows([&](std::int64_t row) {
        std::array<Number, kWidth> numbers;
        for (std::size_t i = 0, at = 0; i < kInputs; ++i)
          for (std::size_t k = 0; k < kWidths[i]; ++k, ++at)
            numbers[at] = Number::Variable(inputs[i].template matrix<T>().row(row)[k], at);
        std::array<Number, outputs> results;
        call(f, row, static_cast<const Number*>(numbers.data()), results.data());
        std::array<T, kWidth> sums = {};
        for (std::size_t output = 0; output < outputs; ++output)
          for (std::size_t k = 0; k < kWidth; ++k)
            sums[k] += dy.matrix<T>().row(row)[output] * results[output].slopes[k];
        for (std::size_t i = 0, start = 0; i < kInputs; start += kWidths[i++])
          if (!gradients[i].empty())
            std::copy_n(sums.data() + start, kWidths[i], gradients[i].template matrix<T>().row(row));
      });
    });
    for (std::size_t i = 0; i < kInputs; ++i)
      if (!gradients[i].empty()) Accumulate(inputs[i].node(), gradients[i]);
  });
}

}  // namespace headlight::ops
