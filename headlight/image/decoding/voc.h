// Annotations of images as Pascal VOC has them (Everingham et al., "The Pascal Visual Object Classes Challenge",
// 2010): an XML file for each image.
#pragma once

#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/image/annotation.h"

namespace headlight {

// The image's name, its size and the name and bndbox of each object; the corners are taken as they stand, from xmin
// to xmax and from ymin to ymax, also where that is no area. Parts of objects are left out. Throws Error, which begins
// with `name` and gives the byte or the object, for what is no XML, no such annotation, or larger than 16 MiB.
HEADLIGHT_API ImageAnnotation ParseVoc(std::string_view xml, const std::string& name);
HEADLIGHT_API ImageAnnotation ReadVoc(const std::string& path);

}  // namespace headlight
