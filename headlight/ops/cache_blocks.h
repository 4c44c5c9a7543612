// The memory of a decoder's cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/kernels/cache_entries.h"
#include "headlight/tensor/tensor.h"

namespace headlight::ops {

/// Rows of keys or values, in blocks of kernels::kBlockRows rows. Blocks are never moved in memory.
class HEADLIGHT_API CacheBlocks {
 public:
  explicit CacheBlocks(kernels::CacheType type = kernels::CacheType::unrounded) : type_(type) {}

  /// Stores row i of `from` [rows, heads * dim] as row rows[i], unless rows[i] is negative. Allocates blocks for at
  /// least `all_rows` rows. Every call must have the same dtype, columns and heads.
  void Write(std::span<const std::int32_t> rows, std::int32_t all_rows, const Tensor& from, std::int32_t heads);

  kernels::CacheType type() const { return type_; }
  DType dtype() const { return dtype_; }  ///< dtype of the written rows
  std::int64_t columns() const { return columns_; }
  std::int64_t rows() const { return std::ssize(blocks_) * kernels::kBlockRows; }
  std::span<const std::byte* const> blocks() const { return blocks_; }
  std::byte* entry(std::int32_t row, std::int32_t head) const;
  std::int64_t row_bytes() const { return row_bytes_; }  ///< 0 until the first Write
  std::int64_t bytes() const { return std::ssize(blocks_) * block_bytes_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  kernels::CacheType type_;
  DType dtype_ = DType::float32;
  std::int64_t columns_ = 0, row_bytes_ = 0, block_bytes_ = 0;
  std::int32_t heads_ = 0;
  std::vector<std::unique_ptr<Line[]>> memory_;
  std::vector<const std::byte*> blocks_;  // pointers to memory_
};

}  // namespace headlight::ops
