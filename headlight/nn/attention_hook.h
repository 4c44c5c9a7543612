// The attention weights that hooks receive during a forward pass.
#pragma once

#include <cstdint>
#include <functional>

#include "headlight/tensor/tensor.h"

namespace headlight {

/// The three kinds of attention of the Transformer (Vaswani et al., "Attention Is All You Need", 2017, section 3.2.3),
/// and three kinds of attention in text-image encoders: within the image, from text to image, and from image to text.
/// Attention within the text of such an encoder is encoder_self.
enum class AttentionKind { encoder_self, decoder_self, cross, image_self, text_to_image, image_to_text };

/// The kind and layer of an attention module.
struct AttentionSource {
  AttentionKind kind = AttentionKind::encoder_self;
  int layer = 0;
};

/// The weights of one attention layer for one sequence.
struct LayerAttention {
  AttentionKind kind = AttentionKind::encoder_self;
  int layer = 0;
  std::int32_t sequence = 0;  ///< index of the sequence in the batch
  Tensor weights;             ///< [1, heads, query, key]; each row of keys sums to 1
  /// The queries and keys [tokens, heads * head_dim] of the sequence, before any bias is added to the scores. They are
  /// empty if the scores have other terms (DeBERTa), if keys come from a cache, or if the sequence's rows are not
  /// contiguous.
  Tensor query = {}, key = {};
};
using AttentionHook = std::function<void(const LayerAttention&)>;

/// Receives the weights of an attention layer and the gradient of the loss with respect to them, which has the same
/// shape. Tape::Backward calls the hook when it reaches the layer, so the last layer comes first.
using AttentionGradientHook = std::function<void(const LayerAttention& seen, const Tensor& gradient)>;

/// The kinds of attention over residues in a structure prediction model (Jumper et al., "Highly accurate protein
/// structure prediction with AlphaFold", 2021, supplement, algorithms 7, 13, 14 and 22).
enum class ResidueAttentionKind { row, starting_node, ending_node, invariant_points };

/// Attention weights from residue to residue in one layer. For row attention, they are the weights of the alignment's
/// first row, the query sequence. For triangle attention, they are the mean over all pairs with the residue as starting
/// (or ending) node.
struct ResidueWeights {
  ResidueAttentionKind kind = ResidueAttentionKind::row;
  Tensor weights;  ///< [1, heads, residue, residue]; each row sums to 1
};
using ResidueHook = std::function<void(const ResidueWeights&)>;  ///< called once per layer, in order

}  // namespace headlight
