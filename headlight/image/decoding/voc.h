// Image annotations in the format of Pascal VOC (Everingham et al., "The Pascal Visual Object Classes Challenge",
// 2010): one XML file per image.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/image/annotation.h"

namespace headlight {

/// Reads the image's name, its size, and the name and bndbox of each object. Corners are taken unchanged from xmin to
/// xmax and from ymin to ymax, even if the area is not positive. Parts of objects are ignored. Throws Error, which
/// begins with `name` and gives the byte or the object, for invalid XML, another kind of document, or more than 16 MiB.
HEADLIGHT_API ImageAnnotation ParseVoc(std::string_view xml, const std::string& name);
HEADLIGHT_API ImageAnnotation ReadVoc(const std::string& path);

}  // namespace headlight
