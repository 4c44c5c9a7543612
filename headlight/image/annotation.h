// The annotation of one image, as Pascal VOC's files have it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/image/box.h"

namespace headlight {

struct ImageAnnotation {
  std::string image;                   // the name of its file
  std::int64_t height = 0, width = 0;  // pixels; 0: not said
  struct Object {
    std::string label;
    Box box;
  };
  std::vector<Object> objects = {};
};

}  // namespace headlight
