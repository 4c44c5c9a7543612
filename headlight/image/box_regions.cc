#include "headlight/image/box_regions.h"

#include <algorithm>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/image/crop.h"
#include "headlight/image/resize.h"

namespace headlight {

bool IsWithin(const Box& box, const Image& image) {
  return std::min(box.right, static_cast<double>(image.width)) > std::max(box.left, 0.0) &&
         std::min(box.bottom, static_cast<double>(image.height)) > std::max(box.top, 0.0);
}

BoxRegions RegionsOfBoxes(const Image& image, std::span<const Box> boxes, std::int64_t side, std::int64_t numbers) {
  Check(image.height > 0 && image.width > 0, "an image of {} x {} has no regions", image.height, image.width);
  Check(side >= 1 && side <= 64, "a region must have a side of 1 to 64 pixels, not {}", side);
  Check(numbers >= 0 && numbers <= 5, "a region's position must have 0 to 5 numbers, not {}", numbers);
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  const std::int64_t count = 1 + std::ssize(boxes), pixels = side * side * 3;
  BoxRegions regions{Tensor::Empty({count, pixels}), Tensor::Empty({count, numbers})};
  const auto add = [&](std::int64_t row, const Box& box) {
    const Box inside = {std::clamp(box.left, 0.0, width), std::clamp(box.top, 0.0, height),
                        std::clamp(box.right, 0.0, width), std::clamp(box.bottom, 0.0, height)};
    Check(IsWithin(box, image), "the box ({}, {}, {}, {}) is outside of an image of {} x {}", box.left, box.top,
          box.right, box.bottom, image.height, image.width);
    const auto top = static_cast<std::int64_t>(inside.top), left = static_cast<std::int64_t>(inside.left);
    const Region cut = {.top = top,
                        .left = left,
                        .height = static_cast<std::int64_t>(std::ceil(inside.bottom)) - top,
                        .width = static_cast<std::int64_t>(std::ceil(inside.right)) - left};
    const Image resized = Resize(Crop(image, cut), side, side, ResizeFilter::bilinear);
    float* const features = regions.features.matrix<float>().row(row);
    for (std::int64_t i = 0; i < pixels; ++i)
      features[i] = static_cast<float>(resized.pixels[static_cast<std::size_t>(i)]) / 127.5F - 1;
    float* const place = regions.places.matrix<float>().row(row);
    const double shares[] = {inside.left / width, inside.top / height, inside.right / width, inside.bottom / height,
                             inside.area() / (width * height)};
    std::transform(shares, shares + numbers, place, [](double x) { return static_cast<float>(x); });
  };
  add(0, {0, 0, width, height});
  for (std::size_t i = 0; i < boxes.size(); ++i) add(static_cast<std::int64_t>(i) + 1, boxes[i]);
  return regions;
}

}  // namespace headlight
