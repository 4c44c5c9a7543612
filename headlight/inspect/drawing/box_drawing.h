// Boxes and segments, drawn on the picture.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/image/box.h"
#include "headlight/image/picture.h"
#include "headlight/image/segments.h"
#include "headlight/inspect/color_ramp.h"

namespace headlight {

// The colour of a class, or of a segment, by its number from 0: neighbours differ.
HEADLIGHT_API Color ColorOfClass(int index);

// Draws the picture and on it the boxes, each with its label and its score in the colour of its class, the best on top,
// to `path` (.png, .svg or .pdf). A PNG has the picture's own pixels, unless the picture is so small that labels would
// not fit. Throws Error for a box whose label is not among `labels`, for a picture without pixels, and as WritePicture
// (canvas.h) does.
HEADLIGHT_API void DrawBoxes(const Picture& picture, std::span<const FoundBox> found,
                             const std::vector<std::string>& labels, const std::string& path);

// The same of segments: their pixels in a colour for each, over the picture, with the label in the middle of its rows
// and columns. Throws Error, too, where the segmentation is of another size.
HEADLIGHT_API void DrawSegments(const Picture& picture, const Segmentation& found,
                                const std::vector<std::string>& labels, const std::string& path);

}  // namespace headlight
