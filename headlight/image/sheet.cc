#include "headlight/image/sheet.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {

namespace {

constexpr std::int64_t kGap = 2;

}  // namespace

PictureSize SheetSize(PictureSize picture, std::int64_t count, std::int64_t columns) {
  constexpr std::int64_t kMost = 100'000'000;
  Check(count >= 1 && columns >= 1, "a sheet of {} pictures cannot have {} columns", count, columns);
  if (count == 1) return picture;
  columns = std::min(columns, count);
  const std::int64_t rows = (count - 1) / columns + 1, height = picture.height + kGap, width = picture.width + kGap;
  Check(height <= kMost / rows && width <= kMost / columns && height * rows + kGap <= kMost / (width * columns + kGap),
        "a sheet of {} pictures of {} x {} has more than {} pixels", count, picture.width, picture.height, kMost);
  return {height * rows + kGap, width * columns + kGap};
}

Picture SheetOf(std::span<const Picture> pictures, std::int64_t columns) {
  Check(!pictures.empty(), "a sheet of 0 pictures");
  const std::int64_t count = std::ssize(pictures), height = pictures.front().height, width = pictures.front().width;
  for (const Picture& picture : pictures)
    Check(picture.height == height && picture.width == width, "pictures of {} x {} and of {} x {} fit no sheet", width,
          height, picture.width, picture.height);
  const PictureSize size = SheetSize({height, width}, count, columns);
  if (count == 1) return pictures.front();
  columns = std::min(columns, count);
  Picture sheet{.height = size.height, .width = size.width};
  sheet.pixels.assign(static_cast<std::size_t>(sheet.height * sheet.width * 3), 255);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t top = kGap + i / columns * (height + kGap), left = kGap + i % columns * (width + kGap);
    for (std::int64_t y = 0; y < height; ++y)
      std::copy_n(pictures[static_cast<std::size_t>(i)].row(y), 3 * width, sheet.row(top + y) + 3 * left);
  }
  return sheet;
}

}  // namespace headlight
