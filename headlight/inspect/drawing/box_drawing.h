// Draws boxes and segments on an image.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/box.h"
#include "headlight/image/image.h"
#include "headlight/image/segments.h"
#include "headlight/inspect/color_ramp.h"

namespace headlight {

/// Returns the color of a class or segment by its index from 0. Consecutive indices have different colors.
HEADLIGHT_API Color ColorOfClass(int index);

/// Draws the image and the boxes to `path` (.png, .svg or .pdf). Each box has its label and score in the color of its
/// class. Boxes with higher scores are on top. A PNG has the size of the image, unless the image is too small for
/// labels. Throws Error for a box whose label is not in `labels` and for an image without pixels. Throws the same
/// errors as WriteImage (canvas.h).
HEADLIGHT_API void DrawBoxes(const Image& image, std::span<const FoundBox> found,
                             const std::vector<std::string>& labels, const std::string& path);

/// Draws the image and the segments. The pixels of each segment are tinted in one color, and the label is at the
/// segment's centroid. Throws the same errors as DrawBoxes, and Error if the segmentation has a different size.
HEADLIGHT_API void DrawSegments(const Image& image, const Segmentation& found, const std::vector<std::string>& labels,
                                const std::string& path);

}  // namespace headlight
