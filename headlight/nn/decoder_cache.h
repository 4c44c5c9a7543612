// What a decoder remembers between tokens: the keys and values of each layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// A hypothesis is the list of rows that its tokens were written to, and beams that part share the rows of what they
// have in common. Keys and values are appended; when there is no more room, the rows that no hypothesis has any longer
// make it, which with beams are most.
struct HEADLIGHT_API DecoderCache {
  struct Layer {
    Tensor self;   // [capacity, 2 * width]: keys and values of the tokens decoded so far, by any hypothesis
    Tensor cross;  // [memory tokens, 2 * width]
  };
  std::vector<Layer> layers;
  std::vector<std::vector<std::int32_t>> rows;  // of each hypothesis, in the order of its tokens
  Sequences memory;                             // of each hypothesis, the rows of `cross`; beams share theirs
  std::int32_t used = 0, capacity = 0;          // rows of `self` that are taken, and that there are to be

  // The current pass, as attention wants it.
  Sequences keys;  // of each hypothesis, where its rows stand in key_rows
  std::vector<std::int32_t> key_rows;
  std::int32_t first_new = 0;  // the row of this pass's first token

  // Takes rows for the next tokens of every hypothesis (`sentences`, packed), which every layer then writes; the
  // position of each hypothesis's first of them, or nothing where all stand at 0.
  std::vector<std::int32_t> Append(const Sequences& sentences);

  // Hypothesis i becomes a continuation of what was hypothesis from[i]; those not named are forgotten.
  void Select(std::span<const std::int32_t> from);

  // Every hypothesis loses its last `tokens` tokens.
  void Forget(std::size_t tokens);

  // The tokens decoded so far of each hypothesis.
  std::vector<std::int32_t> lengths() const;

  // `layer`'s self keys and values with room for all rows taken, of this width and type; what was in it is kept.
  const Tensor& SelfRows(std::size_t layer, std::int64_t width, DType dtype);

 private:
  void DropUnusedRows();
};

}  // namespace headlight
