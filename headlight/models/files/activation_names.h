// What Hugging Face's configurations call activations.
#pragma once

#include "headlight/base/json.h"
#include "headlight/kernels/activation.h"

namespace headlight {

// Throws Error naming the file and the key for a name that is not known.
Activation ActivationNamed(const JsonView& name);

const char* NameOf(Activation activation);

}  // namespace headlight
