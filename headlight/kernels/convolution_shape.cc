#include "headlight/kernels/convolution_shape.h"

namespace headlight::kernels {

Grid ConvolutionShape::ResultOf(Grid map) const {
  const auto places = [](std::int64_t size, std::int64_t taps, std::int64_t step, std::int64_t border,
                         std::int64_t apart) {
    const std::int64_t room = size + 2 * border - apart * (taps - 1) - 1;
    return room < 0 ? 0 : room / step + 1;
  };
  const Grid result = {places(map.height, kernel.height, stride.height, padding.height, dilation.height),
                       places(map.width, kernel.width, stride.width, padding.width, dilation.width)};
  return result.cells() == 0 ? Grid{} : result;
}

}  // namespace headlight::kernels
