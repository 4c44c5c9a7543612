#include "headlight/ops/embedding.h"

#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/embedding.h"

namespace headlight::ops {

Tensor Embedding(const Tensor& table, std::span<const std::int32_t> ids, double scale, const Tensor& position_table,
                 std::span<const std::int32_t> positions, Dropout dropout) {
  Check(table.shape().rank() == 2 && (position_table.empty() || position_table.columns() == table.columns()),
        "Embedding: a table of shape {} and one for positions of shape {} do not fit", ToString(table.shape()),
        ToString(position_table.shape()));
  const auto tokens = static_cast<std::int64_t>(ids.size());
  const Tensor y = Tensor::Empty({tokens, table.columns()}, table.dtype());
  Dispatch(table.dtype(), [&]<typename T>(T) {
    kernels::EmbeddingRows<T>(ids, table.matrix<T>(), scale, positions,
                              position_table.empty() ? Matrix<const T>{} : Matrix<const T>(position_table.matrix<T>()),
                              dropout, y.matrix<T>());
  });
  if (!RequiresGradient({&table, &position_table})) return y;
  return Record(y, {&table, &position_table},
                [table = table.node(), position_table = position_table.node(), scale, dropout,
                 ids = std::vector(ids.begin(), ids.end()),
                 positions = std::vector(positions.begin(), positions.end())](const Tensor& dy) {
                  Dispatch(dy.dtype(), [&]<typename T>(T) {
                    if (table != nullptr)
                      kernels::EmbeddingRowsGradient<T>(ids, dy.matrix<T>(), scale, dropout,
                                                        SumSlotFor(table).template matrix<T>());
                    if (position_table != nullptr)
                      kernels::EmbeddingRowsGradient<T>(positions, dy.matrix<T>(), 1, dropout,
                                                        SumSlotFor(position_table).template matrix<T>());
                  });
                });
}

}  // namespace headlight::ops
