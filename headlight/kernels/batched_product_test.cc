#include "headlight/kernels/batched_product.h"

#include "headlight/base/error.h"
#include "headlight/kernels/gemm.h"
#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::batched_product_test {
namespace {

struct Sizes {
  std::int64_t planes, rows, depth, columns;
};

template <typename T>
void CheckProducts(Compute compute, double tolerance) {
  for (const Sizes& sizes : {Sizes{1, 1, 1, 1}, {3, 5, 7, 2}, {2, 65, 66, 130}, {4, 70, 33, 64}}) {
    const std::vector<T> a = TestVector<T>(sizes.planes * sizes.rows * sizes.depth, 1),
                         b = TestVector<T>(sizes.planes * sizes.depth * sizes.columns, 2);
    for (const bool turned_a : {false, true}) {
      for (const bool turned_b : {false, true}) {
        Planes<const T> left = {a.data(), sizes.planes, sizes.rows, sizes.depth};
        Planes<const T> right = {b.data(), sizes.planes, sizes.depth, sizes.columns};
        if (turned_a) left = {a.data(), sizes.planes, sizes.depth, sizes.rows, true};
        if (turned_b) right = {b.data(), sizes.planes, sizes.columns, sizes.depth, true};
        std::vector<T> c(static_cast<std::size_t>(sizes.planes * sizes.rows * sizes.columns));
        const Planes<T> to = {c.data(), sizes.planes, sizes.rows, sizes.columns};
        BatchedProduct<T>(left, right, to, compute);
        for (std::int64_t plane = 0; plane < sizes.planes; ++plane) {
          for (std::int64_t i = 0; i < sizes.rows; ++i) {
            for (std::int64_t j = 0; j < sizes.columns; ++j) {
              double expected = 0;
              for (std::int64_t k = 0; k < sizes.depth; ++k)
                expected += double{turned_a ? left[plane].row(k)[i] : left[plane].row(i)[k]} *
                            double{turned_b ? right[plane].row(j)[k] : right[plane].row(k)[j]};
              ASSERT_NEAR(to[plane].row(i)[j], expected, tolerance * std::sqrt(static_cast<double>(sizes.depth)))
                  << plane << ", " << i << ", " << j;
            }
          }
        }
      }
    }
  }
}

TEST(BatchedProduct, InFloat) {
  ForEveryTarget([] { CheckProducts<float>(Compute::float32, 1e-5); });
}
TEST(BatchedProduct, InDouble) {
  ForEveryTarget([] { CheckProducts<double>(Compute::float32, 1e-13); });
}
TEST(BatchedProduct, InBfloat16) {
  if (!CpuHas(Compute::bfloat16)) GTEST_SKIP() << "this processor has no bfloat16";
  CheckProducts<float>(Compute::bfloat16, 2e-2);
}

TEST(BatchedProduct, RejectsOtherShapes) {
  std::vector<float> numbers(12);
  const Planes<float> a = {numbers.data(), 2, 2, 3}, c = {numbers.data(), 2, 2, 2};
  EXPECT_THROW(BatchedProduct<float>(a, a, c), Error);
  EXPECT_THROW(BatchedProduct<float>(a, {numbers.data(), 1, 3, 2}, c), Error);
}

}  // namespace
}  // namespace headlight::kernels::batched_product_test
