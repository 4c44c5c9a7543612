// Defines the annotation of an image, as in the files of Pascal VOC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/image/box.h"

namespace headlight {

struct ImageAnnotation {
  std::string image;                   // the name of the image file
  std::int64_t height = 0, width = 0;  // in pixels; 0 if unknown
  struct Object {
    std::string label;
    Box box;
  };
  std::vector<Object> objects = {};
};

}  // namespace headlight
