#include "headlight/kernels/rotary.h"

#include "headlight/kernels/row_testing.h"

namespace headlight::kernels::rotary_test {
namespace {

template <typename T>
void CheckValues(RotaryPairs pairs) {
  for (const auto& [half, head_dim] : {std::pair(1, 2), {1, 5}, {3, 6}, {8, 16}, {8, 17}, {32, 64}, {33, 66}}) {
    ForEveryTarget([&, half = std::int64_t{half}, head_dim = std::int64_t{head_dim}] {
      constexpr std::int64_t rows = 700, heads = 2;
      const RowCase shape{rows, heads * head_dim, 5, 1}, angles{4, half, 2, 3};
      const TestMatrix<T> x(shape, 1), cosines(angles, 2), sines(angles, 3);
      TestMatrix<T> y(shape, 0), back(shape, 0);
      for (auto* result : {&y, &back}) result->Unwritten();
      std::vector<std::int32_t> indices;
      for (std::int32_t row = 0; row < rows; ++row) indices.push_back(row % 4);
      RotateRows<T>(x.view(), head_dim, cosines.view(), sines.view(), indices.data(), pairs, false, y.view());
      RotateRows<T>(x.view(), head_dim, cosines.view(), sines.view(), indices.data(), pairs, true, back.view());
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < shape.columns; ++column) {
          const bool adjacent = pairs == RotaryPairs::adjacent;
          const std::int64_t head = column / head_dim * head_dim, feature = column - head;
          const std::int64_t i = adjacent ? feature / 2 : feature % half;
          if (feature >= 2 * half) {
            ASSERT_EQ(y.at(row, column), x.at(row, column));
            ASSERT_EQ(back.at(row, column), x.at(row, column));
            continue;
          }
          const bool second = adjacent ? feature % 2 == 1 : feature >= half;
          const std::int64_t partner = adjacent ? head + (feature ^ 1) : second ? head + i : head + half + i;
          const double c = cosines.at(row % 4, i), s = sines.at(row % 4, i);
          const double own = x.at(row, column), other = x.at(row, partner);
          ASSERT_NEAR(y.at(row, column), own * c + (second ? 1 : -1) * other * s, 4 * Tolerance<T>());
          ASSERT_NEAR(back.at(row, column), own * c + (second ? -1 : 1) * other * s, 4 * Tolerance<T>());
        }
    });
  }
}
TEST(RotateRows, Values) {
  for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::adjacent}) {
    CheckValues<float>(pairs);
    CheckValues<double>(pairs);
  }
}

}  // namespace
}  // namespace headlight::kernels::rotary_test
