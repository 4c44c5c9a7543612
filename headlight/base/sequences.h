// Packed rows: a batch of sentences is its tokens one after another, without padding, and this says where each begins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headlight {

struct Sequence {
  std::int32_t begin = 0, length = 0;  // rows
  std::int32_t end() const { return begin + length; }
  bool operator==(const Sequence&) const = default;
};

// One entry a sentence. Several entries may name the same rows: the beams of a sentence share its keys.
using Sequences = std::vector<Sequence>;

// Sentences of these lengths, one directly after another.
inline Sequences PackedSequences(std::span<const std::int32_t> lengths) {
  Sequences sequences;
  sequences.reserve(lengths.size());
  std::int32_t begin = 0;
  for (const std::int32_t length : lengths) {
    sequences.push_back({begin, length});
    begin += length;
  }
  return sequences;
}

}  // namespace headlight
