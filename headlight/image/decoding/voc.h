// Reads image annotations in the format of Pascal VOC, which has one XML file per image (Everingham et al., "The Pascal
// Visual Object Classes Challenge", 2010).
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/image/annotation.h"

namespace headlight {

/// Parses the image's name, its size, and the name and bndbox of each object. A box is xmin to xmax and ymin to ymax
/// without changes, even if its area is not positive. Parts of objects are ignored. Throws Error for invalid XML, other
/// kinds of documents, or more than 16 MiB. The message begins with `name`, and includes the byte or the object.
HEADLIGHT_API ImageAnnotation ParseVoc(std::string_view xml, const std::string& name);
HEADLIGHT_API ImageAnnotation ReadVoc(const std::string& path);

}  // namespace headlight
