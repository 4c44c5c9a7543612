#include "headlight/image/augment_boxes.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/image/processor.h"
#include "headlight/image/resize.h"

namespace headlight {
namespace {

std::int64_t OneOf(const std::vector<std::int64_t>& sides, Random& random) { return sides[random.Below(sides.size())]; }

BoxedPicture ResizeShortest(const BoxedPicture& boxed, std::int64_t side, std::int64_t longest) {
  const PictureSize size = ResizedSize({.kind = ResizeRule::Kind::shortest, .edge = side, .longest = longest},
                                       {boxed.picture.height, boxed.picture.width});
  return ResizeBoxed(boxed, size.height, size.width);
}

}  // namespace

BoxedPicture CropBoxed(const BoxedPicture& boxed, const Region& region) {
  BoxedPicture cropped{Crop(boxed.picture, region), {}};
  const auto left = static_cast<double>(region.left), top = static_cast<double>(region.top);
  const auto width = static_cast<double>(region.width), height = static_cast<double>(region.height);
  for (LabelledBox box : boxed.boxes) {
    box.box = {std::clamp(box.box.left - left, 0.0, width), std::clamp(box.box.top - top, 0.0, height),
               std::clamp(box.box.right - left, 0.0, width), std::clamp(box.box.bottom - top, 0.0, height)};
    box.area = box.box.area();
    if (box.box.width() > 0 && box.box.height() > 0) cropped.boxes.push_back(box);
  }
  return cropped;
}

BoxedPicture FlipBoxed(const BoxedPicture& boxed) {
  BoxedPicture flipped{FlipHorizontally(boxed.picture), boxed.boxes};
  const auto width = static_cast<double>(boxed.picture.width);
  for (LabelledBox& box : flipped.boxes) {
    box.box.left = width - box.box.left;
    box.box.right = width - box.box.right;
    std::swap(box.box.left, box.box.right);
  }
  return flipped;
}

BoxedPicture ResizeBoxed(const BoxedPicture& boxed, std::int64_t height, std::int64_t width) {
  BoxedPicture resized{Resize(boxed.picture, height, width, ResizeFilter::bilinear), boxed.boxes};
  const double across = static_cast<double>(width) / static_cast<double>(boxed.picture.width);
  const double down = static_cast<double>(height) / static_cast<double>(boxed.picture.height);
  for (LabelledBox& box : resized.boxes) {
    box.box = {box.box.left * across, box.box.top * down, box.box.right * across, box.box.bottom * down};
    box.area *= across * down;
  }
  return resized;
}

BoxedPicture RandomScaleAndCrop(const BoxedPicture& boxed, const ScaleAndCrop& options, Random& random) {
  Check(!options.sides.empty() && !options.first_sides.empty() && options.least_crop >= 1 &&
            options.least_crop <= options.most_crop,
        "a picture is scaled to one of several sides, and cropped to a range of sizes");
  BoxedPicture changed = random.Below(2) == 0 ? FlipBoxed(boxed) : boxed;
  if (random.Below(2) == 0) {
    changed = ResizeShortest(changed, OneOf(options.first_sides, random), 0);
    const auto side = [&](std::int64_t whole) {
      const std::int64_t most = std::min(whole, options.most_crop), least = std::min(most, options.least_crop);
      return least + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(most - least + 1)));
    };
    const auto place = [&](std::int64_t left) {
      return static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(left + 1)));
    };
    Region region;
    region.width = side(changed.picture.width);
    region.height = side(changed.picture.height);
    region.top = place(changed.picture.height - region.height);
    region.left = place(changed.picture.width - region.width);
    changed = CropBoxed(changed, region);
  }
  return ResizeShortest(changed, OneOf(options.sides, random), options.longest);
}

}  // namespace headlight
