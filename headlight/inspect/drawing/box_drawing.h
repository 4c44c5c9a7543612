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

/// The colour of a class, or of a segment, by its index from 0; neighbours have different colours.
HEADLIGHT_API Color ColorOfClass(int index);

/// Draws the image and the boxes to `path` (.png, .svg or .pdf). Each box has its label and score in the colour of its
/// class, and the best boxes are on top. A PNG has the image's own pixels, unless the image is too small for labels.
/// Throws Error for a box whose label is not in `labels`, for an image without pixels, and the errors of WriteImage
/// (canvas.h).
HEADLIGHT_API void DrawBoxes(const Image& image, std::span<const FoundBox> found,
                             const std::vector<std::string>& labels, const std::string& path);

/// The same for segments: their pixels are tinted in a colour each, with the label in the middle of their rows and
/// columns. Also throws Error if the segmentation has another size.
HEADLIGHT_API void DrawSegments(const Image& image, const Segmentation& found, const std::vector<std::string>& labels,
                                const std::string& path);

}  // namespace headlight
