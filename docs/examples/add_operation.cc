// Defines a new operation with its value and its gradient, and checks the gradient.
#include <fmt/format.h>

#include "headlight/autograd/gradient_check.h"
#include "headlight/autograd/tape.h"

namespace headlight::ops {

// Computes x * x element by element.
Tensor Square(const Tensor& x) {
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    const std::span<T> from = x.span<T>(), to = y.span<T>();
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] * from[i];
  });
  return Record(y, {&x}, [to = x.node(), x = x.Detached()](const Tensor& dy) {
    const Tensor dx = Tensor::Empty(x.shape(), x.dtype());
    Dispatch(x.dtype(), [&]<typename T>(T) {
      const std::span<T> from = x.span<T>(), flow = dy.span<T>(), slope = dx.span<T>();
      for (std::size_t i = 0; i < from.size(); ++i) slope[i] = 2 * from[i] * flow[i];
    });
    Accumulate(to, dx);
  });
}

}  // namespace headlight::ops

int main() {
  using namespace headlight;
  Tape tape;
  const Tensor x = tape.Watch(Tensor::From<float>({3}, {1}));
  tape.Backward(ops::Square(x));
  fmt::print("the slope of x * x at 3 is {}\n", tape.GradientOf(x).data<float>()[0]);

  const std::string wrong =
      CheckGradients([](const std::vector<Tensor>& in) { return ops::Square(in[0]); }, {RandomTensor({2, 3}, 1)});
  fmt::print("against finite differences: {}\n", wrong.empty() ? "it agrees" : wrong);
}
