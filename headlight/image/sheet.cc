#include "headlight/image/sheet.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {

namespace {

constexpr std::int64_t kGap = 2;

}  // namespace

ImageSize SheetSize(ImageSize image, std::int64_t count, std::int64_t columns) {
  constexpr std::int64_t kMost = 100'000'000;
  Check(count >= 1 && columns >= 1, "a sheet of {} images cannot have {} columns", count, columns);
  if (count == 1) return image;
  columns = std::min(columns, count);
  const std::int64_t rows = (count - 1) / columns + 1, height = image.height + kGap, width = image.width + kGap;
  Check(height <= kMost / rows && width <= kMost / columns && height * rows + kGap <= kMost / (width * columns + kGap),
        "a sheet of {} images of {} x {} has more than {} pixels", count, image.width, image.height, kMost);
  return {height * rows + kGap, width * columns + kGap};
}

Image SheetOf(std::span<const Image> images, std::int64_t columns) {
  Check(!images.empty(), "a sheet needs at least 1 image");
  const std::int64_t count = std::ssize(images), height = images.front().height, width = images.front().width;
  for (const Image& image : images)
    Check(image.height == height && image.width == width, "images of {} x {} and of {} x {} cannot be on one sheet",
          width, height, image.width, image.height);
  const ImageSize size = SheetSize({height, width}, count, columns);
  if (count == 1) return images.front();
  columns = std::min(columns, count);
  Image sheet{.height = size.height, .width = size.width};
  sheet.pixels.assign(static_cast<std::size_t>(sheet.height * sheet.width * 3), 255);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t top = kGap + i / columns * (height + kGap), left = kGap + i % columns * (width + kGap);
    for (std::int64_t y = 0; y < height; ++y)
      std::copy_n(images[static_cast<std::size_t>(i)].row(y), 3 * width, sheet.row(top + y) + 3 * left);
  }
  return sheet;
}

}  // namespace headlight
