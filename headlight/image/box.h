// Defines boxes of objects in an image.
#pragma once

#include <cstdint>

namespace headlight {

/// A box in pixels from the image's upper left corner.
struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
  double area() const { return width() * height(); }
  bool operator==(const Box&) const = default;
};

/// Returns the box with this center and size, which are relative to the sides of an image of height x width.
inline Box BoxOfShares(double x, double y, double across, double down, std::int64_t height, std::int64_t width) {
  const auto h = static_cast<double>(height), w = static_cast<double>(width);
  return {(x - across / 2) * w, (y - down / 2) * h, (x + across / 2) * w, (y + down / 2) * h};
}

/// An annotated object of an image.
struct LabeledBox {
  Box box;
  std::int32_t label = 0;  ///< the class index
  /// The area of the object's outline in pixels, which determines its size category in COCO. If there is no outline,
  /// this is the area of the box.
  double area = 0;
  bool crowd = false;  ///< if true, a group of objects: not used in training; evaluation ignores detections in it
  bool operator==(const LabeledBox&) const = default;
};

/// A detected object.
struct FoundBox {
  Box box;
  std::int32_t label = 0;
  double score = 0;  ///< 0 to 1
  bool operator==(const FoundBox&) const = default;
};

}  // namespace headlight
