#include "headlight/kernels/outer_product.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/base/profile.h"
#include "headlight/kernels/arithmetic.h"
#include "headlight/kernels/bfloat16.h"
#include "headlight/kernels/panel_product.h"
#include "headlight/kernels/rows.h"
#include "headlight/kernels/transpose.h"

namespace headlight::kernels {
namespace {

template <typename T>
struct Owned {
  Owned(std::int64_t rows, std::int64_t columns)
      : numbers(static_cast<std::size_t>(rows * columns)), view{numbers.data(), rows, columns, columns} {}
  std::vector<T> numbers;
  Matrix<T> view;
};

// Stores a and b in the layouts that products require, and computes the products of a few residues.
template <typename T>
class OuterProducts {
 public:
  explicit OuterProducts(const OuterProductInput<T>& input)
      : residues_(input.residues),
        channels_(input.a.columns),
        rows_(input.a.rows / std::max<std::int64_t>(1, input.residues)),
        compute_(input.compute),
        a_(residues_ * channels_, rows_),
        b_(rows_, residues_ * channels_) {
    Owned<T> a(rows_, residues_ * channels_);
    Gather(input.a, input.present, a.view);
    Transpose<T>(a.view, a_.view);
    Gather(input.b, input.present, b_.view);
    // The number of residues per packed group. Their panels, and their products with one residue, each fit into half of
    // a second-level cache.
    constexpr std::int64_t most = 64 << 10;  // in elements
    together_ = std::clamp<std::int64_t>(
        std::min(most / std::max<std::int64_t>(1, rows_), 32 * kPanelColumns / 2) / channels_, 1, residues_);
    for (std::int64_t first = 0; first < residues_; first += together_) {
      const std::int64_t columns = std::min(together_, residues_ - first) * channels_;
      packed_.emplace_back(rows_, columns, compute_);
      packed_.back().Pack(b_.view.Columns(first * channels_, columns), /*transposed=*/false);
    }
    if constexpr (std::is_same_v<T, float>) {
      if (compute_ != Compute::bfloat16) return;
      rounded_.resize(static_cast<std::size_t>(a_.view.rows * 2 * Bfloat16Pairs(rows_)));
      RoundRows(a_.view, rounded_.data());
    }
  }

  // Returns the number of residues whose products are computed at a time. These products take a few megabytes.
  std::int64_t at_once() const {
    constexpr std::int64_t most = 1 << 20;  // in elements
    return std::clamp<std::int64_t>(most / (residues_ * channels_ * channels_), 1, residues_);
  }
  std::int64_t columns() const { return channels_ * channels_; }
  Matrix<const T> a(std::int64_t first, std::int64_t count) const {  // [count * channels, rows]
    return Matrix<const T>(a_.view).Rows(first * channels_, count * channels_);
  }
  Matrix<const T> b() const { return b_.view; }  // [rows, residues * channels]

  // Computes products.row((i - first) * residues + j) = the outer product of residues i and j, summed over the rows.
  void Of(std::int64_t first, Matrix<T> products) const {
    const std::int64_t count = products.rows / residues_;
    const Profiled profiled("outer product", Operations(count), 0);
    ParallelFor(std::ssize(packed_), [&](std::int64_t group) {
      ForPairs(first, count, static_cast<std::size_t>(group),
               [&](std::int64_t pair, Matrix<const T> block) { CopyPair(block, PairOf(products.row(pair))); });
    });
  }
  // Computes the products of `count` residues in bfloat16, in the layout of RoundRows, on this thread.
  void RoundedOf(std::int64_t first, std::int64_t count, std::uint16_t* products) const {
    if constexpr (std::is_same_v<T, float>)
      for (std::size_t group = 0; group < packed_.size(); ++group)
        ForPairs(first, count, group, [&](std::int64_t pair, Matrix<const float> block) {
          std::uint16_t* const row = products + pair * 2 * Bfloat16Pairs(columns());
          for (std::int64_t channel = 0; channel < channels_; ++channel)
            ToBfloat16(block.row(channel), channels_, row + channel * channels_);
        });
  }
  double Operations(std::int64_t count) const {
    return 2.0 * static_cast<double>(count * residues_ * columns()) * static_cast<double>(rows_);
  }

