// Matrix products. (oneDNN, measured on the same shapes, is as fast with many rows and slower with few. It copies some
// matrices and is not batch-invariant: the sums of a row depend on the number of rows.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/base/gguf.h"
#include "headlight/base/matrix.h"
#include "headlight/kernels/activation.h"

namespace headlight::kernels {

/// True if this processor supports products of this type.
HEADLIGHT_API bool CpuHas(Compute compute);

/// The right-hand side B of a product, packed in panels of 64 columns (kernels/panel_product.h).
template <typename T>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Allocates the panels without filling them.
  PackedMatrix(std::int64_t rows, std::int64_t columns, Compute compute = Compute::float32);
  /// The same for blocks: `types` has the type of each panel.
  PackedMatrix(std::int64_t rows, std::int64_t columns, std::span<const GgufType> types);

  /// Packs B = source or, if `transposed`, B = source^T; the shape must fit. Column j is multiplied by factors[j],
  /// unless that is null.
  void Pack(Matrix<const T> source, bool transposed, const T* factors = nullptr);
  /// Packs B^T = values * scales, for int8: values [columns, rows], with a scale per row.
  void PackQuantized(Matrix<const std::int8_t> values, const float* scales);
  /// The same for int4: the rows of B^T, contiguous, in the format of QuantizeInt4.
  void PackQuantized(const std::uint8_t* codes, const std::int8_t* group_scales, const float* scales);
  /// The same for blocks: the bytes of each row of B^T as in a GGUF file.
  void PackBlocks(std::span<const std::byte* const> columns);
  /// Columns [begin, begin + count) of B, sharing its memory. `begin` must be a multiple of kPanelColumns.
  PackedMatrix Columns(std::int64_t begin, std::int64_t count) const;
  /// Writes the dequantized column `index` of B: rows() numbers. For quantized types and bfloat16.
  void Column(std::int64_t index, T* to) const;

  std::int64_t rows() const { return rows_; }        ///< the depth of the product
  std::int64_t columns() const { return columns_; }  ///< of the result
  Compute compute() const { return compute_; }       ///< of all its products
  std::int64_t panels() const;
  std::int64_t panels_after() const { return panels_after_; }  ///< the number that follow in memory, after Columns
  std::byte* panel(std::int64_t index) const {
    return data_.get() + (blocks_ == nullptr ? index * panel_bytes_ : BlockPanelAt(index).begin);
  }
  GgufType panel_type(std::int64_t index) const { return BlockPanelAt(index).type; }  ///< of blocks
  std::size_t bytes() const;

 private:
  // For block types, whose panels may have different types and sizes.
  struct BlockPanel {
    GgufType type;
    std::int64_t begin;  // in bytes
  };
  const BlockPanel& BlockPanelAt(std::int64_t index) const {
    return (*blocks_)[static_cast<std::size_t>(first_panel_ + index)];
  }
  std::int64_t PanelColumns(std::int64_t panel) const;  // without padding

  std::int64_t rows_ = 0, columns_ = 0, panel_bytes_ = 0, panels_after_ = 0;
  Compute compute_ = Compute::float32;
  std::shared_ptr<std::byte> data_;
  std::shared_ptr<const std::vector<BlockPanel>> blocks_;  // plus an end marker
  std::int64_t first_panel_ = 0;                           // of blocks_, after Columns
};

/// c = activation(a b + bias) or, if `accumulate`, c += a b without bias and activation. a [rows, depth], b [depth,
/// columns], c [rows, columns], bias [columns] or null. Batch-invariant: the bits of a row do not depend on the number
/// of rows or threads.
template <typename T>
void Gemm(Matrix<const T> a, const PackedMatrix<T>& b, Matrix<T> c, const T* bias = nullptr,
          Activation activation = Activation::none, bool accumulate = false);

/// c += a^T b: a [rows, m], b [rows, n], c [m, n]. The gradient of a weight, summed over the rows in a fixed order.
template <typename T>
void GemmTransposed(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Compute compute = Compute::float32);

}  // namespace headlight::kernels
