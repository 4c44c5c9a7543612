// The text inputs of a model that is trained on texts.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/kinds/model.h"

namespace headlight {

struct TextInputs {
  std::int64_t longest = 0;  ///< maximum length of a text in tokens
  bool types = false;        ///< whether it reads token types
  bool continued = false;    ///< whether texts are continued, and therefore padded on the left
};

/// The text inputs of a model that reads texts, with or without regions. Another kind is an internal error.
HEADLIGHT_API TextInputs TextInputsOf(const Model& model);

}  // namespace headlight
