#include "headlight/ops/head_groups.h"

#include <algorithm>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/rows.h"

namespace headlight::ops {
namespace {

struct HeadGroups {
  std::int64_t key_heads, group, head_dim;

  // Calls run(first grouped column, first ungrouped column, columns) for each run of columns that stay together.
  template <typename Run>
  void ForRuns(const Run& run) const {
    const std::int64_t keys = key_heads * group * head_dim, values = keys + key_heads * head_dim;
    for (std::int64_t head = 0; head < key_heads; ++head) {
      const std::int64_t begin = head * (group + 2) * head_dim;
      run(begin, head * group * head_dim, group * head_dim);
      run(begin + group * head_dim, keys + head * head_dim, head_dim);
      run(begin + (group + 1) * head_dim, values + head * head_dim, head_dim);
    }
  }
};

// Reorders the columns from grouped to ungrouped or, if `back` is true, from ungrouped to grouped.
Tensor Reordered(const Tensor& x, const HeadGroups& groups, bool back) {
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  Dispatch(x.dtype(), [&]<typename T>(T) {
    const Matrix<T> from = x.matrix<T>(), to = y.matrix<T>();
    ForRowChunks(from.rows, from.columns, [&](std::int64_t first, std::int64_t rows) {
      for (std::int64_t row = first; row < first + rows; ++row)
        groups.ForRuns([&](std::int64_t grouped, std::int64_t ungrouped, std::int64_t count) {
          std::copy_n(from.row(row) + (back ? ungrouped : grouped), count, to.row(row) + (back ? grouped : ungrouped));
        });
    });
  });
  return y;
}

}  // namespace

Tensor UngroupHeads(const Tensor& x, std::int64_t key_heads, std::int64_t group, std::int64_t head_dim) {
  const HeadGroups groups{key_heads, group, head_dim};
  Check(x.shape().rank() == 2 && x.columns() == key_heads * (group + 2) * head_dim,
        "UngroupHeads: x {} has no {} key heads with {} query heads of {} each", ToString(x.shape()), key_heads, group,
        head_dim);
  return Record(Reordered(x, groups, /*back=*/false), {&x},
                [x = x.node(), groups](const Tensor& dy) { Accumulate(x, Reordered(dy, groups, /*back=*/true)); });
}

}  // namespace headlight::ops
