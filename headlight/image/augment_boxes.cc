#include "headlight/image/augment_boxes.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/image/processor.h"
#include "headlight/image/resize.h"

namespace headlight {
namespace {

std::int64_t OneOf(const std::vector<std::int64_t>& sides, Random& random) { return sides[random.Below(sides.size())]; }

ImageSize WithShortestSide(ImageSize size, std::int64_t side, std::int64_t longest) {
  return ResizedSize({.kind = ResizeRule::Kind::shortest, .edge = side, .longest = longest}, size);
}

Image Resized(const Image& image, ImageSize size) {
  return Resize(image, size.height, size.width, ResizeFilter::bilinear);
}

std::vector<LabeledBox> Flipped(std::vector<LabeledBox> boxes, std::int64_t width) {
  const auto whole = static_cast<double>(width);
  for (LabeledBox& box : boxes) {
    box.box.left = whole - box.box.left;
    box.box.right = whole - box.box.right;
    std::swap(box.box.left, box.box.right);
  }
  return boxes;
}

std::vector<LabeledBox> Resized(std::vector<LabeledBox> boxes, ImageSize from, ImageSize to) {
  const double across = static_cast<double>(to.width) / static_cast<double>(from.width);
  const double down = static_cast<double>(to.height) / static_cast<double>(from.height);
  for (LabeledBox& box : boxes) {
    box.box = {box.box.left * across, box.box.top * down, box.box.right * across, box.box.bottom * down};
    box.area *= across * down;
  }
  return boxes;
}

std::vector<LabeledBox> Cropped(const std::vector<LabeledBox>& boxes, const Region& region) {
  const auto left = static_cast<double>(region.left), top = static_cast<double>(region.top);
  const auto width = static_cast<double>(region.width), height = static_cast<double>(region.height);
  std::vector<LabeledBox> cropped;
  for (LabeledBox box : boxes) {
    box.box = {std::clamp(box.box.left - left, 0.0, width), std::clamp(box.box.top - top, 0.0, height),
               std::clamp(box.box.right - left, 0.0, width), std::clamp(box.box.bottom - top, 0.0, height)};
    box.area = box.box.area();
    if (box.box.width() > 0 && box.box.height() > 0) cropped.push_back(box);
  }
  return cropped;
}

}  // namespace

Image Changed(const Image& image, const BoxedChange& change) {
  Image changed = change.flip ? FlipHorizontally(image) : image;
  if (change.cut) changed = Crop(Resized(changed, change.cut->size), change.cut->region);
  return Resized(changed, change.size);
}

std::vector<LabeledBox> Changed(const std::vector<LabeledBox>& boxes, ImageSize from, const BoxedChange& change) {
  std::vector<LabeledBox> changed = change.flip ? Flipped(boxes, from.width) : boxes;
  if (!change.cut) return Resized(changed, from, change.size);
  const auto& [size, region] = *change.cut;
  return Resized(Cropped(Resized(changed, from, size), region), {region.height, region.width}, change.size);
}

BoxedChange RandomScaleAndCrop(ImageSize image, const ScaleAndCrop& options, Random& random) {
  Check(!options.sides.empty() && !options.first_sides.empty() && options.least_crop >= 1 &&
            options.least_crop <= options.most_crop,
        "scaling needs at least one side and a valid range of crop sizes");
  BoxedChange change;
  change.flip = random.Below(2) == 0;
  if (random.Below(2) == 0) {
    image = WithShortestSide(image, OneOf(options.first_sides, random), 0);
    const auto side = [&](std::int64_t whole) {
      const std::int64_t most = std::min(whole, options.most_crop), least = std::min(most, options.least_crop);
      return least + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(most - least + 1)));
    };
    const auto place = [&](std::int64_t left) {
      return static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(left + 1)));
    };
    Region region;
    region.width = side(image.width);
    region.height = side(image.height);
    region.top = place(image.height - region.height);
    region.left = place(image.width - region.width);
    change.cut = {image, region};
    image = {region.height, region.width};
  }
  change.size = WithShortestSide(image, OneOf(options.sides, random), options.longest);
  return change;
}

}  // namespace headlight
