#include "headlight/ops/query_key_norm.h"

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/kernels/rms_norm.h"

namespace headlight::ops {
namespace {

// Calls step(first column, gain, run index) for each run of columns.
template <typename Step>
void ForRuns(std::int64_t columns, std::int64_t query_columns, const Tensor& query_gain, const Tensor& key_gain,
             const Step& step) {
  std::int64_t run = 0;
  for (std::int64_t column = 0; column < columns; ++run) {
    const Tensor& gain = column < query_columns ? query_gain : key_gain;
    step(column, gain, run);
    column += gain.elements();
  }
}

}  // namespace

Tensor QueryKeyNorm(const Tensor& x, std::int64_t query_columns, const Tensor& query_gain, const Tensor& key_gain,
                    double epsilon) {
  const std::int64_t of_query = query_gain.elements(), of_key = key_gain.elements();
  Check(x.shape().rank() == 2 && of_query > 0 && of_key > 0 && query_columns >= 0 && query_columns <= x.columns() &&
            query_columns % of_query == 0 && (x.columns() - query_columns) % of_key == 0,
        "QueryKeyNorm: gains of {} and {} numbers do not fit x {} with {} columns of queries", of_query, of_key,
        ToString(x.shape()), query_columns);
  const std::int64_t rows = x.rows(), columns = x.columns();
  const std::int64_t runs = query_columns / of_query + (columns - query_columns) / of_key;
  const Tensor y = Tensor::Empty(x.shape(), x.dtype());
  const bool wants_gradient = RequiresGradient({&x, &query_gain, &key_gain});
  const Tensor inverse_rms = wants_gradient ? Tensor::Empty({runs, rows}, x.dtype()) : Tensor();
  Dispatch(x.dtype(), [&]<typename T>(T) {
    ForRuns(columns, query_columns, query_gain, key_gain,
            [&](std::int64_t column, const Tensor& gain, std::int64_t run) {
              kernels::RmsNormRows<T>(x.matrix<T>().Columns(column, gain.elements()), gain.data<T>(), epsilon,
                                      y.matrix<T>().Columns(column, gain.elements()),
                                      wants_gradient ? inverse_rms.matrix<T>().row(run) : nullptr);
            });
  });
  if (!wants_gradient) return y;
  return Record(
      y, {&x, &query_gain, &key_gain},
      [x = x.Detached(), x_node = x.node(), query_columns, query_gain, key_gain, inverse_rms](const Tensor& dy) {
        const auto sum_of = [](const Tensor& gain) {
          return gain.node() != nullptr ? SumSlotFor(gain.node()) : Tensor::Zeros(gain.shape(), gain.dtype());
        };
        const Tensor d_query = sum_of(query_gain), d_key = sum_of(key_gain);
        const Tensor dx = Tensor::Empty(dy.shape(), dy.dtype());
        Dispatch(dy.dtype(), [&]<typename T>(T) {
          ForRuns(dy.columns(), query_columns, query_gain, key_gain,
                  [&](std::int64_t column, const Tensor& gain, std::int64_t run) {
                    const std::int64_t size = gain.elements();
                    const Tensor& d_gain = column < query_columns ? d_query : d_key;
                    kernels::RmsNormRowsGradient<T>(
                        x.matrix<T>().Columns(column, size), gain.data<T>(), inverse_rms.matrix<T>().row(run),
                        dy.matrix<T>().Columns(column, size), dx.matrix<T>().Columns(column, size), d_gain.data<T>());
                  });
        });
        Accumulate(x_node, dx);
      });
}

}  // namespace headlight::ops
