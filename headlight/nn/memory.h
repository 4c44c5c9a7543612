// The input of cross-attention.
#pragma once

#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// The encoder's output, to which a decoder's cross-attention attends.
struct Memory {
  Tensor rows;          ///< [source tokens, model]
  Sequences sequences;  ///< one entry per target sequence
};

}  // namespace headlight
