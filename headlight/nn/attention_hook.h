// The attention weights of a pass, as hooks receive them.
#pragma once

#include <cstdint>
#include <functional>

#include "headlight/tensor/tensor.h"

namespace headlight {

/// The three attentions of the Transformer (Vaswani et al., "Attention Is All You Need", 2017, section 3.2.3), and
/// three of encoders of text and images: within the image, from text to image and from image to text. Their text uses
/// encoder_self.
enum class AttentionKind { encoder_self, decoder_self, cross, image_self, text_to_image, image_to_text };

/// Identifies an attention of a model.
struct AttentionSource {
  AttentionKind kind = AttentionKind::encoder_self;
  int layer = 0;
};

/// The weights of one attention layer for one sequence.
struct LayerAttention {
  AttentionKind kind = AttentionKind::encoder_self;
  int layer = 0;
  std::int32_t sentence = 0;  ///< within the batch
  Tensor weights;             ///< [1, heads, query, key], each row of keys sums to 1
  /// [tokens, heads * head_dim] of the sequence, before any bias is added to the scores. Empty if the scores have other
  /// terms (DeBERTa's), if keys come from a cache, or if the sequence's rows are not contiguous.
  Tensor query = {}, key = {};
};
using AttentionHook = std::function<void(const LayerAttention&)>;

/// Receives the weights of an attention and the gradient of the loss with respect to them, of the same shape.
/// Tape::Backward calls it as it passes each attention, so the last layer comes first.
using AttentionGradientHook = std::function<void(const LayerAttention& seen, const Tensor& gradient)>;

/// The attentions over residues in a structure prediction model (Jumper et al., "Highly accurate protein structure
/// prediction with AlphaFold", 2021, supplement, algorithms 7, 13, 14 and 22).
enum class ResidueAttentionKind { row, starting_node, ending_node, invariant_points };

/// Attention weights from residue to residue in one layer. Row attention: those of the alignment's first row, the query
/// sequence. Triangle attention: the mean over all pairs with the residue as starting (or ending) node, which share
/// their third residues.
struct ResidueWeights {
  ResidueAttentionKind kind = ResidueAttentionKind::row;
  Tensor weights;  ///< [1, heads, residue, residue], each row sums to 1
};
using ResidueHook = std::function<void(const ResidueWeights&)>;  // layer after layer

}  // namespace headlight
