// Options with a fixed set of values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/error.h"
#include "headlight/base/option_table.h"
#include "headlight/kernels/gemm.h"

namespace headlight {

// The initial `value` is the default; a std::optional without one has none.
template <typename Enum, typename Value>
Option& AddChoice(OptionTable& table, const char* name, Value& value,
                  const std::vector<std::pair<std::string, Enum>>& choices, std::string description) {
  std::vector<std::string> words;
  std::vector<Enum> values;
  std::optional<std::size_t> initial;
  for (const auto& [word, choice] : choices) {
    if (value == choice) initial = words.size();
    words.push_back(word);
    values.push_back(choice);
  }
  return table.AddChoice(
      name, words, initial, [&value, values = std::move(values)](std::size_t index) { value = values[index]; },
      std::move(description));
}

// The type of a training's matrix products.
enum class ComputeChoice { automatic, float32, bfloat16 };

inline Option& AddTrainingCompute(OptionTable& table, ComputeChoice& choice) {
  return AddChoice<ComputeChoice>(
      table, "--compute", choice,
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
