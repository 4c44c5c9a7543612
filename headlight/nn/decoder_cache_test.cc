#include "headlight/nn/decoder_cache.h"

#include <gtest/gtest.h>

#include <vector>

#include "headlight/base/random.h"

namespace headlight::decoder_cache_test {
namespace {

// Beams that part, go on and end at random; each row of the cache holds the number of its token.
TEST(DecoderCache, DropsRowsThatNoHypothesisRefersTo) {
  constexpr std::int32_t beams = 20, steps = 200;
  Random random(3);
  DecoderCache cache;
  std::vector<std::vector<float>> expected(beams);  // of each hypothesis, its tokens
  float token = 0;
  for (std::int32_t step = 0; step < steps; ++step) {
    const std::vector<std::int32_t> ones(expected.size(), 1);
    cache.Append(PackedSequences(ones));
    std::vector<Tensor> layers;
    for (const std::size_t layer : {0, 1}) layers.push_back(cache.SelfRows(layer, 3, DType::float32));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i].push_back(++token);
      for (const Tensor& layer : layers) layer.ViewRows(cache.rows[i].back(), 1).Fill(token);
    }
    for (const Tensor& layer : layers)
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(cache.keys[i].length, step + 1);
        for (std::int32_t position = 0; position <= step; ++position) {
          const std::int32_t row = cache.key_rows[static_cast<std::size_t>(cache.keys[i].begin + position)];
          ASSERT_EQ(layer.matrix<float>().row(row)[2], expected[i][static_cast<std::size_t>(position)]);
        }
      }
    std::vector<std::int32_t> from;
    std::vector<std::vector<float>> continued;
    for (std::int32_t i = 0; i < beams; ++i) {
      from.push_back(static_cast<std::int32_t>(random.Uniform() * static_cast<double>(expected.size())));
      continued.push_back(expected[static_cast<std::size_t>(from.back())]);
    }
    cache.Select(from);
    expected = continued;
  }
  // Of 4,000 rows written: parted some dozens of steps ago at most, the hypotheses share what was before.
  EXPECT_LT(cache.capacity, 1200);
}

}  // namespace
}  // namespace headlight::decoder_cache_test
