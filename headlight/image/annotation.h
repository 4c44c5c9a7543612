// The annotation of an image, as in Pascal VOC's files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/image/box.h"

namespace headlight {

struct ImageAnnotation {
  std::string image;                   // of its file
  std::int64_t height = 0, width = 0;  // pixels; 0: unknown
  struct Object {
    std::string label;
    Box box;
  };
  std::vector<Object> objects = {};
};

}  // namespace headlight
