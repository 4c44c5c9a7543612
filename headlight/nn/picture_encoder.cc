#include "headlight/nn/picture_encoder.h"

namespace headlight {

Json::Object PictureEncoder::Description() const {
  Json::Object description = {{"picture_height", limits_.picture.height},
                              {"picture_width", limits_.picture.width},
                              {"patch_height", limits_.patch.height},
                              {"patch_width", limits_.patch.width},
                              {"channels", limits_.channels},
                              {"model", limits_.model}};
  if (!labels_.empty()) description.push_back({"labels", labels_});
  return description;
}

}  // namespace headlight
