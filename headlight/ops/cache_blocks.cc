#include "headlight/ops/cache_blocks.h"

#include "headlight/base/error.h"

namespace headlight::ops {

std::byte* CacheBlocks::entry(std::int32_t row, std::int32_t head) const {
  Line* const block = memory_[static_cast<std::size_t>(row / kernels::kBlockRows)].get();
  return reinterpret_cast<std::byte*>(block) + kernels::EntryOffset(row, head, row_bytes_ / heads_);
}

void CacheBlocks::Write(std::span<const std::int32_t> rows, std::int32_t all_rows, const Tensor& from,
                        std::int32_t heads) {
  Dispatch(from.dtype(), [&]<typename T>(T) {
    const Matrix<T> source = from.matrix<T>();
    const std::int64_t dim = source.columns / heads, entry_bytes = kernels::EntryBytes<T>(type_, dim);
    if (blocks_.empty()) {
      dtype_ = from.dtype();
      columns_ = source.columns;
      heads_ = heads;
      row_bytes_ = heads * entry_bytes;
      block_bytes_ = kernels::kBlockRows * row_bytes_;
    }
    Ensure(from.dtype() == dtype_ && source.columns == columns_ && heads == heads_ && dim * heads == columns_,
           "rows of {} numbers in {} heads for a cache of {} in {}", source.columns, heads, columns_, heads_);
    while (this->rows() < all_rows) {
      constexpr std::int64_t line = sizeof(Line);
      const auto lines = static_cast<std::size_t>((block_bytes_ + kernels::kBlockPadding + line - 1) / line);
      memory_.push_back(std::make_unique_for_overwrite<Line[]>(lines));
      blocks_.push_back(reinterpret_cast<const std::byte*>(memory_.back().get()));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0) continue;
      for (std::int32_t head = 0; head < heads; ++head)
        kernels::WriteEntry(type_, source.row(static_cast<std::int64_t>(i)) + head * dim, dim, entry(rows[i], head));
    }
  });
}

}  // namespace headlight::ops
