// Settings of a model's text inputs during training.
#pragma once

#include <cstdint>

#include "headlight/base/export.h"
#include "headlight/kinds/model.h"

namespace headlight {

struct TextInputs {
  std::int64_t longest = 0;  ///< maximum length of a text in tokens
  bool types = false;        ///< if true, token types are an input
  bool continued = false;    ///< if true, the model continues texts, so they are padded on the left
};

/// Returns the text inputs of a model of texts, or of texts and regions. Other kinds of models cause an internal error.
HEADLIGHT_API TextInputs TextInputsOf(const Model& model);

}  // namespace headlight
