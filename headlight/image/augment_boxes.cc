#include "headlight/image/augment_boxes.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/image/processor.h"
#include "headlight/image/resize.h"

namespace headlight {
namespace {

std::int64_t OneOf(const std::vector<std::int64_t>& sides, Random& random) { return sides[random.Below(sides.size())]; }

PictureSize WithShortestSide(PictureSize size, std::int64_t side, std::int64_t longest) {
  return ResizedSize({.kind = ResizeRule::Kind::shortest, .edge = side, .longest = longest}, size);
}

Picture Resized(const Picture& picture, PictureSize size) {
  return Resize(picture, size.height, size.width, ResizeFilter::bilinear);
}

std::vector<LabelledBox> Flipped(std::vector<LabelledBox> boxes, std::int64_t width) {
  const auto whole = static_cast<double>(width);
  for (LabelledBox& box : boxes) {
    box.box.left = whole - box.box.left;
    box.box.right = whole - box.box.right;
    std::swap(box.box.left, box.box.right);
  }
  return boxes;
}

std::vector<LabelledBox> Resized(std::vector<LabelledBox> boxes, PictureSize from, PictureSize to) {
  const double across = static_cast<double>(to.width) / static_cast<double>(from.width);
  const double down = static_cast<double>(to.height) / static_cast<double>(from.height);
  for (LabelledBox& box : boxes) {
    box.box = {box.box.left * across, box.box.top * down, box.box.right * across, box.box.bottom * down};
    box.area *= across * down;
  }
  return boxes;
}

std::vector<LabelledBox> Cropped(const std::vector<LabelledBox>& boxes, const Region& region) {
  const auto left = static_cast<double>(region.left), top = static_cast<double>(region.top);
  const auto width = static_cast<double>(region.width), height = static_cast<double>(region.height);
  std::vector<LabelledBox> cropped;
  for (LabelledBox box : boxes) {
    box.box = {std::clamp(box.box.left - left, 0.0, width), std::clamp(box.box.top - top, 0.0, height),
               std::clamp(box.box.right - left, 0.0, width), std::clamp(box.box.bottom - top, 0.0, height)};
    box.area = box.box.area();
    if (box.box.width() > 0 && box.box.height() > 0) cropped.push_back(box);
  }
  return cropped;
}

}  // namespace

Picture Changed(const Picture& picture, const BoxedChange& change) {
  Picture changed = change.flip ? FlipHorizontally(picture) : picture;
  if (change.cut) changed = Crop(Resized(changed, change.cut->size), change.cut->region);
  return Resized(changed, change.size);
}

std::vector<LabelledBox> Changed(const std::vector<LabelledBox>& boxes, PictureSize from, const BoxedChange& change) {
  std::vector<LabelledBox> changed = change.flip ? Flipped(boxes, from.width) : boxes;
  if (!change.cut) return Resized(changed, from, change.size);
  const auto& [size, region] = *change.cut;
  return Resized(Cropped(Resized(changed, from, size), region), {region.height, region.width}, change.size);
}

BoxedChange RandomScaleAndCrop(PictureSize picture, const ScaleAndCrop& options, Random& random) {
  Check(!options.sides.empty() && !options.first_sides.empty() && options.least_crop >= 1 &&
            options.least_crop <= options.most_crop,
        "a picture is scaled to one of several sides, and cropped to a range of sizes");
  BoxedChange change;
  change.flip = random.Below(2) == 0;
  if (random.Below(2) == 0) {
    picture = WithShortestSide(picture, OneOf(options.first_sides, random), 0);
    const auto side = [&](std::int64_t whole) {
      const std::int64_t most = std::min(whole, options.most_crop), least = std::min(most, options.least_crop);
      return least + static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(most - least + 1)));
    };
    const auto place = [&](std::int64_t left) {
      return static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(left + 1)));
    };
    Region region;
    region.width = side(picture.width);
    region.height = side(picture.height);
    region.top = place(picture.height - region.height);
    region.left = place(picture.width - region.width);
    change.cut = {picture, region};
    picture = {region.height, region.width};
  }
  change.size = WithShortestSide(picture, OneOf(options.sides, random), options.longest);
  return change;
}

}  // namespace headlight
