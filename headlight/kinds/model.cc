#include "headlight/kinds/model.h"

#include "headlight/kinds/layer_sizes.h"

namespace headlight {

Json::Object Model::WithLayerSizes(Json::Object description) const {
  AddMissing(description, LayerSizes());
  return description;
}

}  // namespace headlight
