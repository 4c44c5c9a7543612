#include "headlight/ops/weighted_rows.h"

#include <vector>

#include "headlight/autograd/tape.h"

namespace headlight::ops {

Tensor WeightedRows(const Tensor& table, std::span<const std::int32_t> rows, std::span<const double> weights,
                    std::int64_t terms) {
  Check(table.shape().rank() == 2 && terms >= 1 && rows.size() == weights.size() && std::ssize(rows) % terms == 0,
        "WeightedRows: {} rows and {} weights are not {} for each result", rows.size(), weights.size(), terms);
  for (const std::int32_t row : rows)
    Check(row >= 0 && row < table.rows(), "WeightedRows: row {} is outside of {}", row, ToString(table.shape()));
  const std::int64_t results = std::ssize(rows) / terms, columns = table.columns();
  const Tensor y = Tensor::Zeros({results, columns}, table.dtype());
  // Calls body(result, term's row, its weight).
  const auto for_each = [terms](std::span<const std::int32_t> of, std::span<const double> by, const auto& body) {
    for (std::size_t i = 0; i < of.size(); ++i) body(static_cast<std::int64_t>(i) / terms, of[i], by[i]);
  };
  Dispatch(table.dtype(), [&]<typename T>(T) {
    for_each(rows, weights, [&](std::int64_t result, std::int32_t row, double weight) {
      const T* const from = table.matrix<T>().row(row);
      T* const to = y.matrix<T>().row(result);
      for (std::int64_t c = 0; c < columns; ++c) to[c] += static_cast<T>(weight) * from[c];
    });
  });
  if (!WantsGradient({&table})) return y;
  return Record(y, {&table},
                [table = table.node(), rows = std::vector(rows.begin(), rows.end()),
                 weights = std::vector(weights.begin(), weights.end()), columns, for_each](const Tensor& dy) {
                  Dispatch(dy.dtype(), [&]<typename T>(T) {
                    const Matrix<T> d_table = SumSlotFor(table).template matrix<T>();
                    for_each(rows, weights, [&](std::int64_t result, std::int32_t row, double weight) {
                      const T* const from = dy.matrix<T>().row(result);
                      T* const to = d_table.row(row);
                      for (std::int64_t c = 0; c < columns; ++c) to[c] += static_cast<T>(weight) * from[c];
                    });
                  });
                });
}

}  // namespace headlight::ops
