#include "headlight/nn/mask_head.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/activation.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/pooling.h"
#include "headlight/ops/softmax.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

constexpr std::int64_t kMostGroups = 8;

Convolution Square(const Scope& scope, std::int64_t inputs, std::int64_t outputs) {
  return {scope, inputs, outputs, {.kernel = {3, 3}, .padding = {1, 1}}};
}

std::string Numbered(const char* name, int index) { return name + std::to_string(index); }

// For each query, the rows of its image in the maps of all images, and the image's grid.
struct RepeatedMaps {
  std::vector<std::int32_t> rows;
  std::vector<Grid> grids;
};

RepeatedMaps Repeat(const FeatureMaps& maps, std::span<const std::int32_t> images) {
  std::vector<std::int32_t> first = {0};
  for (const Grid& grid : maps.grids) first.push_back(first.back() + static_cast<std::int32_t>(grid.cells()));
  RepeatedMaps repeated;
  for (const std::int32_t image : images) {
    const auto index = static_cast<std::size_t>(image);
    for (std::int32_t row = first[index]; row < first[index + 1]; ++row) repeated.rows.push_back(row);
    repeated.grids.push_back(maps.grids[index]);
  }
  return repeated;
}

}  // namespace

MaskBlock::MaskBlock(const Scope& scope, int index, std::int64_t inputs, std::int64_t outputs, Activation activation)
    : convolution_(Square(scope / Numbered("lay", index), inputs, outputs)),
      norm_(scope / Numbered("gn", index), std::min(kMostGroups, outputs), outputs),
      activation_(activation) {}

FeatureMaps MaskBlock::operator()(Context& context, const FeatureMaps& x) const {
  FeatureMaps y = norm_(context, convolution_(context, x));
  y.rows = ops::Activate(activation_, y.rows);
  return y;
}

MaskHead::MaskHead(const Scope& scope, const MaskHeadSizes& sizes)
    : heads_(sizes.heads),
      queries_(sizes.queries),
      query_(scope / "bbox_attention", {"q_linear"}, sizes.model, sizes.model),
      key_(scope / "bbox_attention", {"k_linear"}, sizes.model, sizes.model),
      first_(scope / "mask_head", 1, sizes.model + heads_, sizes.model + heads_, sizes.activation),
      second_(scope / "mask_head", 2, sizes.model + heads_, sizes.model / 2, sizes.activation),
      output_(Square(scope / "mask_head" / "out_lay", sizes.model / 16, 1)) {
  const Scope head = scope / "mask_head";
  std::int64_t channels = sizes.model / 2;
  for (int stage = 1; stage <= std::ssize(sizes.stages); ++stage, channels /= 2) {
    const std::int64_t of_stage = sizes.stages[static_cast<std::size_t>(stage - 1)];
    stages_.push_back({Convolution(head / Numbered("adapter", stage), of_stage, channels, {}),
                       MaskBlock(head, stage + 2, channels, channels / 2, sizes.activation)});
  }
}

// Returns the attention weights of each query over the cells of its image, [cells of all queries, heads]. They are a
// joint softmax over heads and cells. Masked cells have weight 0.
Tensor MaskHead::Attention(Context& context, const DetectedImages& found, std::span<const std::int32_t> queries) const {
  const auto heads = static_cast<std::int32_t>(heads_);
  const Tensor q = query_(context, ops::Embedding(found.queries, queries)), k = key_(context, found.memory);
  // Each query has one row per head. The row is zero outside the head's features, so that one product computes the
  // scores of all heads.
  std::vector<std::int32_t> repeated;
  for (std::int32_t query = 0; query < std::ssize(queries); ++query)
    repeated.insert(repeated.end(), static_cast<std::size_t>(heads), query);
  const std::int64_t head_dim = q.columns() / heads_;
  const Tensor parts = Tensor::Zeros({std::ssize(repeated), q.columns()}, q.dtype());
  Dispatch(q.dtype(), [&]<typename T>(T) {
    const T scale = 1 / std::sqrt(static_cast<T>(head_dim));
    for (std::int64_t row = 0; row < parts.rows(); ++row)
      std::fill_n(parts.matrix<T>().row(row) + row % heads_ * head_dim, head_dim, scale);
  });
  const Tensor of_heads = ops::Multiply(ops::Embedding(q, repeated), parts);

  Tensor weights = Tensor::Zeros({1, 1}, q.dtype());  // row 0 is for masked cells
  std::vector<std::int32_t> places;                   // index in `weights` for each query, cell and head
  for (std::size_t begin = 0, end; begin < queries.size(); begin = end) {
    const auto image = static_cast<std::size_t>(queries[begin] / queries_);
    for (end = begin + 1; end < queries.size() && queries[end] / queries_ == queries[begin] / queries_;) ++end;
    std::vector<std::int32_t> rows, keys;
    for (std::size_t row = begin * heads_; row < end * heads_; ++row) rows.push_back(static_cast<std::int32_t>(row));
    const Sequence& seen = found.images[image];
    for (std::int32_t key = 0; key < seen.length; ++key) keys.push_back(seen.row(key));
    const Tensor scores = ops::Linear(ops::Embedding(of_heads, rows), {.value = ops::Embedding(k, keys)});
    const auto first = static_cast<std::int32_t>(weights.rows());
    const auto count = static_cast<std::int64_t>(end - begin);
    weights = ops::Concatenate(weights, ops::Reshape(ops::Softmax(ops::Reshape(scores, {count, heads_ * seen.length})),
                                                     {scores.elements(), 1}));
    std::vector<std::int32_t> key_of(static_cast<std::size_t>(found.grids[image].cells()), -1);
    for (std::int32_t key = 0; key < seen.length; ++key)
      key_of[static_cast<std::size_t>(found.cells[static_cast<std::size_t>(seen.row(key))])] = key;
    for (std::int32_t query = 0; query < count; ++query)
      for (const std::int32_t key : key_of)
        for (std::int32_t head = 0; head < heads; ++head)
          places.push_back(key < 0 ? 0 : first + (query * heads + head) * seen.length + key);
  }
  return ops::Reshape(ops::Embedding(weights, places), {std::ssize(places) / heads_, heads_});
}

FeatureMaps MaskHead::operator()(Context& context, const DetectedImages& found,
                                 std::span<const std::int32_t> queries) const {
  const auto all = static_cast<std::int32_t>(found.queries.rows());
  Check(std::ranges::is_sorted(queries), "the queries of masks must be sorted");
  Check(!queries.empty() && queries.front() >= 0 && queries.back() < all,
        "masks of {} queries; their indices must be in [0, {})", queries.size(), all);
  std::vector<std::int32_t> images;
  for (const std::int32_t query : queries) images.push_back(query / static_cast<std::int32_t>(queries_));
  RepeatedMaps repeated = Repeat(found.maps[0], images);
  FeatureMaps x = {
      ops::ConcatenateColumns(ops::Embedding(found.maps[0].rows, repeated.rows), Attention(context, found, queries)),
      repeated.grids};
  x = second_(context, first_(context, x));
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    const FeatureMaps adapted = stages_[stage].adapter(context, found.maps[stage + 1]);
    repeated = Repeat(adapted, images);
    x = ops::NearestResize(x, repeated.grids);
    x.rows = ops::Add(x.rows, ops::Embedding(adapted.rows, repeated.rows));
    x = stages_[stage].block(context, x);
  }
  return output_(context, x);
}

}  // namespace headlight