  // Returns the [channels, channels] matrix in a row of products.
  Matrix<T> PairOf(T* row) const { return {row, channels_, channels_, channels_}; }
  static void CopyPair(Matrix<const T> from, Matrix<T> to) {
    for (std::int64_t row = 0; row < to.rows; ++row) std::copy_n(from.row(row), to.columns, to.row(row));
  }
  // Rearranges products from the layout of Of() to [count * channels, residues * channels].
  void Unfold(Matrix<T> products, Matrix<T> to) const {
    ParallelFor(products.rows / residues_, [&](std::int64_t i) {
      for (std::int64_t j = 0; j < residues_; ++j)
        CopyPair(PairOf(products.row(i * residues_ + j)),
                 to.Rows(i * channels_, channels_).Columns(j * channels_, channels_));
    });
  }

 private:
  // Calls body(pair, products) with the [channels, channels] products of residues i and j. The index of the pair is (i
  // - first) * residues + j. Iterates over `count` residues i and over the residues j of a packed group.
  template <class Body>
  void ForPairs(std::int64_t first, std::int64_t count, std::size_t group, const Body& body) const {
    struct Block;
    const PackedMatrix<T>& right = packed_[group];
    const Matrix<T> block{KeptScratch<Block, T>(channels_ * right.columns()), channels_, right.columns(),
                          right.columns()};
    for (std::int64_t i = 0; i < count; ++i) {
      Multiply(first + i, right, block);
      for (std::int64_t j = 0; j * channels_ < right.columns(); ++j)
        body(i * residues_ + static_cast<std::int64_t>(group) * together_ + j, block.Columns(j * channels_, channels_));
    }
  }

  // Rearranges [rows * residues, channels] to [rows, residues * channels]. Absent entries become 0.
  void Gather(Matrix<const T> from, std::span<const std::uint8_t> present, Matrix<T> to) const {
    ForRowChunks(rows_, residues_ * channels_, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t at = first * residues_; at < (first + count) * residues_; ++at) {
        T* const place = to.row(at / residues_) + at % residues_ * channels_;
        if (present.empty() || present[static_cast<std::size_t>(at)] != 0)
          std::copy_n(from.row(at), channels_, place);
        else
          std::fill_n(place, channels_, T{0});
      }
    });
  }

  void Multiply(std::int64_t residue, const PackedMatrix<T>& right, Matrix<T> to) const {
    if constexpr (std::is_same_v<T, float>) {
      if (compute_ == Compute::bfloat16) {
        const std::int64_t pairs = Bfloat16Pairs(rows_);
        return Bfloat16Product({rounded_.data() + residue * channels_ * 2 * pairs, 2 * pairs, 2, pairs},
                               reinterpret_cast<const std::uint16_t*>(right.panel(0)), to, {}, nullptr);
      }
    }
    PanelProduct<T>(a(residue, 1), reinterpret_cast<const T*>(right.panel(0)), to, {}, nullptr);
  }

  std::int64_t residues_, channels_, rows_;
  Compute compute_;
  Owned<T> a_, b_;                      // [residues * channels, rows] and [rows, residues * channels]
  std::vector<std::uint16_t> rounded_;  // a_ in bfloat16
  std::int64_t together_ = 1;           // number of residues in a packed group of b_
  std::vector<PackedMatrix<T>> packed_;
};

