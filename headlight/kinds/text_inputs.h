// Settings of the text inputs of a model in training.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/kinds/model.h"

namespace headlight {

struct TextInputs {
  std::int64_t longest = 0;  ///< maximum length of a text in tokens
  bool types = false;        ///< whether token types are an input
  bool continued = false;    ///< whether the model continues texts, which are therefore padded on the left
};

/// Returns the text inputs of a model of texts, with or without regions. Any other kind of model causes an internal
/// error.
HEADLIGHT_API TextInputs TextInputsOf(const Model& model);

}  // namespace headlight
