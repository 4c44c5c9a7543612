#include "headlight/ops/view.h"

#include "headlight/autograd/tape.h"

namespace headlight::ops {

Tensor Columns(const Tensor& x, std::int64_t begin, std::int64_t count) {
  return RecordView(x.ViewColumns(begin, count), x,
                    [begin, count](const Tensor& dx) { return dx.ViewColumns(begin, count); });
}

Tensor Reshape(const Tensor& x, const Shape& shape) {
  return RecordView(x.ViewAs(shape), x, [shape](const Tensor& dx) { return dx.ViewAs(shape); });
}

}  // namespace headlight::ops
