#include "headlight/ops/weighted_rows.h"

#include <algorithm>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/parallel.h"

namespace headlight::ops {
namespace {

constexpr std::int64_t kRowsAtOnce = 16, kColumnsAtOnce = 64;  // rows and columns that a thread processes at a time

void CheckRows(const Tensor& table, std::span<const std::int32_t> rows) {
  for (const std::int32_t row : rows)
    Check(row >= 0 && row < table.rows(), "WeightedRows: row {} is outside of {}", row, ToString(table.shape()));
}

// Splits [0, count) into ranges of `at_once` indices and calls body(begin, end) for each range, in parallel.
template <typename Body>
void ForRanges(std::int64_t count, std::int64_t at_once, const Body& body) {
  ParallelFor((count + at_once - 1) / at_once,
              [&](std::int64_t i) { body(i * at_once, std::min(count, (i + 1) * at_once)); });
}

}  // namespace

Tensor WeightedRows(const Tensor& table, std::span<const std::int32_t> rows, std::span<const double> weights,
                    std::int64_t terms) {
  Check(table.shape().rank() == 2 && terms >= 1 && rows.size() == weights.size() && std::ssize(rows) % terms == 0,
        "WeightedRows: {} rows and {} weights are not {} for each result", rows.size(), weights.size(), terms);
  CheckRows(table, rows);
  const std::int64_t results = std::ssize(rows) / terms, columns = table.columns();
  const Tensor y = Tensor::Zeros({results, columns}, table.dtype());
  // Calls body(result, table row, weight) for each term.
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
  if (!RequiresGradient({&table})) return y;
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

Tensor WeightedRows(const Tensor& table, std::span<const std::int32_t> rows, const Tensor& weights) {
  Check(table.shape().rank() == 2 && weights.shape().rank() == 2 && std::ssize(rows) == weights.elements() &&
            table.dtype() == weights.dtype(),
        "WeightedRows: {} rows do not fit weights of shape {}", rows.size(), ToString(weights.shape()));
  CheckRows(table, rows);
  const std::int64_t results = weights.rows(), terms = weights.columns(), columns = table.columns();
  const Tensor y = Tensor::Zeros({results, columns}, table.dtype());
  Dispatch(table.dtype(), [&]<typename T>(T) {
    ForRanges(results, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin * terms; i < end * terms; ++i) {
        const T* const from = table.matrix<T>().row(rows[static_cast<std::size_t>(i)]);
        const T weight = weights.matrix<T>().row(i / terms)[i % terms];
        T* const to = y.matrix<T>().row(i / terms);
        for (std::int64_t c = 0; c < columns; ++c) to[c] += weight * from[c];
      }
    });
  });
  if (!RequiresGradient({&table, &weights})) return y;
  return Record(
      y, {&table, &weights},
      [table = table.Detached(), table_node = table.node(), weights = weights.Detached(), weights_node = weights.node(),
       rows = std::vector(rows.begin(), rows.end()), results, terms, columns](const Tensor& dy) {
        Dispatch(dy.dtype(), [&]<typename T>(T) {
          if (weights_node != nullptr) {
            const Matrix<T> d_weights = SumSlotFor(weights_node).template matrix<T>();
            ForRanges(results, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t i = begin * terms; i < end * terms; ++i) {
                const T* const row = table.matrix<T>().row(rows[static_cast<std::size_t>(i)]);
                const T* const d_result = dy.matrix<T>().row(i / terms);
                T sum = 0;
                for (std::int64_t c = 0; c < columns; ++c) sum += d_result[c] * row[c];
                d_weights.row(i / terms)[i % terms] += sum;
              }
            });
          }
          if (table_node == nullptr) return;
          const Matrix<T> d_table = SumSlotFor(table_node).template matrix<T>();
          // Threads divide the columns, because several results may share a row.
          ForRanges(columns, kColumnsAtOnce, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = 0; i < results * terms; ++i) {
              const T* const d_result = dy.matrix<T>().row(i / terms);
              const T weight = weights.matrix<T>().row(i / terms)[i % terms];
              T* const to = d_table.row(rows[static_cast<std::size_t>(i)]);
              for (std::int64_t c = begin; c < end; ++c) to[c] += weight * d_result[c];
            }
          });
        });
      });
}

}  // namespace headlight::ops
