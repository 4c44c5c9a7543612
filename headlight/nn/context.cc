#include "headlight/nn/context.h"

#include "headlight/ops/view.h"

namespace headlight {

Tensor Context::Use(const Parameter& parameter) const {
  return tape == nullptr || parameter.gradient.empty() ? parameter.value
                                                       : tape->Watch(parameter.value, parameter.gradient);
}

ops::Weight Context::UseWeight(const Parameter& parameter) const {
  if (draft) return {.value = {}, .packed = &parameter.draft, .compute = parameter.draft.compute()};
  ops::Weight weight{.value = Use(parameter), .compute = parameter.compute};
  if (parameter.shape.rank() > 2 && !weight.value.empty())
    weight.value = ops::Reshape(weight.value, parameter.matrix_shape());
  if (parameter.packed.columns() != 0) weight.packed = &parameter.packed;
  return weight;
}

Dropout Context::NextDropout(double probability) {
  if (!training) return {};
  return {probability, MixBits(training->seed + MixBits(++dropouts_))};
}

}  // namespace headlight