// Returns 1 / (number of rows in which both residues are present + epsilon) for every pair.
template <typename T>
std::vector<T> ScalesOf(const OuterProductInput<T>& input) {
  const std::int64_t residues = input.residues, rows = input.a.rows / std::max<std::int64_t>(1, residues);
  std::vector<T> scales(static_cast<std::size_t>(residues * residues), static_cast<T>(rows));
  if (!input.present.empty()) {
    ParallelFor(residues, [&](std::int64_t i) {
      T* const counts = scales.data() + i * residues;
      std::fill_n(counts, residues, T{0});
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::uint8_t* const of_row = input.present.data() + row * residues;
        for (std::int64_t j = 0; of_row[i] != 0 && j < residues; ++j) counts[j] += of_row[j] != 0 ? T{1} : T{0};
      }
    });
  }
  for (T& scale : scales) scale = static_cast<T>(1 / (static_cast<double>(scale) + input.epsilon));
  return scales;
}

template <typename T>
void Check(const OuterProductInput<T>& input, std::int64_t depth) {
  Ensure(input.a.rows == input.b.rows && input.a.columns == input.b.columns && input.residues >= 1 &&
             input.a.rows % input.residues == 0 && depth == input.a.columns * input.a.columns &&
             (input.present.empty() || std::ssize(input.present) == input.a.rows),
         "outer products of [{}, {}] and [{}, {}] of {} residues, {} marked as present, times [{}, ...]", input.a.rows,
         input.a.columns, input.b.rows, input.b.columns, input.residues, input.present.size(), depth);
}

// Computes the mean in bfloat16. Each thread computes and rounds the outer products of a few residues, and multiplies
// them while they are in its cache.
void RoundedOuterProductMean(const OuterProducts<float>& factors, std::int64_t residues,
                             const PackedMatrix<float>& weight, const float* bias, const std::vector<float>& scales,
                             Matrix<float> y) {
  constexpr std::int64_t most = 1 << 19;  // in elements (1 MB)
  const std::int64_t pairs = Bfloat16Pairs(factors.columns()), stride = 2 * pairs;
  const std::int64_t together = std::clamp<std::int64_t>(most / (residues * stride), 1, residues);
  const Profiled profiled(
      "outer product mean",
      factors.Operations(residues) + 2.0 * static_cast<double>(y.rows * y.columns * factors.columns()), weight.bytes());
  ParallelFor((residues + together - 1) / together, [&](std::int64_t chunk) {
    struct Products;
    const std::int64_t first = chunk * together, count = std::min(together, residues - first);
    const std::int64_t rows = count * residues;
    auto* const products = KeptScratch<Products, std::uint16_t>(rows * stride);
    if (stride != factors.columns())
      for (std::int64_t row = 0; row < rows; ++row) products[(row + 1) * stride - 1] = 0;
    factors.RoundedOf(first, count, products);
    const Matrix<float> to = y.Rows(first * residues, rows);
    Bfloat16Product({products, stride, 2, pairs}, reinterpret_cast<const std::uint16_t*>(weight.panel(0)), to,
                    {.bias = bias}, nullptr);
    for (std::int64_t row = 0; row < rows; ++row) {
      const float scale = scales[static_cast<std::size_t>(first * residues + row)];
      for (std::int64_t column = 0; column < to.columns; ++column) to.row(row)[column] *= scale;
    }
  });
}

}  // namespace

template <typename T>
void OuterProductMean(const OuterProductInput<T>& input, const PackedMatrix<T>& weight, const T* bias, Matrix<T> y) {
  Check(input, weight.rows());
  const OuterProducts<T> factors(input);
  const std::vector<T> scales = ScalesOf(input);
  const std::int64_t residues = input.residues;
  if constexpr (std::is_same_v<T, float>)
    if (input.compute == Compute::bfloat16 && weight.compute() == Compute::bfloat16)
      return RoundedOuterProductMean(factors, residues, weight, bias, scales, y);
  Owned<T> products(factors.at_once() * residues, factors.columns());
  for (std::int64_t first = 0; first < residues; first += factors.at_once()) {
    const std::int64_t rows = std::min(factors.at_once(), residues - first) * residues;
    const Matrix<T> some = products.view.Rows(0, rows), to = y.Rows(first * residues, rows);
    factors.Of(first, some);
    Gemm<T>(some, weight, to, bias);
    MultiplyRows<T>(to, {scales.data() + first * residues, rows, 1, 1}, to);
  }
}

