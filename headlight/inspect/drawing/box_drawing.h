// Boxes and segments, drawn on the image.
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

// The colour of a class, or of a segment, by its number from 0: neighbours differ.
HEADLIGHT_API Color ColorOfClass(int index);

// Draws the image and on it the boxes, each with its label and its score in the colour of its class, the best on top,
// to `path` (.png, .svg or .pdf). A PNG has the image's own pixels, unless the image is so small that labels would
// not fit. Throws Error for a box whose label is not among `labels`, for an image without pixels, and as WriteImage
// (canvas.h) does.
HEADLIGHT_API void DrawBoxes(const Image& image, std::span<const FoundBox> found,
                             const std::vector<std::string>& labels, const std::string& path);

// The same of segments: their pixels in a colour for each, over the image, with the label in the middle of its rows
// and columns. Throws Error, too, where the segmentation is of another size.
HEADLIGHT_API void DrawSegments(const Image& image, const Segmentation& found, const std::vector<std::string>& labels,
                                const std::string& path);

}  // namespace headlight
