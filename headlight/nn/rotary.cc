#include "headlight/nn/rotary.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"

namespace headlight {

RotaryPositions RotaryPositions::Default(std::int64_t head_dim, double base, std::int64_t rotated) {
  if (rotated == 0) rotated = head_dim;
  Check(rotated % 2 == 0 && rotated >= 2 && rotated <= head_dim,
        "rotary embedding rotates pairs of a head's {} features, not {} of them", head_dim, rotated);
  RotaryPositions positions{.head_dim = head_dim};
  for (std::int64_t i = 0; i < rotated / 2; ++i)
    positions.frequencies.push_back(std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(rotated)));
  return positions;
}

ops::RotaryAngles RotaryPositions::Angles(const Sequences& texts, std::span<const std::int32_t> first_positions,
                                          DType dtype) const {
  std::int32_t tokens = 0;
  for (const Sequence& text : texts) tokens = std::max(tokens, text.end());
  std::vector<std::int32_t> positions(static_cast<std::size_t>(tokens));
  for (std::size_t text = 0; text < texts.size(); ++text)
    for (std::int32_t token = 0; token < texts[text].length; ++token)
      positions[static_cast<std::size_t>(texts[text].row(token))] =
          token + (first_positions.empty() ? 0 : first_positions[text]);
  std::vector<std::int32_t> different = positions;  // distinct positions; a step has few, but they may be large
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());

  const Shape shape = {std::ssize(different), std::ssize(frequencies)};
  ops::RotaryAngles angles{.cosines = Tensor::Empty(shape, dtype),
                           .sines = Tensor::Empty(shape, dtype),
                           .indices = {},
                           .head_dim = head_dim,
                           .pairs = pairs};
  Dispatch(dtype, [&]<typename T>(T) {
    for (std::int64_t index = 0; index < std::ssize(different); ++index) {
      T *const cosines = angles.cosines.matrix<T>().row(index), *const sines = angles.sines.matrix<T>().row(index);
      for (std::size_t i = 0; i < frequencies.size(); ++i) {
        const double angle = different[static_cast<std::size_t>(index)] * frequencies[i];
        cosines[i] = static_cast<T>(factor * std::cos(angle));
        sines[i] = static_cast<T>(factor * std::sin(angle));
      }
    }
  });
  for (const std::int32_t position : positions)
    angles.indices.push_back(
        static_cast<std::int32_t>(std::ranges::lower_bound(different, position) - different.begin()));
  return angles;
}

}  // namespace headlight
