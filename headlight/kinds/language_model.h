// The interface of causal (decoder-only) language models, for training, generation, scoring and inspection.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/base/export.h"
#include "headlight/base/sequences.h"
#include "headlight/kinds/model.h"
#include "headlight/nn/context.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/soft_cap.h"

namespace headlight {

class HEADLIGHT_API LanguageModel : public Model {
 public:
  static constexpr std::string_view kKind = "language model";

  /// Returns the hidden states [tokens, model] of ids [tokens]. A token attends to itself and to the earlier tokens of
  /// its text. With a cache in the context, the ids are the next tokens of every text. Throws Error for an id outside
  /// the vocabulary or a text that does not fit into the model's positions.
  virtual Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const = 0;

  /// Returns the number of ids that can be predicted. It is less than the vocabulary size if some tokens only occur at
  /// the start of a text. If the model has no output projection, returns 0, and OutputWeight and Logits throw Error.
  std::int64_t outputs() const { return output_ == nullptr ? 0 : output_->shape[0]; }

  /// The output projection. The logits of the next token are hidden weight^T + bias, capped by logit_cap(). The bias
  /// may be empty.
  ops::Weight OutputWeight(Context& context) const {  ///< [outputs, model]
    Check(output_ != nullptr, "{}: this model has no head that predicts the next token", parameters_.source());
    return context.UseWeight(*output_);
  }
  virtual Tensor OutputBias(Context& /*context*/) const { return {}; }  ///< [outputs]
  /// The cap of the logits, as in ops::SoftCap (Gemma 2, section 2.2), or 0 if there is no cap.
  double logit_cap() const { return logit_cap_; }
  Tensor Logits(Context& context, const Tensor& hidden) const {
    return ops::SoftCap(ops::Linear(hidden, OutputWeight(context), OutputBias(context)), logit_cap_);
  }

  /// The divisor of the logits (Granite), by which Decode divides the last hidden states.
  double state_divisor() const { return state_divisor_; }
  /// The factor of ops::LoadBalancingLoss in training, or 0 if the model has no experts or is trained without the load
  /// balancing loss.
  double router_loss_factor() const { return router_loss_factor_; }

  struct Limits {
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  ///< the maximum length of a text in tokens
    std::int32_t end_id = -1;    ///< the last token of a text; -1 if there is none
    std::int32_t begin_id = -1;  ///< precedes a text in training; if -1, end_id precedes it
  };
  const Limits& limits() const { return limits_; }

  NamedTensors Forward(const Safetensors& inputs) const override;

  Json::Object Description() const override { return WithLayerSizes({{"positions", limits_.positions}}); }

 protected:
  using Model::Model;

  /// Adds the outputs of other heads to the outputs of Forward.
  virtual void AddOutputs(Context& /*context*/, const Tensor& /*hidden*/, const Sequences& /*texts*/,
                          NamedTensors& /*out*/) const {}

  Limits limits_;
  const Parameter* output_ = nullptr;
  double logit_cap_ = 0, state_divisor_ = 1, router_loss_factor_ = 0;
};

}  // namespace headlight
