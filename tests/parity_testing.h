// Helpers for comparisons with goldens of other programs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/io/safetensors.h"
#include "headlight/models/family.h"
#include "headlight/nn/parameters.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

using Numbers = std::vector<double>;

inline Numbers ToDouble(const Tensor& tensor) {
  if (tensor.dtype() == DType::float64) return tensor.ToVector<double>();
  const std::vector<float> values = tensor.ToVector<float>();
  return {values.begin(), values.end()};
}

// Returns the model of a folder of tests/testdata. Each model is loaded only once.
template <typename Kind>
const Kind& LoadOnce(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Kind>> models;
  std::unique_ptr<Kind>& model = models[name];
  if (!model) model = LoadModel<Kind>(HEADLIGHT_SOURCE_DIR "/tests/testdata/" + name);
  return *model;
}

// Returns the largest difference, relative to the largest expected number.
inline double Deviation(const Numbers& actual, const Numbers& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double worst = 0, scale = 0;
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    if (std::isnan(actual[i]) || std::isnan(expected[i])) return INFINITY;
    worst = std::max(worst, std::abs(actual[i] - expected[i]));
    scale = std::max(scale, std::abs(expected[i]));
  }
  return worst / scale;
}

// Returns the images [height, width, channels] of a golden: "pixel_values", [images, height, width, channels].
inline std::vector<Tensor> ImagesOf(const Safetensors& golden) {
  const Tensor all = golden.Read("pixel_values", DType::float32);
  const Shape& shape = all.shape();
  const std::int64_t elements = all.elements() / shape[0];
  std::vector<Tensor> images;
  for (std::int64_t i = 0; i < shape[0]; ++i)
    images.push_back(
        Tensor::From(std::span<const float>(all.data<float>() + i * elements, static_cast<std::size_t>(elements)),
                     {shape[1], shape[2], shape[3]}));
  return images;
}

// Returns the sum of all elements, weighted by the sine of their index, as in the scripts that create the goldens.
inline Tensor WeightedTotal(const Tensor& x) {
  const Tensor weights = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    double place = 0;
    for (T& weight : weights.span<T>()) weight = static_cast<T>(std::sin(++place));
  });
  return ops::Sum(ops::Multiply(x, weights));
}

using NamedNumbers = std::map<std::string, Numbers>;

// Transposes [outputs, inputs] to [inputs, outputs].
inline Numbers Transposed(const Numbers& matrix, std::int64_t inputs) {
  Numbers result;
  const std::size_t columns = static_cast<std::size_t>(inputs);
  for (std::size_t column = 0; column < columns; ++column)
    for (std::size_t i = column; i < matrix.size(); i += columns) result.push_back(matrix[i]);
  return result;
}

// Returns every trained parameter or its gradient, with its name and layout in the file.
inline NamedNumbers ByName(const Parameters& parameters, Tensor Parameter::*member) {
  NamedNumbers result;
  for (const Parameter& parameter : parameters.all()) {
    if (!parameter.role.trained) continue;
    const Numbers values = ToDouble(parameter.*member);
    const std::size_t rows = parameter.names.size() > 1 ? static_cast<std::size_t>(parameter.shape[0]) : 1;
    for (std::size_t i = 0; i < parameter.names.size(); ++i) {
      const bool several = parameter.names.size() > 1;
      const auto first = several ? static_cast<std::size_t>(parameter.FirstRow(i)) : 0,
                 part = values.size() / rows * (several ? static_cast<std::size_t>(parameter.PartRows(i)) : 1);
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(values.size() / rows * first);
      Numbers& numbers = result[parameter.names[i]] = {begin, begin + static_cast<std::ptrdiff_t>(part)};
      if (parameter.storage.transposed) numbers = Transposed(numbers, parameter.shape[1]);
      if (parameter.storage.channels_last) {
        Numbers stored;
        const auto output = static_cast<std::ptrdiff_t>(part) / static_cast<std::ptrdiff_t>(parameter.shape[0]);
        for (auto row = numbers.begin(); row != numbers.end(); row += output) {
          const Numbers its = Transposed({row, row + output}, parameter.shape[3]);
          stored.insert(stored.end(), its.begin(), its.end());
        }
        numbers = stored;
      }
    }
  }
  return result;
}

// Returns the largest difference over all tensors, relative to the largest number in all tensors. Single gradients,
// such as the gradient of a key's bias, may be noise.
inline double Deviation(const NamedNumbers& actual, const NamedNumbers& expected) {
  Numbers all_actual, all_expected;
  for (const auto& [name, values] : expected) {
    const auto found = actual.find(name);
    EXPECT_NE(found, actual.end()) << name;
    if (found == actual.end()) return INFINITY;
    EXPECT_EQ(values.size(), found->second.size()) << name;
    all_expected.insert(all_expected.end(), values.begin(), values.end());
    all_actual.insert(all_actual.end(), found->second.begin(), found->second.end());
  }
  EXPECT_EQ(actual.size(), expected.size());
  return Deviation(all_actual, all_expected);
}

// Returns the gradients of a golden, by parameter name after the prefix.
inline NamedNumbers GradientsOf(const Safetensors& golden, std::string_view prefix = "gradient.") {
  NamedNumbers gradients;
  for (const auto& [name, tensor] : golden.tensors())
    if (name.starts_with(prefix)) gradients[name.substr(prefix.size())] = ToDouble(golden.Read(name, DType::float64));
  return gradients;
}

// Saves a model and loads it again. Checks that its description and parameters do not change.
template <typename Kind>
std::unique_ptr<Kind> SaveAndReload(const Kind& model, const std::string& folder) {
  model.Save(folder);
  std::unique_ptr<Kind> again = LoadModel<Kind>(folder);
  EXPECT_EQ(again->Description(), model.Description());
  EXPECT_EQ(ByName(again->parameters(), &Parameter::value), ByName(model.parameters(), &Parameter::value));
  return again;
}

// Returns the name of a test with a folder and a precision, such as "detr_float" or "detr_double".
inline constexpr auto kNameOfParity = [](const auto& which) {
  const auto& [folder, dtype] = which.param;
  return std::string(folder) + (dtype == DType::float32 ? "_float" : "_double");
};

}  // namespace headlight
