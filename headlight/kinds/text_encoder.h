// The interface of bidirectional text encoders, for training, embedding, classification and inspection.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/context.h"
#include "headlight/nn/heads.h"

namespace headlight {

class HEADLIGHT_API TextEncoder : public Model, public TextHeads {
 public:
  static constexpr std::string_view kKind = "text encoder";

  /// Encodes ids and types [tokens] of the texts, packed, to [tokens, model]. If `types` is empty, all types are 0. A
  /// text's first token is at position `first_positions[text]`, or at 0 if `first_positions` is empty. Throws Error for
  /// an id or a type out of range, or a text that does not fit into the model's positions.
  virtual Tensor Encode(Context& context, std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                        const Sequences& texts, std::span<const std::int32_t> first_positions = {}) const = 0;

  struct Limits {
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  ///< the maximum length of a text in tokens
    std::int64_t types = 1;      ///< number of segment types (first text, second text); 0: types are ignored
    std::int32_t pad_id = 0;     ///< must not occur in texts
    std::int64_t model = 0;      ///< dimension of a state
    /// If true, Transformers counts positions from the first column of a padded row, not from the text's first token.
    bool padding_has_positions = true;
  };
  const Limits& limits() const { return limits_; }

  /// Returns true if the caller should pass the tokenizer's types to Encode. This requires a model with several types
  /// and a tokenizer that does not omit them.
  bool reads_types() const { return limits_.types > 1 && !leaves_out_types_; }
  /// Sets all types to 0, because the tokenizer's model_input_names lacks token_type_ids.
  void LeaveOutTypes() { leaves_out_types_ = true; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override;

  /// Returns the same model with other heads and the poolers that they require. The parameters are declared, but not
  /// initialized.
  virtual std::unique_ptr<TextEncoder> WithHeads(const TextHeadsConfig& heads) const = 0;

 protected:
  using Model::Model;

  Limits limits_;

 private:
  bool leaves_out_types_ = false;
};

/// Returns the encoder with `heads`. If `model` has a head with the same labels, the head is kept. Other heads are
/// initialized with the seed.
HEADLIGHT_API std::unique_ptr<TextEncoder> AddHeads(const TextEncoder& model, const TextHeadsConfig& heads,
                                                    std::uint64_t seed);

}  // namespace headlight
