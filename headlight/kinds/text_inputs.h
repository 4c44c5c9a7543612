// What a model of any kind that is trained on texts reads.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/kinds/model.h"

namespace headlight {

struct TextInputs {
  std::int64_t longest = 0;  ///< tokens of a text
  bool types = false;        ///< reads token types
  bool continued = false;    ///< texts are continued, so that they are padded on the left
};

/// Of a model that reads texts alone or beside regions; another kind is an internal error.
HEADLIGHT_API TextInputs TextInputsOf(const Model& model);

}  // namespace headlight
