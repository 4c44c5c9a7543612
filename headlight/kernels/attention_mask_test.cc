#include "headlight/kernels/attention_mask.h"

#include <cmath>
#include <limits>

#include "headlight/kernels/attention_testing.h"

namespace headlight::kernels::attention_mask_test {
namespace {

TEST(AttentionMask, CoverOfTilesMatchesPairs) {
  constexpr std::int32_t keys = 23;
  for (const AttentionMask& mask : {AttentionMask{},
                                    {.causal = true},
                                    {.left = 0, .right = 0},
                                    {.left = 4},
                                    {.right = 3},
                                    {.causal = true, .left = 5},
                                    {.block = 6},
                                    {.causal = true, .left = 2, .block = 5},
                                    {.stride = 7},
                                    {.causal = true, .left = 9, .stride = 4},
                                    {.causal = true, .block = 5, .prefix = 6},
                                    {.causal = true, .stride = 5, .prefix = 6},
                                    {.causal = true, .window = 2, .width = 5, .prefix = 6},
                                    {.window = 3, .width = 4},
                                    {.left = 1, .right = 1, .prefix = 3}}) {
    int covers[3] = {0, 0, 0};
    for (std::int32_t position = -3; position < keys; ++position)
      for (const std::int32_t positions : {1, 4, 9})
        for (std::int32_t begin = 0; begin < keys; ++begin)
          for (const std::int32_t end : {begin + 1, std::min(begin + 6, keys)}) {
            std::int32_t seen = 0;
            for (std::int32_t i = position; i < position + positions; ++i)
              for (std::int32_t j = begin; j < end; ++j) seen += Sees(mask, i, j) ? 1 : 0;
            const TileCover cover = CoverOf(mask, position, positions, {begin, end}, keys);
            ++covers[static_cast<int>(cover)];
            const bool full = seen == positions * (end - begin);
            const TileCover expected = seen == 0 ? TileCover::empty : full ? TileCover::full : TileCover::partial;
            if (mask.stride > 0 || mask.prefix > 0 ||
                mask.window > 0) {  // a tile may be reported as partial, but never wrongly as empty or full
              EXPECT_TRUE(cover == expected || cover == TileCover::partial);
            } else {
              ASSERT_EQ(cover, expected) << position << " " << positions << " " << begin << " " << end;
            }
          }
    EXPECT_TRUE(mask == AttentionMask{} || covers[static_cast<int>(TileCover::empty)] > 0);
  }
}

// Checks that NaN in keys and values has no effect in tiles that are masked for all queries.
TEST(AttentionMask, MaskedTilesAreNotRead) {
  ForEveryTarget([] {
    for (const AttentionMask& mask : {AttentionMask{.left = 20, .right = 20},
                                      {.block = 64},
                                      {.stride = 128},
                                      {.causal = true, .window = 2, .width = 40}}) {
      AttentionProblem<float> problem({.lengths = {{256, 256}}, .heads = 2, .mask = mask});
      const Sequence keys = problem.rows.keys[0], queries = problem.rows.queries[0];
      for (std::int32_t j = 192; j < 256; ++j)
        for (std::int32_t column = 0; column < 8; ++column)
          problem.key.at(keys.row(j), column) = problem.value.at(keys.row(j), column) =
              std::numeric_limits<float>::quiet_NaN();
      problem.Forward();
      problem.Backward();
      for (std::int32_t i = 0; i < 64; ++i) {
        EXPECT_TRUE(std::isfinite(problem.output.at(queries.row(i), 0)));
        EXPECT_TRUE(std::isfinite(problem.d_query.at(queries.row(i), 0)));
      }
      EXPECT_TRUE(std::isnan(problem.output.at(queries.row(255), 0)));
    }
  });
}

}  // namespace
}  // namespace headlight::kernels::attention_mask_test