template <typename T>
void OuterProductMeanGradient(const OuterProductInput<T>& input, Matrix<const T> weight, Matrix<const T> d_y,
                              Matrix<T> d_a, Matrix<T> d_b, Matrix<T> d_weight, T* d_bias) {
  Check(input, weight.columns);
  const OuterProducts<T> factors(input);
  const std::vector<T> scales = ScalesOf(input);
  const std::int64_t residues = input.residues, channels = input.a.columns, rows = factors.b().rows;
  const Compute compute = input.compute;
  PackedMatrix<T> packed_weight(weight.rows, weight.columns, compute);
  packed_weight.Pack(weight, /*transposed=*/false);
  PackedMatrix<T> b_transposed(residues * channels, rows, compute);
  b_transposed.Pack(factors.b(), /*transposed=*/true);

  const std::int64_t at_once = factors.at_once();
  Owned<T> products(at_once * residues, factors.columns()), unfolded(at_once * channels, residues * channels);
  Owned<T> d_sums(at_once * residues, d_y.columns), d_a_transposed(residues * channels, rows),
      d_b_rows(rows, residues * channels);
  for (std::int64_t first = 0; first < residues; first += at_once) {
    const std::int64_t count = std::min(at_once, residues - first), pairs = count * residues;
    const Matrix<T> some = products.view.Rows(0, pairs), d_some = d_sums.view.Rows(0, pairs);
    MultiplyRows<T>(d_y.Rows(first * residues, pairs), {scales.data() + first * residues, pairs, 1, 1}, d_some);
    if (d_bias != nullptr) AddColumnSums<T>(d_some, d_bias);
    if (d_weight.data != nullptr) {
      factors.Of(first, some);
      GemmTransposed<T>(d_some, some, d_weight, compute);
    }
    if (d_a.data == nullptr && d_b.data == nullptr) continue;
    Gemm<T>(d_some, packed_weight, some);
    const Matrix<T> its = unfolded.view.Rows(0, count * channels);
    factors.Unfold(some, its);
    if (d_a.data != nullptr) Gemm<T>(its, b_transposed, d_a_transposed.view.Rows(first * channels, count * channels));
    if (d_b.data != nullptr) GemmTransposed<T>(factors.a(first, count), its, d_b_rows.view, compute);
  }

  // Restores the order of a and b. Absent entries become 0.
  const auto give = [&](Matrix<const T> from, Matrix<T> to) {
    for (std::int64_t at = 0; at < to.rows; ++at) {
      const bool there = input.present.empty() || input.present[static_cast<std::size_t>(at)] != 0;
      if (there)
        std::copy_n(from.row(at / residues) + at % residues * channels, channels, to.row(at));
      else
        std::fill_n(to.row(at), channels, T{0});
    }
  };
  if (d_a.data != nullptr) {
    Owned<T> d_a_rows(rows, residues * channels);
    Transpose<T>(d_a_transposed.view, d_a_rows.view);
    give(d_a_rows.view, d_a);
  }
  if (d_b.data != nullptr) give(d_b_rows.view, d_b);
}

#define HEADLIGHT_OUTER_PRODUCT(T)                                                                                 \
  template void OuterProductMean(const OuterProductInput<T>&, const PackedMatrix<T>&, const T*, Matrix<T>);        \
  template void OuterProductMeanGradient(const OuterProductInput<T>&, Matrix<const T>, Matrix<const T>, Matrix<T>, \
                                         Matrix<T>, Matrix<T>, T*)
HEADLIGHT_OUTER_PRODUCT(float);
HEADLIGHT_OUTER_PRODUCT(double);
#undef HEADLIGHT_OUTER_PRODUCT

}  // namespace headlight::kernels
