// Shared by the kinds of models that headlight forward runs: named tensors in and out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/sequences.h"
#include "headlight/io/safetensors.h"
#include "headlight/nn/attention_sink.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// The sentences of a padded batch of token ids, and their columns in it.
struct Padded {
  std::int64_t batch = 0, length = 0;
  std::vector<std::int32_t> ids;    // [tokens], packed
  Sequences sentences;              // one per row of the batch
  std::vector<std::int64_t> begin;  // each sentence's first column in the batch
};

// Throws Error where the file has other tensors than these.
void CheckInputs(const Safetensors& file, const std::vector<std::string_view>& known);

// Integers [batch, length]. Throws Error where the file's are something else.
Tensor ReadIntegers(const Safetensors& file, std::string_view name);

struct NamedTensors {
  std::map<std::string, Tensor> tensors;

  // One sentence's weights [1, heads, query, key] into the batch's [batch, heads, query length, key length].
  void AddAttention(const char* name, const LayerAttention& seen, const Padded& queries, const Padded& keys);
};

}  // namespace headlight
