// The attention weights of a pass, as those who look inside a model receive them.
#pragma once

#include <cstdint>
#include <functional>

#include "headlight/tensor/tensor.h"

namespace headlight {

// The three attentions of the Transformer (Vaswani et al., "Attention Is All You Need", 2017, section 3.2.3), and those
// that an encoder of texts with images has besides encoder_self, which is that of its text: within the image, and
// from each of the two to the other.
enum class AttentionKind { encoder_self, decoder_self, cross, image_self, text_to_image, image_to_text };

/// Which of a model's attentions it is.
struct AttentionSource {
  AttentionKind kind = AttentionKind::encoder_self;
  int layer = 0;
};

// The weights of one attention layer for one sentence.
struct LayerAttention {
  AttentionKind kind = AttentionKind::encoder_self;
  int layer = 0;
  std::int32_t sentence = 0;  // within the batch
  Tensor weights;             // [1, heads, query, key], each row of keys sums to 1
  // [tokens, heads * head_dim] of the sentence, as they are multiplied, before any bias. Empty where other terms than a
  // bias are added (DeBERTa's), and where the keys come from a cache or lie apart.
  Tensor query = {}, key = {};
};
using AttentionSink = std::function<void(const LayerAttention&)>;

// Receives, as Tape::Backward passes an attention, its weights and the loss's gradient with respect to them, of the
// same shape: the last layer's first.
using AttentionGradientSink = std::function<void(const LayerAttention& seen, const Tensor& gradient)>;

// The attentions over residues of a model of protein structures (Jumper et al., "Highly accurate protein structure
// prediction with AlphaFold", 2021, supplement, algorithms 7, 13, 14 and 22).
enum class ResidueAttentionKind { row, starting_node, ending_node, invariant_points };

// Where each residue looks, in one layer: of row attention in the alignment's first row, the chain itself. Of triangle
// attention the mean over the pairs that a residue is the starting, or the ending node of, which all look at the same
// third residues.
struct ResidueLook {
  ResidueAttentionKind kind = ResidueAttentionKind::row;
  Tensor weights;  // [1, heads, residue, residue], each row sums to 1
};
using ResidueSink = std::function<void(const ResidueLook&)>;  // layer after layer

}  // namespace headlight
