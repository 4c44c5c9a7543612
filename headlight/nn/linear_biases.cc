#include "headlight/nn/linear_biases.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headlight {
namespace {

// Rounds to the nearest bfloat16. Ties round to even.
float RoundedToBfloat16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

}  // namespace

std::vector<float> LinearBiasSlopes(std::int32_t heads) {
  const auto whole = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(heads)));
  std::vector<float> slopes;
  for (std::int32_t head = 1; head <= whole; ++head)
    slopes.push_back(static_cast<float>(std::exp2(-8.0 * head / whole)));
  for (std::int32_t head = 1; std::ssize(slopes) < heads; head += 2)
    slopes.push_back(static_cast<float>(std::exp2(-4.0 * head / whole)));
  return slopes;
}

ops::AttentionBias LinearBiases(const LinearBiasConfig& config, const Sequences& texts,
                                std::span<const std::int32_t> first_positions, DType dtype) {
  std::int32_t longest = 0;
  for (std::size_t text = 0; text < texts.size(); ++text)
    longest = std::max(longest, texts[text].length + (first_positions.empty() ? 0 : first_positions[text]));
  const auto rounded = [&](float number) { return config.rounded ? RoundedToBfloat16(number) : number; };
  const std::vector<float> slopes = LinearBiasSlopes(config.heads);
  const Tensor biases = Tensor::Empty({config.heads, longest}, dtype);
  Dispatch(dtype, [&]<typename T>(T) {
    for (std::int32_t head = 0; head < config.heads; ++head) {
      const float slope = rounded(slopes[static_cast<std::size_t>(head)]);
      T* const row = biases.matrix<T>().row(head);
      for (std::int32_t key = 0; key < longest; ++key)
        row[key] = static_cast<T>(config.factor * rounded(slope * rounded(static_cast<float>(key))));
    }
  });
  return {.values = biases, .heads_first = true, .by = kernels::BiasIndexing::keys};
}

}  // namespace headlight
