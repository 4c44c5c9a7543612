// Matrix products. On the same shapes, oneDNN is as fast with many rows, and slower with few rows. oneDNN copies some
// matrices. It is not batch-invariant: the sums of a row depend on the number of rows.
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

/// Returns true if this processor supports products of this type.
HEADLIGHT_API bool CpuHas(Compute compute);

/// The right-hand side B of a product, packed in panels of 64 columns (kernels/panel_product.h).
template <typename T>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Allocates the panels without filling them.
  PackedMatrix(std::int64_t rows, std::int64_t columns, Compute compute = Compute::float32);
  /// Allocates panels for a matrix that is stored in block types. `types` contains the type of each panel.
  PackedMatrix(std::int64_t rows, std::int64_t columns, std::span<const GgufType> types);

  /// Packs B = source, or B = source^T if `transposed` is true; the shape must fit. Column j is multiplied by
  /// factors[j], unless `factors` is null.
  void Pack(Matrix<const T> source, bool transposed, const T* factors = nullptr);
  /// Packs B^T = values * scales in int8, with values [columns, rows] and a scale per row of values.
  void PackQuantized(Matrix<const std::int8_t> values, const float* scales);
  /// Packs B^T in int4, given the contiguous rows of B^T in the format of QuantizeInt4.
  void PackQuantized(const std::uint8_t* codes, const std::int8_t* group_scales, const float* scales);
  /// Packs B^T in block types, given the bytes of each row of B^T as in a GGUF file.
  void PackBlocks(std::span<const std::byte* const> columns);
  /// Returns columns [begin, begin + count) of B, which share its memory. `begin` must be a multiple of kPanelColumns.
  PackedMatrix Columns(std::int64_t begin, std::int64_t count) const;
  /// Writes the dequantized column `index` of B: rows() elements. Only for quantized types and bfloat16.
  void Column(std::int64_t index, T* to) const;

  std::int64_t rows() const { return rows_; }        ///< the depth of the product
  std::int64_t columns() const { return columns_; }  ///< the number of columns of the result
  Compute compute() const { return compute_; }       ///< the compute type of all products
  std::int64_t panels() const;
  std::int64_t panels_after() const { return panels_after_; }  ///< number of panels after these columns in memory
  std::byte* panel(std::int64_t index) const {
    return data_.get() + (blocks_ == nullptr ? index * panel_bytes_ : BlockPanelAt(index).begin);
  }
  GgufType panel_type(std::int64_t index) const { return BlockPanelAt(index).type; }  ///< for block types
  std::size_t bytes() const;

 private:
  // The position of a panel. The panels of block types may have different types and sizes.
  struct BlockPanel {
    GgufType type;
    std::int64_t begin;  // in bytes
  };
  const BlockPanel& BlockPanelAt(std::int64_t index) const {
    return (*blocks_)[static_cast<std::size_t>(first_panel_ + index)];
  }
  std::int64_t PanelColumns(std::int64_t panel) const;  // number of columns without padding

  std::int64_t rows_ = 0, columns_ = 0, panel_bytes_ = 0, panels_after_ = 0;
  Compute compute_ = Compute::float32;
  std::shared_ptr<std::byte> data_;
  std::shared_ptr<const std::vector<BlockPanel>> blocks_;  // positions of the panels, and an end marker
  std::int64_t first_panel_ = 0;                           // index in blocks_ of the first panel of these columns
};

/// Computes c = activation(a b + bias). If `accumulate` is true, computes c += a b without bias and activation instead.
/// Shapes are a [rows, depth], b [depth, columns], c [rows, columns]. bias is [columns] or null. Batch-invariant: the
/// bits of a row do not depend on the number of rows or threads.
template <typename T>
void Gemm(Matrix<const T> a, const PackedMatrix<T>& b, Matrix<T> c, const T* bias = nullptr,
          Activation activation = Activation::none, bool accumulate = false);

/// Computes c += a^T b for a [rows, m], b [rows, n] and c [m, n]. This is the gradient of a weight, summed over the
/// rows in a fixed order.
template <typename T>
void GemmTransposed(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Compute compute = Compute::float32);

}  // namespace headlight::kernels
