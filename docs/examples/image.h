// Formats tensors as text, for the examples.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "headlight/tensor/tensor.h"

using Words = std::vector<std::string>;

// Formats numbers with at most `digits` decimals, without trailing zeros, such as "[10, 0, 2]".
inline std::string Row(const std::vector<float>& values, int digits = 3) {
  std::string text;
  for (const float value : values) {
    const double unit = std::pow(10.0, digits), rounded = std::round(value * unit) / unit;
    text += fmt::format("{}{:g}", text.empty() ? "" : ", ", rounded == 0 ? 0 : rounded);
  }
  return "[" + text + "]";
}

// Prints a map for each head of the weights [1, heads, query, key]. Each map has a row per query and a column per key,
// with shades from 0 (blank) to 1 (full). Masked positions of a causal map are printed as -inf, like their scores.
inline void PrintWeights(const headlight::Tensor& weights, const Words& queries, const Words& keys, bool causal) {
  static const std::string shades[] = {" ", "░", "▒", "▓", "█"};
  for (std::int64_t head = 0; head < weights.shape()[1]; ++head) {
    fmt::print("  head {}\n{:12}", head + 1, "");
    for (const std::string& key : keys) fmt::print("{:>10}", key);
    for (std::size_t query = 0; query < queries.size(); ++query) {
      const auto row = head * static_cast<std::int64_t>(queries.size()) + static_cast<std::int64_t>(query);
      std::string line = fmt::format("  {:10}", queries[query]);
      for (std::size_t key = 0; key < keys.size(); ++key) {
        const double weight = weights.matrix<double>().row(row)[key];
        const std::string& shade = shades[std::lround(weight * 4)];
        line += causal && key > query ? "      -inf" : "      " + shade + shade + shade + shade;
      }
      fmt::print("\n{}", line.substr(0, line.find_last_not_of(' ') + 1));
    }
    fmt::print("\n");
  }
}
