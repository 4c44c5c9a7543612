#include "headlight/kinds/detection_model.h"

#include <algorithm>
#include <numeric>

#include "headlight/kinds/forward_images.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/ops/softmax.h"

namespace headlight {

std::vector<QueryFinding> FindingsOf(const QueryAnswers& answers, std::int64_t first, std::int64_t queries) {
  std::vector<QueryFinding> findings;
  const Tensor shares = ops::Softmax(answers.logits.Detached().ViewRows(first, queries));
  Dispatch(shares.dtype(), [&]<typename T>(T) {
    for (std::int64_t query = 0; query < queries; ++query) {
      const T* const share = shares.matrix<T>().row(query);
      const T* const box = answers.boxes.matrix<T>().row(first + query);
      const auto label = std::max_element(share, share + shares.columns() - 1) - share;
      findings.push_back({{box[0], box[1], box[2], box[3]}, static_cast<std::int32_t>(label), share[label]});
    }
  });
  return findings;
}

Json::Object DetectionModel::Description() const {
  return WithLayerSizes(
      {{"queries", limits_.queries}, {"channels", limits_.channels}, {"masks", limits_.masks}, {"labels", labels_}});
}

namespace {

// Expands rows of visible cells to [batch, cells, columns], with 0 for masked cells.
Tensor AllCells(const Tensor& rows, const DetectedImages& found) {
  const std::int64_t cells = found.grids[0].cells();
  const Tensor all = Tensor::Zeros({std::ssize(found.grids), cells, rows.columns()});
  for (std::size_t image = 0; image < found.grids.size(); ++image) {
    const Sequence& own = found.images[image];
    for (std::int32_t i = 0; i < own.length; ++i)
      std::copy_n(rows.matrix<float>().row(own.row(i)), rows.columns(),
                  all.matrix<float>().row(static_cast<std::int64_t>(image) * cells +
                                          found.cells[static_cast<std::size_t>(own.row(i))]));
  }
  return all;
}

// Copies one image's weights [1, heads, query, key] to the weights of the batch. Queries, keys or both may be visible
// cells of the image.
void AddCellAttention(NamedTensors& out, const LayerAttention& seen, const DetectedImages& found) {
  static constexpr const char* kNames[] = {"encoder_attentions", "decoder_attentions", "cross_attentions"};
  const std::int64_t cells = found.grids[0].cells(), heads = seen.weights.shape()[1];
  const Sequence& own = found.images[static_cast<std::size_t>(seen.sequence)];
  std::vector<std::int64_t> places;
  for (std::int32_t i = 0; i < own.length; ++i) places.push_back(found.cells[static_cast<std::size_t>(own.row(i))]);
  const bool cell_queries = seen.kind == AttentionKind::encoder_self,
             cell_keys = seen.kind != AttentionKind::decoder_self;
  const std::int64_t queries = cell_queries ? cells : seen.weights.shape()[2], keys = cell_keys ? cells : queries;
  Tensor& all = out.tensors[fmt::format("{}.{}", kNames[static_cast<int>(seen.kind)], seen.layer)];
  if (all.empty()) all = Tensor::Zeros({std::ssize(found.grids), heads, queries, keys});
  const float* from = seen.weights.data<float>();
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t query = 0; query < seen.weights.shape()[2]; ++query) {
      const std::int64_t row = cell_queries ? places[static_cast<std::size_t>(query)] : query;
      float* const to = all.data<float>() + ((seen.sequence * heads + head) * queries + row) * keys;
      for (std::int64_t key = 0; key < seen.weights.shape()[3]; ++key)
        to[cell_keys ? places[static_cast<std::size_t>(key)] : key] = *from++;
    }
}

}  // namespace

NamedTensors DetectionModel::Forward(const Safetensors& in) const {
  CheckInputs(in, {"pixel_values", "pixel_mask"});
  const std::vector<Tensor> images = ReadPixelValues(in, limits_.channels, {1, 1});
  std::vector<DetectionModel::PixelMask> masks;
  if (in.contains("pixel_mask")) masks = ReadPixelMask(in, images);
  const std::int64_t batch = std::ssize(images), queries = limits_.queries;

  NamedTensors out;
  Context context;
  std::vector<LayerAttention> attentions;
  context.hooks.attention = [&](const LayerAttention& seen) { attentions.push_back(seen); };
  const DetectedImages found = Detect(context, images, masks);
  for (const LayerAttention& seen : attentions) AddCellAttention(out, seen, found);
  const auto of_queries = [&](const Tensor& rows) { return rows.ViewAs({batch, queries, rows.columns()}); };
  out.tensors["logits"] = of_queries(found.layers.back().logits);
  out.tensors["pred_boxes"] = of_queries(found.layers.back().boxes);
  out.tensors["last_hidden_state"] = of_queries(found.queries);
  out.tensors["encoder_last_hidden_state"] = AllCells(found.memory, found);
  if (limits_.masks) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(batch * queries));
    std::iota(all.begin(), all.end(), 0);
    const ops::FeatureMaps made = Masks(context, found, all);
    out.tensors["pred_masks"] = made.rows.ViewAs({batch, queries, made.grids[0].height, made.grids[0].width});
  }
  return out;
}

}  // namespace headlight
