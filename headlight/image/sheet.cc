#include "headlight/image/sheet.h"

#include <algorithm>

#include "headlight/base/error.h"

namespace headlight {

Picture SheetOf(std::span<const Picture> pictures, std::int64_t columns) {
  constexpr std::int64_t kGap = 2, kMost = 100'000'000;
  Check(!pictures.empty() && columns >= 1, "a sheet of {} pictures cannot have {} columns", pictures.size(), columns);
  const std::int64_t count = std::ssize(pictures), height = pictures.front().height, width = pictures.front().width;
  if (count == 1) return pictures.front();
  for (const Picture& picture : pictures)
    Check(picture.height == height && picture.width == width, "pictures of {} x {} and of {} x {} fit no sheet", width,
          height, picture.width, picture.height);
  columns = std::min(columns, count);
  const std::int64_t rows = (count + columns - 1) / columns;
  Check(height + kGap <= kMost / rows && width + kGap <= kMost / columns &&
            (height + kGap) * rows + kGap <= kMost / ((width + kGap) * columns + kGap),
        "a sheet of {} pictures of {} x {} has more than {} pixels", count, width, height, kMost);
  Picture sheet{.height = (height + kGap) * rows + kGap, .width = (width + kGap) * columns + kGap};
  sheet.pixels.assign(static_cast<std::size_t>(sheet.height * sheet.width * 3), 255);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t top = kGap + i / columns * (height + kGap), left = kGap + i % columns * (width + kGap);
    for (std::int64_t y = 0; y < height; ++y)
      std::copy_n(pictures[static_cast<std::size_t>(i)].row(y), 3 * width, sheet.row(top + y) + 3 * left);
  }
  return sheet;
}

}  // namespace headlight
