// Shows the three uses of attention on the sentences "Gestern schlief der Hund." and "Yesterday the dog slept." The
// vectors are chosen by hand, so that every weight can be predicted.
#include <fmt/format.h>

#include <vector>

#include "docs/examples/image.h"
#include "headlight/nn/attention.h"

using namespace headlight;

namespace {

const Words source = {"gestern", "schlief", "der", "Hund", "</s>"};
const Words target = {"<s>", "yesterday", "the", "dog", "slept"};

// Each word meaning and each position in the sentence has its own axis.
enum Meaning { start, yesterday, slept, the, dog, end };
constexpr std::int64_t kAxes = 6;
constexpr double kStrength = 2.5;

// Returns the vectors of two heads, [tokens, 2 * kAxes]. Head 1 encodes the meanings. Head 2 encodes the positions,
// counted from `first`.
Tensor Vectors(const std::vector<Meaning>& meanings, std::int64_t first) {
  const Tensor x = Tensor::Zeros({static_cast<std::int64_t>(meanings.size()), 2 * kAxes}, DType::float64);
  for (std::int64_t row = 0; row < x.rows(); ++row) {
    x.matrix<double>().row(row)[meanings[static_cast<std::size_t>(row)]] = kStrength;
    if (first + row >= 0) x.matrix<double>().row(row)[kAxes + first + row] = kStrength;
  }
  return x;
}

void Walk(const char* name, const Tensor& queries, const Words& of_queries, const Tensor& keys, const Words& of_keys,
          bool causal) {
  const ScaledDotProductAttention attention{.heads = 2, .mask = {.causal = causal}};
  const Tensor weights = attention.Weights(queries, keys, {{0, static_cast<std::int32_t>(of_queries.size())}},
                                           {{0, static_cast<std::int32_t>(of_keys.size())}}, /*sentence=*/0);
  fmt::print("{}: queries {}, keys {}, weights [batch, heads, query, key] = {}\n", name, ToString(queries.shape()),
             ToString(keys.shape()), ToString(weights.shape()));
  PrintWeights(weights, of_queries, of_keys, causal);
}

}  // namespace

int main() {
  // Head 1 attends to tokens with the same meaning. Head 2 attends to the previous position.
  const std::vector<Meaning> source_words = {yesterday, slept, the, dog, end};
  const std::vector<Meaning> target_words = {start, yesterday, the, dog, slept};
  Walk("self, source x source", Vectors(source_words, -1), source, Vectors(source_words, 0), source, false);
  Walk("masked self, target x target", Vectors(target_words, -1), target, Vectors(target_words, 0), target, true);

  // In the cross-attention, head 1 of a word attends to the meaning of the next word. Head 2 follows the source in
  // order.
  const std::vector<Meaning> next_words = {yesterday, the, dog, slept, end};
  Walk("cross, target x source", Vectors(next_words, 0), target, Vectors(source_words, 0), source, false);
}
