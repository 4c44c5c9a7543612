// The inputs and outputs of Model::Forward. The tensors are named as in Transformers.
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

/// The sequences in a padded batch of token ids, and their positions in the batch.
struct Padded {
  std::int64_t batch = 0, length = 0;
  std::vector<std::int32_t> ids;    ///< [tokens], packed
  Sequences sequences;              ///< one per row of the batch
  std::vector<std::int64_t> begin;  ///< each sequence's first column in the batch
};

/// Throws Error if the file has tensors that are not in `known`.
void CheckInputs(const Safetensors& file, const std::vector<std::string_view>& known);

/// Reads integers [batch, length]. Throws Error for another dtype or shape.
Tensor ReadIntegers(const Safetensors& file, std::string_view name);

/// Reads the sequences in a padded batch [batch, length]. If the input `mask_name` is missing, all tokens are visible.
/// Throws Error for an invalid token, a mask whose ones are not contiguous, or a sequence longer than `positions`.
Padded ReadPadded(const Safetensors& file, std::string_view ids_name, std::string_view mask_name,
                  std::int64_t vocabulary, std::int64_t positions);

/// Reads another input with the shape of the ids, such as token_type_ids. Returns the packed entries of the tokens.
std::vector<std::int32_t> ReadLikeIds(const Safetensors& file, std::string_view name, const Padded& padded);

/// Pads packed rows [tokens, width] with 0 to [batch, length, width].
Tensor Pad(const Tensor& rows, const Padded& padded);

/// The outputs of Model::Forward by name.
struct NamedTensors {
  std::map<std::string, Tensor> tensors;

  /// Copies the attention weights of one sequence, [1, heads, query, key], to the weights of the batch, [batch, heads,
  /// query length, key length].
  void AddAttention(const char* name, const LayerAttention& seen, const Padded& queries, const Padded& keys);
  /// Copies the attention weights of one sequence of an encoder-decoder. The output has Transformers' name for the kind
  /// of attention.
  void AddAttention(const LayerAttention& seen, const Padded& source, const Padded& target);
};

}  // namespace headlight
