#include "headlight/ops/unfold.h"

#include "headlight/autograd/tape.h"

namespace headlight::ops {
namespace {

// Calls body(row, t, row of the neighbor) for every neighbor within the text.
void ForEachNeighbor(const Sequences& texts, std::int64_t width, const auto& body) {
  for (const Sequence& text : texts)
    for (std::int64_t row = text.begin; row < text.end(); ++row)
      for (std::int64_t t = 0; t < width; ++t)
        if (const std::int64_t other = row + t - width / 2; other >= text.begin && other < text.end())
          body(row, t, other);
}

}  // namespace

Tensor Unfold(const Tensor& x, const Sequences& texts, std::int64_t width) {
  Check(x.shape().rank() == 2 && width % 2 == 1 && width >= 1,
        "Unfold: the width must be odd, and x a matrix; they are {} and of shape {}", width, ToString(x.shape()));
  for (const Sequence& text : texts)
    Check(text.begin >= 0 && text.length >= 0 && text.end() <= x.rows(), "Unfold: a text is outside of the rows of {}",
          ToString(x.shape()));
  const Tensor y = Tensor::Zeros({x.rows(), x.columns() * width}, x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    ForEachNeighbor(texts, width, [&](std::int64_t row, std::int64_t t, std::int64_t other) {
      const T* const from = x.matrix<T>().row(other);
      T* const to = y.matrix<T>().row(row) + t;
      for (std::int64_t m = 0; m < x.columns(); ++m) to[m * width] = from[m];
    });
  });
  return Record(y, {&x}, [x = x.node(), texts, width](const Tensor& dy) {
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      const Matrix<T> dx = SumSlotFor(x).template matrix<T>();
      ForEachNeighbor(texts, width, [&](std::int64_t row, std::int64_t t, std::int64_t other) {
        const T* const from = dy.matrix<T>().row(row) + t;
        T* const to = dx.row(other);
        for (std::int64_t m = 0; m < dx.columns; ++m) to[m] += from[m * width];
      });
    });
  });
}

}  // namespace headlight::ops
