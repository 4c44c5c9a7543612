// Rows of floats that are quantized to int8 with a scale per row.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/unfolded.h"

namespace headlight::kernels {

/// Writes round(x / scale), which is in [-127, 127], and returns the scale, max |x| / 127. The scale is 0 if the
/// maximum is below 1e-30. If an element is not finite, the scale is NaN and the integers are 0.
HEADLIGHT_API float QuantizeRow(const float* x, std::int64_t count, std::int8_t* quantized);

/// The number of integers along the depth that one instruction multiplies and adds. Rows are padded to whole quads.
inline constexpr std::int64_t kInt8Quad = 4;

/// Rows of a left-hand side: x = scale * (value - zero). Each row has Int8Stride(depth) values. The product defines
/// `zero`: 128, or 0 for signed values.
struct Int8Rows {
  const std::uint8_t* values = nullptr;
  const float* scales = nullptr;
  std::int64_t rows = 0, depth = 0;
};
std::int64_t Int8Stride(std::int64_t depth);
void QuantizeRows(Matrix<const float> x, std::uint8_t zero, std::uint8_t* values, float* scales);

/// Quantizes rows of a convolution's left-hand side directly from the maps. The rows equal those of QuantizeRows.
class Int8Taps {
 public:
  /// Computes the largest magnitude of each row, in parallel. The object is valid until the next one of this thread,
  /// and `taps` must outlive it.
  explicit Int8Taps(const Unfolded<float>& taps);

  /// Writes rows [first_row, first_row + rows) as QuantizeRows does.
  void Quantize(std::int64_t first_row, std::int64_t rows, std::uint8_t zero, std::uint8_t* values,
                float* scales) const;

 private:
  const Unfolded<float>* taps_;
  const std::int32_t* magnitudes_;  // the bits of each row's largest |x|
};

}  // namespace headlight::kernels
