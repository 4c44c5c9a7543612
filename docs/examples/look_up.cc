// Attention as a look-up: a query is compared with every key, and gets the mean of the values, weighted by the match.
#include <fmt/format.h>

#include "docs/examples/image.h"
#include "headlight/nn/attention.h"

using namespace headlight;

namespace {

// [key, head_dim]; the third and the fourth are the same.
const Tensor keys = Tensor::From<float>({10, 0, 0, 0, 10, 0, 0, 0, 10, 0, 0, 10}, {4, 3});
// [key, value_dim]
const Tensor values = Tensor::From<float>({1, 0, 1, 10, 0, 2, 100, 5, 0, 1000, 6, 0}, {4, 3});

// The results of the queries [query, head_dim]: [query, value_dim].
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
