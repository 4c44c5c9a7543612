#include "headlight/train/objectives/distillation_head.h"

#include <string>

#include "headlight/ops/linear.h"
#include "headlight/ops/rms_norm.h"

namespace headlight {

DistillationHead::DistillationHead(Parameters& parameters, std::int64_t inputs, const DistillationHeadConfig& config) {
  const Scope scope(parameters, "distillation_head");
  layers_.emplace_back(scope, std::vector<std::string>{"mlp.0"}, inputs, config.hidden);
  layers_.emplace_back(scope, std::vector<std::string>{"mlp.2"}, config.hidden, config.hidden);
  layers_.emplace_back(scope, std::vector<std::string>{"mlp.4"}, config.hidden, config.bottleneck);
  prototypes_ = &scope.DeclareMatrix({"last_layer.weight"}, {config.prototypes, config.bottleneck});
  for (Parameter& parameter : parameters.all())
    if (parameter.names.front().starts_with("distillation_head.")) parameter.storage.saved = false;
}

Tensor DistillationHead::operator()(Context& context, const Tensor& states, bool prototypes_learn) const {
  const Tensor inner = layers_[1](context, layers_[0](context, states, Activation::gelu), Activation::gelu);
  const Tensor prototypes = context.Use(*prototypes_);
  return ops::Linear(
      ops::UnitRows(layers_[2](context, inner)),
      {.value = ops::UnitRows(prototypes_learn ? prototypes : prototypes.Detached()), .compute = prototypes_->compute});
}

}  // namespace headlight
