#include "headlight/nn/disentangled_attention.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/nn/attention.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/relative_scores.h"

namespace headlight {
namespace {

// Maps a query and a key to the indices of their terms in `values`.
struct Places {
  Sequences texts;
  std::vector<std::int32_t> vector_of;
  std::int64_t longest = 0, vectors = 0;
  std::int32_t heads = 0;
  bool of_query = false, of_key = false;
};

// The content-to-position and position-to-content terms. They are gathered from each token's products with all relative
// vectors: values [tokens, terms * heads * vectors], as returned by ops::RelativeScores.
template <typename T>
class DisentangledBias : public kernels::ComputedBias<T> {
 public:
  DisentangledBias(Tensor values, Tensor gradient, std::shared_ptr<const Places> places)
      : values_(std::move(values)), gradient_(std::move(gradient)), places_(std::move(places)) {}

  void Add(const kernels::ScoreTile& tile, Matrix<T> scores) const override {
    ForEach(tile, scores, values_, [](T& score, const T& value) { score += value; });
  }
  bool has_gradient() const override { return !gradient_.empty(); }
  void AddGradient(const kernels::ScoreTile& tile, Matrix<const T> d_scores) override {
    ForEach(tile, d_scores, gradient_, [](const T& d_score, T& gradient) { gradient += d_score; });
  }

 private:
  // The paper indexes the key's term by the distance from key to query. Published models were trained with the distance
  // from query to key for both terms.
  template <typename Score>
  void ForEach(const kernels::ScoreTile& tile, Matrix<Score> scores, const Tensor& values, const auto& body) const {
    const Places& places = *places_;
    const std::int32_t begin = places.texts[static_cast<std::size_t>(tile.sequence)].begin;
    const std::int64_t of_query = tile.head * places.vectors;
    const std::int64_t of_key = of_query + (places.of_query ? places.heads * places.vectors : 0);
    const Matrix<T> rows = values.matrix<T>();
    for (std::int64_t i = 0; i < scores.rows; ++i) {
      T* const query = rows.row(begin + tile.query + i) + of_query;
      const std::int32_t* const vector_of = places.vector_of.data() + tile.query + i - tile.key + places.longest - 1;
      Score* const row = scores.row(i);
      if (places.of_query)
        for (std::int64_t j = 0; j < scores.columns; ++j) body(row[j], query[vector_of[-j]]);
      if (places.of_key)
        for (std::int64_t j = 0; j < scores.columns; ++j)
          body(row[j], rows.row(begin + tile.key + j)[of_key + vector_of[-j]]);
    }
  }

  Tensor values_, gradient_;
  std::shared_ptr<const Places> places_;
};

template <typename T>
ops::AttentionBias::Make<T> Maker(const std::shared_ptr<const Places>& places) {
  return [places](const Tensor& values, const Tensor& gradient) {
    return std::make_unique<DisentangledBias<T>>(values, gradient, places);
  };
}

}  // namespace

std::int64_t RelativeRow(std::int64_t distance, std::int64_t buckets, std::int64_t farthest) {
  const std::int64_t rows = buckets > 0 ? buckets : farthest, middle = buckets / 2;  // rows per direction
  if (buckets > 0 && std::abs(distance) > middle) {
    // Single precision is required, because rounding decides between neighboring buckets.
    const auto half = static_cast<float>(middle), far = static_cast<float>(std::abs(distance));
    const float share = std::log(far / half) / std::log(static_cast<float>(farthest - 1) / half);
    const auto bucket = static_cast<std::int64_t>(std::ceil(share * (half - 1)) + half);
    distance = distance > 0 ? bucket : -bucket;
  }
  return std::clamp(distance + rows, std::int64_t{0}, 2 * rows - 1);
}

RelativeVectors RelativeVectorsOf(const Tensor& table, const Sequences& texts, std::int64_t buckets,
                                  std::int64_t farthest) {
  RelativeVectors result;
  result.longest = 1;
  for (const Sequence& text : texts) result.longest = std::max<std::int64_t>(result.longest, text.length);
  const std::int64_t first = RelativeRow(1 - result.longest, buckets, farthest);
  for (std::int64_t distance = 1 - result.longest; distance < result.longest; ++distance)
    result.vector_of.push_back(static_cast<std::int32_t>(RelativeRow(distance, buckets, farthest) - first));
  std::vector<std::int32_t> rows(static_cast<std::size_t>(result.vector_of.back()) + 1);
  std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(first));
  result.vectors = ops::Embedding(table, rows);
  return result;
}

Tensor DisentangledAttention::operator()(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                                         const Sequences& texts, const RelativeVectors& relative,
                                         const Tensor& relative_key, const Tensor& relative_query) const {
  const int terms = 1 + (content_to_position ? 1 : 0) + (position_to_content ? 1 : 0);
  const double scale = 1 / std::sqrt(static_cast<double>(query.columns()) / heads * terms);
  ScaledDotProductAttention attention{.heads = heads, .scale = scale, .dropout = dropout};
  if (!relative_key.empty() || !relative_query.empty()) {
    const auto places =
        std::make_shared<const Places>(Places{texts, relative.vector_of, relative.longest, relative.vectors.rows(),
                                              heads, !relative_key.empty(), !relative_query.empty()});
    const auto scaled = [&](const Tensor& vectors) { return vectors.empty() ? vectors : ops::Scale(vectors, scale); };
    attention.bias = {
        .values = ops::RelativeScores(relative_key.empty() ? Tensor() : query, scaled(relative_key),
                                      relative_query.empty() ? Tensor() : key, scaled(relative_query), heads),
        .make_float = Maker<float>(places),
        .make_double = Maker<double>(places)};
  }
  return attention.Attend(context, {AttentionKind::encoder_self, layer}, query, key, value, texts, texts);
}

}  // namespace headlight
