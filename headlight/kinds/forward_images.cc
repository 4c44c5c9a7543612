#include "headlight/kinds/forward_images.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {

std::vector<Tensor> ReadPixelValues(const Safetensors& in, std::int64_t channels, Grid patch) {
  const StoredTensor& stored = in.At("pixel_values");
  const Shape shape = stored.shape;
  Check(shape.rank() == 4 && shape.elements() > 0,
        "{}: pixel_values has the shape {}, and must be [batch, channels, height, width] with none of them 0",
        in.path(), ToString(shape));
  Check(shape[1] == channels, "{}: pixel_values has {} channels, and the model reads {}", in.path(), shape[1],
        channels);
  Check(shape[2] >= patch.height && shape[3] >= patch.width,
        "{}: pixel_values are of {} x {} pixels, and a patch is of {} x {}", in.path(), shape[2], shape[3],
        patch.height, patch.width);
  const Tensor values = in.Read("pixel_values");
  std::vector<Tensor> images;
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    const Tensor& image = images.emplace_back(Tensor::Empty({shape[2], shape[3], shape[1]}));
    const std::int64_t pixels = shape[2] * shape[3];
    for (std::int64_t channel = 0; channel < shape[1]; ++channel)
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
        image.data<float>()[pixel * shape[1] + channel] =
            values.data<float>()[(b * shape[1] + channel) * pixels + pixel];
  }
  return images;
}

std::vector<std::vector<std::uint8_t>> ReadPixelMask(const Safetensors& in, std::span<const Tensor> images) {
  const Shape expected = {std::ssize(images), images[0].shape()[0], images[0].shape()[1]};
  Check(in.At("pixel_mask").shape == expected, "{}: pixel_mask has the shape {}, and must be {} as pixel_values",
        in.path(), ToString(in.At("pixel_mask").shape), ToString(expected));
  const std::vector<std::int32_t> seen = in.Read("pixel_mask", DType::int32).ToVector<std::int32_t>();
  Check(std::ranges::all_of(seen, [](std::int32_t value) { return value == 0 || value == 1; }),
        "{}: pixel_mask must be 0 or 1", in.path());
  std::vector<std::vector<std::uint8_t>> masks;
  for (auto from = seen.begin(); from != seen.end(); from += expected[1] * expected[2])
    masks.emplace_back(from, from + expected[1] * expected[2]);
  return masks;
}

Tensor AsMaps(const Tensor& rows, std::int64_t batch, Grid grid) {
  const Tensor maps = Tensor::Empty({batch, rows.columns(), grid.height, grid.width});
  for (std::int64_t row = 0; row < rows.rows(); ++row)
    for (std::int64_t channel = 0; channel < rows.columns(); ++channel)
      maps.data<float>()[(row / grid.cells() * rows.columns() + channel) * grid.cells() + row % grid.cells()] =
          rows.matrix<float>().row(row)[channel];
  return maps;
}

}  // namespace headlight
