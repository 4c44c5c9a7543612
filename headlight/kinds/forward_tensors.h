// Inputs and outputs of Model::Forward: tensors under Transformers' names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/io/safetensors.h"
#include "headlight/nn/attention_hook.h"
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

// The sentences of integers [batch, length]. Without an input `mask_name` all tokens are read. Throws Error for what is
// no token, for a mask that is no run of 1, and for a sentence longer than `positions`.
Padded ReadPadded(const Safetensors& file, std::string_view ids_name, std::string_view mask_name,
                  std::int64_t vocabulary, std::int64_t positions);

// The packed entries of another input, such as token_type_ids, which must have the shape of the ids.
std::vector<std::int32_t> ReadBesideIds(const Safetensors& file, std::string_view name, const Padded& padded);

// Packed rows [tokens, width] as [batch, length, width], zero where there is padding.
Tensor Pad(const Tensor& rows, const Padded& padded);

struct NamedTensors {
  std::map<std::string, Tensor> tensors;

  // One sentence's weights [1, heads, query, key] into the batch's [batch, heads, query length, key length].
  void AddAttention(const char* name, const LayerAttention& seen, const Padded& queries, const Padded& keys);
  // The same of an encoder with a decoder, under Transformers' name of each kind.
  void AddAttention(const LayerAttention& seen, const Padded& source, const Padded& target);
};

}  // namespace headlight
