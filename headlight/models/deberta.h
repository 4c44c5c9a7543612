// DeBERTa (He et al., "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", 2021), a variant of BERT with
// separate vectors for the content and the position of a token. This file contains the code that version 1 (deberta.cc)
// shares with versions 2 and 3 (deberta_v2.cc).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "headlight/kinds/text_encoder.h"
#include "headlight/models/bert_descendant.h"
#include "headlight/nn/layers.h"

namespace headlight {

/// The defaults are the settings of the paper's DeBERTa-base.
struct DebertaConfig {
  std::string family = "Deberta";  ///< prefix of the architecture's name
  /// The settings shared with BERT. The number of segment types may be 0.
  BertConfig bert = {.norm_epsilon = 1e-7, .vocabulary = 50265, .types = 0, .on_top = {}, .scope = "deberta"};
  bool absolute_positions = false;  ///< if true, absolute positions are added to the embeddings, as in BERT
  bool relative_positions = true;
  bool content_to_position = true, position_to_content = true;
  std::int64_t farthest = 512;    ///< distances larger than this share one vector
  bool own_masked_words = false;  ///< if true, the masked-word head has DeBERTa's names instead of BERT's
  double pooler_dropout = 0;      ///< dropout rate of the pooler for sequence classification
  Activation pooler_activation = Activation::gelu;
};

/// Computes LayerNorm(x + W a) from the attention output a, then LayerNorm(x + FeedForward(x)).
class DebertaSublayers {
 public:
  DebertaSublayers(const Scope& scope, const DebertaConfig& config);
  Tensor operator()(Context& context, const Tensor& x, const Tensor& heads) const;

 private:
  double dropout_;
  Linear output_;
  LayerNorm attention_norm_;
  FeedForward feed_forward_;
  LayerNorm feed_forward_norm_;
};

void Describe(ConfigTable& table, DebertaConfig& config);
void DescribeDeberta(ConfigTable& table, DebertaConfig& config);  ///< describes all settings except the model type
inline BertConfig& BertOf(DebertaConfig& config) { return config.bert; }
TextHeadsLayout HeadsOf(const DebertaConfig& config);
OtherTensors OthersOf(const DebertaConfig& config);
/// Returns true if the masked-word head in a file has DeBERTa's names.
bool OwnMaskedWords(const Safetensors& weights);

}  // namespace headlight
