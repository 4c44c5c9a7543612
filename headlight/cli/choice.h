// Options with a fixed set of values.
#pragma once

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/error.h"
#include "headlight/cli/checks.h"
#include "headlight/kernels/gemm.h"

namespace headlight {

// The initial `value` is the default; a std::optional without one has none.
template <typename Enum, typename Value>
CLI::Option* AddChoice(CLI::App& command, const std::string& name, Value& value,
                       const std::vector<std::pair<std::string, Enum>>& choices, const std::string& description) {
  std::vector<std::string> words;
  std::string chosen;
  for (const auto& [word, choice] : choices) {
    words.push_back(word);
    if (value == choice) chosen = word;
  }
  // CLI11 reads an enumeration from its number.
  const CLI::Validator number_of(
      [words, choices](std::string& text) {
        const auto found = std::ranges::find(words, text);
        if (found == words.end()) return OneOf(words)(text);
        text = std::to_string(static_cast<int>(choices[static_cast<std::size_t>(found - words.begin())].second));
        return std::string();
      },
      "");
  return command.add_option(name, value, description)
      ->transform(number_of)
      ->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->default_str(chosen);
}

// The type of a training's matrix products.
enum class ComputeChoice { automatic, float32, bfloat16 };

inline CLI::Option* AddTrainingCompute(CLI::App& command, ComputeChoice& choice) {
  return AddChoice<ComputeChoice>(
      command, "--compute", choice,
      {{"auto", ComputeChoice::automatic}, {"float32", ComputeChoice::float32}, {"bfloat16", ComputeChoice::bfloat16}},
      "Type of the matrix products' inputs; weights and sums are float32 (auto: the fastest)");
}

inline Compute Chosen(ComputeChoice choice) {
  const bool has_bfloat16 = kernels::CpuHas(Compute::bfloat16);
  Check(choice != ComputeChoice::bfloat16 || has_bfloat16,
        "--compute bfloat16: this processor has no instructions for it (AVX-512 BF16), only for float32");
  return choice == ComputeChoice::float32 || !has_bfloat16 ? Compute::float32 : Compute::bfloat16;
}

}  // namespace headlight
