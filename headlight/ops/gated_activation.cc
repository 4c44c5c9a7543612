#include "headlight/ops/gated_activation.h"

#include "headlight/autograd/tape.h"

namespace headlight::ops {

Tensor GatedActivation(Activation activation, const Tensor& both, GateHalf gate) {
  Check(both.shape().rank() == 2 && both.columns() % 2 == 0, "GatedActivation: {} is not two halves of columns",
        ToString(both.shape()));
  const std::int64_t ffn = both.columns() / 2;
  const auto half = [ffn, gate](const Tensor& of, bool is_gate) {
    return of.ViewColumns(is_gate == (gate == GateHalf::first) ? 0 : ffn, ffn);
  };
  const Tensor y = Tensor::Empty({both.rows(), ffn}, both.dtype());
  Dispatch(both.dtype(), [&]<typename T>(T) {
    kernels::GatedRows<T>(activation, half(both, true).matrix<T>(), half(both, false).matrix<T>(), y.matrix<T>());
  });
  return Record(y, {&both}, [activation, both = both.Detached(), node = both.node(), half](const Tensor& dy) {
    const Tensor gradient = Tensor::Empty(both.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      kernels::GatedRowsGradient<T>(activation, half(both, true).matrix<T>(), half(both, false).matrix<T>(),
                                    dy.matrix<T>(), half(gradient, true).matrix<T>(),
                                    half(gradient, false).matrix<T>());
    });
    Accumulate(node, gradient);
  });
}

}  // namespace headlight::ops
