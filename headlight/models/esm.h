// ESM-2 (Lin et al., "Evolutionary-scale prediction of atomic-level protein structure with a language model", 2023),
// and ESM-1b (Rives et al., 2021). Both are BERT encoders with pre-norm layers, trained on masked residues of proteins.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "headlight/base/export.h"
#include "headlight/kinds/layer_sizes.h"
#include "headlight/models/bert_descendant.h"
#include "headlight/nn/rotary.h"

namespace headlight {

/// The defaults are the settings of ESM-2 with 650 million parameters. Missing keys in a file have the same defaults as
/// in Transformers.
struct EsmConfig {
  /// `positions` is the number of rows of the table of absolute positions. A sequence has at most positions - pad_id -
  /// 1 tokens.
  BertConfig encoder = {.model = 1280,
                        .layers = 33,
                        .heads = 20,
                        .ffn = 5120,
                        .dropout = 0,
                        .attention_dropout = 0,
                        .norm_epsilon = 1e-5,
                        .vocabulary = 33,
                        .positions = 1026,
                        .types = 1,
                        .pad_id = 1,
                        .on_top = {.masked_words = true},
                        .scope = "esm"};
  bool rotary = true;  ///< true in ESM-2; ESM-1b has absolute positions
  double rotary_base = 10000;
  bool norm_before = false;   ///< if true, embeddings are normalized, as in ESM-1b
  bool token_dropout = true;  ///< if true, mask embeddings are zero and the other embeddings are scaled to compensate
  std::int32_t mask_id = 32;
  bool contacts = true;  ///< if true, there is a contact head
};
HEADLIGHT_API void Describe(ConfigTable& table, EsmConfig& config);
/// Functions that BertDescendant requires.
BertConfig& BertOf(EsmConfig& config);
TextHeadsLayout HeadsOf(const EsmConfig& config);
OtherTensors OthersOf(const EsmConfig& config);

/// Describes the settings of the language model, which ESMFold shares.
void DescribeEsm(ConfigTable& table, EsmConfig& config);

/// The embeddings and the Transformer layers.
class HEADLIGHT_API EsmEncoder {
 public:
  EsmEncoder(const Scope& scope, const EsmConfig& config);

  /// Encodes texts (see TextEncoder::Encode). If `seen` is not empty, it is called with the states before each layer,
  /// and then with the states after the last norm.
  Tensor operator()(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
                    std::span<const std::int32_t> first_positions = {},
                    const std::function<void(const Tensor& states)>& seen = {}) const;

  std::int64_t positions() const { return longest_; }  // maximum number of tokens of a text
  const TokenEmbedding& tokens() const { return tokens_; }
  /// Return the contact head's weight [1, layers * heads] and bias [1], or null if there is no contact head.
  const Parameter* contact_weight() const { return contact_weight_; }
  const Parameter* contact_bias() const { return contact_bias_; }

 private:
  Tensor Embed(Context& context, std::span<const std::int32_t> ids, const Sequences& texts,
               std::span<const std::int32_t> first_positions) const;

  EsmConfig config_;
  std::int64_t longest_;
  TokenEmbedding tokens_;
  const Parameter* positions_ = nullptr;  // absolute positional embeddings
  std::optional<RotaryPositions> rotary_;
  std::optional<LayerNorm> norm_before_, norm_after_;
  std::deque<EncoderLayer> layers_;
  const Parameter *contact_weight_ = nullptr, *contact_bias_ = nullptr;
};

class HEADLIGHT_API Esm : public BertDescendant<Esm, EsmConfig> {
 public:
  explicit Esm(const EsmConfig& config);

  Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                const Sequences& texts, std::span<const std::int32_t> first_positions = {}) const override;

  /// Returns the contact probability of each pair of residues (C beta atoms within 8 angstrom), [tokens - 2, tokens -
  /// 2] in float32. Contacts are predicted by a logistic regression on the symmetrized attention maps of all heads,
  /// with average product correction (Rao et al., "Transformer protein language models are unsupervised structure
  /// learners", 2021). `ids` [tokens] is one sequence with its first and last token, which are not residues. Throws
  /// Error for fewer than 3 tokens, without a contact head, or if the head's weights are all zero.
  Tensor Contacts(std::span<const std::int32_t> ids) const;
  bool has_contacts() const { return encoder_.contact_weight() != nullptr; }

  const EsmConfig& config() const { return config_; }

 protected:
  Json::Object LayerSizes() const override { return SizesOfStack(config_.encoder); }

 private:
  EsmEncoder encoder_;
};

}  // namespace headlight
