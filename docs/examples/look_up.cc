// Shows attention as a look-up. A query is compared with every key. The result is the mean of the values, weighted by
// the similarity of their keys.
#include <fmt/format.h>

#include "docs/examples/image.h"
#include "headlight/nn/attention.h"

using namespace headlight;

namespace {

// [key, head_dim]. The third and the fourth key are equal.
const Tensor keys = Tensor::From<float>({10, 0, 0, 0, 10, 0, 0, 0, 10, 0, 0, 10}, {4, 3});
// [key, value_dim]
const Tensor values = Tensor::From<float>({1, 0, 1, 10, 0, 2, 100, 5, 0, 1000, 6, 0}, {4, 3});

// Returns the results [query, value_dim] for the queries [query, head_dim].
Tensor LookUp(const Tensor& queries) {
  Context context;
  const ScaledDotProductAttention attention;
  const auto rows = static_cast<std::int32_t>(queries.rows());
  return attention(context, queries, keys, values, {{0, rows}}, {{0, 4}});
}

void Show(const Tensor& queries) {
  const Tensor found = LookUp(queries);
  for (std::int64_t row = 0; row < queries.rows(); ++row)
    fmt::print("{:12} gives {}\n", Row(queries.ViewRows(row, 1).ToVector<float>()),
               Row(found.ViewRows(row, 1).ToVector<float>()));
}

}  // namespace

int main() {
  Show(Tensor::From<float>({0, 10, 0}, {1, 3}));
  Show(Tensor::From<float>({0, 0, 10}, {1, 3}));
  Show(Tensor::From<float>({10, 10, 0}, {1, 3}));
  fmt::print("all three at once:\n");
  Show(Tensor::From<float>({0, 10, 0, 0, 0, 10, 10, 10, 0}, {3, 3}));
}
