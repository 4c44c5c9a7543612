#include "headlight/inspect/relevance.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/inspect/image_record.h"
#include "headlight/ops/softmax.h"
#include "headlight/ops/view.h"

namespace headlight {
namespace {

// Computes a row of R. Only the row of the pooled state is needed, so it is computed backwards through the layers: row
// <- row + row A(l), starting with the last layer.
class RelevanceRow {
 public:
  // `first`: the token whose state is pooled; empty if an attention over all tokens pools them.
  RelevanceRow(std::int64_t tokens, std::optional<std::size_t> first)
      : row_(static_cast<std::size_t>(tokens)), first_(first) {
    if (first_) row_[*first_] = 1;
  }

  void Add(const LayerAttention& seen, const Tensor& gradient) {
    const std::int64_t heads = seen.weights.shape()[1], queries = seen.weights.shape()[2],
                       keys = seen.weights.columns();
    const std::vector<double> from = seen.kind == AttentionKind::cross ? std::vector{1.0} : row_;
    Dispatch(gradient.dtype(), [&]<typename T>(T) {
      const Matrix<T> weights = seen.weights.matrix<T>(), gradients = gradient.matrix<T>();
      for (std::int64_t head = 0; head < heads; ++head)
        for (std::int64_t query = 0; query < queries; ++query) {
          const double share = from[static_cast<std::size_t>(query)] / static_cast<double>(heads);
          if (share == 0) continue;
          const T *const weight = weights.row(head * queries + query), *const d = gradients.row(head * queries + query);
          for (std::int64_t key = 0; key < keys; ++key)
            row_[static_cast<std::size_t>(key)] += share * std::max(0.0, static_cast<double>(weight[key]) * d[key]);
        }
    });
  }

  std::vector<float> Shares() const {
    std::vector<double> added = row_;
    if (first_) added[*first_] -= 1;
    const double sum = std::accumulate(added.begin(), added.end(), 0.0);
    std::vector<float> shares;
    for (const double one : added) shares.push_back(static_cast<float>(sum > 0 ? one / sum : 0));
    return shares;
  }

