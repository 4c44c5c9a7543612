// Options with a fixed set of values.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/error.h"
#include "headlight/kernels/gemm.h"

namespace headlight {

// The initial `value` is the default.
template <typename Enum>
CLI::Option* AddChoice(CLI::App& command, const std::string& name, Enum& value,
                       const std::vector<std::pair<std::string, Enum>>& choices, const std::string& description) {
  std::string names, chosen;
  for (const auto& [word, choice] : choices) {
    names += (names.empty() ? "" : "|") + word;
    if (choice == value) chosen = word;
  }
  CLI::CheckedTransformer words(choices);
  words.description("");
  return command.add_option(name, value, description)->transform(words)->type_name(names)->default_str(chosen);
}

// The type of a training's matrix products.
enum class ComputeChoice { automatic, float32, bfloat16 };

inline CLI::Option* AddTrainingCompute(CLI::App& command, ComputeChoice& choice) {
  return AddChoice<ComputeChoice>(
      command, "--compute", choice,
      {{"auto", ComputeChoice::automatic}, {"float32", ComputeChoice::float32}, {"bfloat16", ComputeChoice::bfloat16}},
      "of matrix products; weights and sums are float32 (auto: the fastest)");
}

inline Compute Chosen(ComputeChoice choice) {
  const bool has_bfloat16 = kernels::CpuHas(Compute::bfloat16);
  Check(choice != ComputeChoice::bfloat16 || has_bfloat16,
        "--compute bfloat16: this processor has no instructions for it (AVX-512 BF16), only for float32");
  return choice == ComputeChoice::float32 || !has_bfloat16 ? Compute::float32 : Compute::bfloat16;
}

}  // namespace headlight
