// What cross-attention reads.
#pragma once

#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// The encoder's output, which a decoder's cross-attention reads.
struct Memory {
  Tensor rows;          // [source tokens, model]
  Sequences sentences;  // one entry per target sentence
};

}  // namespace headlight
