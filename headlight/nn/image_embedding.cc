#include "headlight/nn/image_embedding.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/linear.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

Grid TrainedGrid(const ImageEmbeddingConfig& config) {
  return {config.image.height / config.patch.height, config.image.width / config.patch.width};
}

// Appends `more` to `rows`, which may be empty.
void Append(Tensor& rows, const Tensor& more) { rows = rows.empty() ? more : ops::Concatenate(rows, more); }

}  // namespace

ImageEmbedding::ImageEmbedding(const Scope& scope, const ImageEmbeddingConfig& config) : config_(config) {
  const Initialization normal = Initialization::Normal(0.02);
  std::int64_t placed = TrainedGrid(config).cells();
  for (const ImageEmbeddingConfig::Special& special : config.special) {
    const Shape shape = config.flat ? Shape{config.model} : Shape{1, special.tokens, config.model};
    tokens_.push_back(&scope.Declare(special.name, shape, normal));
    special_ += static_cast<std::int32_t>(special.tokens);
    if (special.has_position) placed += special.tokens;
  }
  if (config.mask.rank() > 0) mask_ = &scope.Declare("mask_token", config.mask, Initialization::Constant(0));
  if (config.positions) {
    const Grid grid = TrainedGrid(config);
    positions_ =
        &scope.Declare(config.table, config.flat ? Shape{placed, config.model} : Shape{1, placed, config.model},
                       Initialization::Waves(grid.height, grid.width, config.waves));
  }
  const Scope projection = scope / config.projection;
  weight_ =
      &projection.DeclareMatrix({"weight"}, {config.model, config.channels, config.patch.height, config.patch.width});
  if (config.bias) bias_ = &projection.DeclareVector({"bias"}, config.model);
}

ImageLimits ImageEmbedding::limits() const {
  return {config_.image, config_.patch, config_.channels, special_, config_.model};
}

// Returns the position vectors of the special tokens, then of the patches: [special + patches, model]. Special tokens
// without a position have a zero vector.
Tensor ImageEmbedding::Positions(Context& context, Grid grid) const {
  const std::int64_t count = positions_->shape.elements() / config_.model;
  const Grid trained = TrainedGrid(config_);
  const Tensor table = ops::Reshape(context.Use(*positions_), {count, config_.model});
  const auto placed = static_cast<std::int32_t>(count - trained.cells());
  if (grid == trained && placed == special_) return table;
  std::vector<std::int32_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  const auto first_patch = rows.begin() + placed;
  Tensor positions = ops::Embedding(table, {rows.begin(), first_patch});
  if (placed < special_) Append(positions, Tensor::Zeros({special_ - placed, config_.model}, table.dtype()));
  Append(positions,
         InterpolatePositions(ops::Embedding(table, {first_patch, rows.end()}), trained, grid, config_.interpolation));
  return positions;
}

EncodedImages ImageEmbedding::operator()(Context& context, std::span<const Tensor> images,
                                         std::span<const std::uint8_t> masked) const {
  std::vector<Grid> grids;
  for (const Tensor& image : images) grids.push_back(GridOf(image, config_.patch));
  const DType dtype = (bias_ != nullptr ? bias_ : positions_)->value.dtype();
  return Embed(context, Patches(images, config_.patch, config_.channels, dtype), std::move(grids), masked);
}

EncodedImages ImageEmbedding::Embed(Context& context, const Tensor& patches, std::vector<Grid> grids,
                                    std::span<const std::uint8_t> masked) const {
  Check(masked.empty() || mask_ != nullptr, "this model has no mask token");
  Check(masked.empty() || std::ssize(masked) == patches.rows(), "there are {} patches, and a mask of {}",
        patches.rows(), masked.size());

  // The rows of each image are gathered from a table of special tokens, mask and patches.
  Tensor table;
  const auto append = [&](const Parameter& tokens) {
    Append(table, ops::Reshape(context.Use(tokens), {tokens.shape.elements() / config_.model, config_.model}));
  };
  for (const Parameter* tokens : tokens_)
    if (tokens->shape.elements() > 0) append(*tokens);
  if (!masked.empty()) append(*mask_);
  const auto first_patch = static_cast<std::int32_t>(table.empty() ? 0 : table.rows()), mask = first_patch - 1;
  Append(table, ops::Linear(patches, context.UseWeight(*weight_), bias_ != nullptr ? context.Use(*bias_) : Tensor()));

  EncodedImages encoded;
  Tensor positions;
  std::vector<std::pair<Grid, std::int32_t>> known;  // each grid with the first row of its positions
  std::vector<std::int32_t> ids, places, lengths;
  std::int32_t patch = 0;
  for (const Grid& grid : grids) {
    const std::int32_t length = special_ + static_cast<std::int32_t>(grid.cells());
    if (positions_ != nullptr) {
      auto found = std::ranges::find(known, grid, &std::pair<Grid, std::int32_t>::first);
      if (found == known.end()) {
        found = known.insert(found, {grid, static_cast<std::int32_t>(positions.empty() ? 0 : positions.rows())});
        Append(positions, Positions(context, grid));
      }
      for (std::int32_t i = 0; i < length; ++i) places.push_back(found->second + i);
    }
    for (std::int32_t i = 0; i < special_; ++i) ids.push_back(i);
    for (std::int64_t i = 0; i < grid.cells(); ++i, ++patch)
      ids.push_back(!masked.empty() && masked[static_cast<std::size_t>(patch)] != 0 ? mask : first_patch + patch);
    lengths.push_back(length);
  }
  encoded.grids = std::move(grids);
  encoded.images = PackedSequences(lengths);
  encoded.hidden = ops::Embedding(table, ids, 1, positions, places, context.NextDropout(config_.dropout));
  return encoded;
}

}  // namespace headlight
