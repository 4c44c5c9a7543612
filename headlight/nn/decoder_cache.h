// A decoder's cache: the keys and values of each layer for the tokens decoded so far.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// A hypothesis is a list of rows, so that reordering beams moves indices, never keys and values, and beams share the
// rows of their common prefix. Rows are appended; when the capacity is reached, those that no hypothesis refers to are
// dropped: with beams, most.
struct HEADLIGHT_API DecoderCache {
  struct Layer {
    Tensor self;   // [capacity, 2 * width]: keys and values of the tokens decoded so far, by any hypothesis
    Tensor cross;  // [memory tokens, 2 * width]
  };
  std::vector<Layer> layers;
  std::vector<std::vector<std::int32_t>> rows;  // of each hypothesis, in the order of its tokens
  Sequences memory;                             // of each hypothesis, the rows of `cross`; beams share theirs
  std::int32_t used = 0, capacity = 0;          // rows of `self` in use, and to allocate

  // The current pass, as attention wants it.
  Sequences keys;  // of each hypothesis, where its rows stand in key_rows
  std::vector<std::int32_t> key_rows;
  std::int32_t first_new = 0;  // the row of this pass's first token

  // Takes rows for the next tokens of every hypothesis (`sentences`, packed), which every layer then writes; the
  // position of each hypothesis's first of them, or empty where all stand at 0.
  std::vector<std::int32_t> Append(const Sequences& sentences);

  // Hypothesis i becomes a continuation of what was hypothesis from[i]; those not named are dropped.
  void Select(std::span<const std::int32_t> from);

  // Every hypothesis loses its last `tokens` tokens.
  void Forget(std::size_t tokens);

  // The tokens decoded so far of each hypothesis.
  std::vector<std::int32_t> lengths() const;

  // `layer`'s self keys and values with room for all rows in use, of this width and type; its contents are kept.
  const Tensor& SelfRows(std::size_t layer, std::int64_t width, DType dtype);

 private:
  void DropUnusedRows();
};

}  // namespace headlight