 private:
  std::vector<double> row_;
  std::optional<std::size_t> first_;
};

}  // namespace

std::vector<std::vector<float>> TokenRelevance(const DualEncoder& model, const Tensor& image,
                                               std::span<const std::int32_t> text) {
  model.CheckImages();
  model.CheckTexts();
  const ImageEncoder::Limits& limits = model.limits().images;
  const std::int64_t tokens = limits.special + GridOf(image, limits.patch).cells();
  CheckWeightsOfImage(tokens, 1, 1);
  Tape tape;
  Context context;
  const Tensor wanted = model.TextVectors(context, text, {{0, static_cast<std::int32_t>(text.size())}});
  RelevanceRow row(tokens, limits.special > 0 ? std::optional<std::size_t>(0) : std::nullopt);
  std::vector<std::vector<float>> layers;  // rows of the layers, from the last layer to the first
  context.tape = &tape;
  context.hooks.attention_gradient = [&](const LayerAttention& seen, const Tensor& gradient) {
    CheckWeightsOfImage(tokens, 1, seen.weights.shape()[1]);
    row.Add(seen, gradient);
    if (seen.kind != AttentionKind::cross) layers.push_back(row.Shares());
  };
  const Tensor score = model.Logits(context, wanted, model.ImageVectors(context, {&image, 1}));
  Dispatch(score.dtype(), [&]<typename T>(T) {
    if (!std::isfinite(*score.data<T>())) model.parameters().FailNotFinite("scoring an image");
  });
  tape.Backward(score);
  std::ranges::reverse(layers);
  return layers;
}

AttentionRecord RelevanceOf(const DualEncoder& model, const ImageProcessor& processor, const Image& image,
                            std::span<const std::int32_t> text, const std::string& label) {
  model.CheckImages();
  const Image fitted = processor.Fit(image);
  const Tensor values = processor.Values(fitted);
  AttentionRecord record;
  std::vector<std::vector<float>> layers = TokenRelevance(model, values, text);
  record.target_tokens = {label};
  AddPatches(record, model.limits().images, fitted, GridOf(values, model.limits().images.patch));
  for (std::vector<float>& shares : layers) {
    const int layer = static_cast<int>(record.maps.size()), keys = static_cast<int>(shares.size());
    record.maps.push_back({.kind = AttentionKind::cross,
                           .layer = layer,
                           .heads = 1,
                           .queries = 1,
                           .keys = keys,
                           .weights = std::move(shares),
                           .relevance = true});
  }
  return record;
}

std::vector<float> ClassActivation(const ImageEncoder& model, const EncodedImages& encoded, std::int64_t label) {
  Tape tape;
  Context context;
  EncodedImages watched = encoded;
  watched.hidden = tape.Watch(encoded.hidden);
  const Tensor logit = ops::Columns(model.ClassLogits(context, watched), label, 1);
  Dispatch(logit.dtype(), [&]<typename T>(T) {
    if (!std::isfinite(*logit.data<T>())) model.parameters().FailNotFinite("scoring an image");
  });
  tape.Backward(logit);
  const Tensor gradient = tape.GradientOf(watched.hidden);
  std::vector<float> activation;
  Dispatch(gradient.dtype(), [&]<typename T>(T) {
    const Matrix<T> maps = encoded.hidden.matrix<T>(), gradients = gradient.matrix<T>();
    std::vector<double> weights(static_cast<std::size_t>(maps.columns));
    for (std::int64_t cell = 0; cell < maps.rows; ++cell)
      for (std::size_t k = 0; k < weights.size(); ++k)
        weights[k] += static_cast<double>(gradients.row(cell)[k]) / static_cast<double>(maps.rows);
    for (std::int64_t cell = 0; cell < maps.rows; ++cell)
      activation.push_back(
          static_cast<float>(std::max(0.0, std::inner_product(weights.begin(), weights.end(), maps.row(cell), 0.0))));
  });
  return activation;
}

AttentionRecord ClassActivationOf(const ImageEncoder& model, const ImageProcessor& processor, const Image& image,
                                  int top) {
  Check(model.heads().classes, "{}: this model has no classes", model.parameters().source());
  const Image fitted = processor.Fit(image);
  const Tensor values = processor.Values(fitted);
  Context context;
  const EncodedImages encoded = model.Encode(context, {&values, 1});
  std::vector<double> probabilities;
  const Tensor softmax = ops::Softmax(model.ClassLogits(context, encoded));
  Dispatch(softmax.dtype(),
           [&]<typename T>(T) { probabilities.assign(softmax.data<T>(), softmax.data<T>() + softmax.elements()); });
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t label) { return probabilities[label]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));

  AttentionRecord record;
  const Grid grid = encoded.grids.front();
  AddCellTokens(record, grid);
  record.source_image = {fitted, 0, static_cast<int>(grid.height), static_cast<int>(grid.width)};
  AttentionMap map{.kind = AttentionKind::cross,
                   .layer = 0,
                   .heads = 1,
                   .queries = static_cast<int>(order.size()),
                   .keys = static_cast<int>(grid.cells()),
                   .weights = {},
                   .relevance = true};
  CheckWeightsOfImage(grid.cells(), 1, 1);
  for (const std::size_t label : order) {
    record.target_tokens.push_back(fmt::format("{} {:.2f}", model.labels()[label], probabilities[label]));
    const std::vector<float> activation = ClassActivation(model, encoded, static_cast<std::int64_t>(label));
    const double sum = std::accumulate(activation.begin(), activation.end(), 0.0);
    for (const float cell : activation) map.weights.push_back(sum > 0 ? static_cast<float>(cell / sum) : 0);
  }
  record.maps.push_back(std::move(map));
  return record;
}

}  // namespace headlight
