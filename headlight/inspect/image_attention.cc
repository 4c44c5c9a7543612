#include "headlight/inspect/image_attention.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/image/box_regions.h"
#include "headlight/inspect/image_record.h"

namespace headlight {
namespace {

// Records the attention of encode(context, image), which runs an encoder with these limits.
AttentionRecord AttentionOfPatches(const Model& model, const ImageEncoder::Limits& limits,
                                   const ImageProcessor& processor, const Image& image, std::optional<int> layer,
                                   const auto& encode) {
  Check(limits.channels == 3, "{}: the model reads images with {} channels, not with 3", model.parameters().source(),
        limits.channels);
  const Image fitted = processor.Fit(image);
  const Tensor values = processor.Values(fitted);
  const Grid grid = GridOf(values, limits.patch);
  AttentionRecord record;
  MapCollector maps(record, limits.special + grid.cells(), layer);
  AddPatches(record, limits, fitted, grid);
  Context context;
  context.hooks.attention = [&](const LayerAttention& one) { maps.Add(one); };
  encode(context, values);
  maps.CheckLayer();
  return record;
}

}  // namespace

AttentionRecord AttentionOf(const ImageEncoder& model, const ImageProcessor& processor, const Image& image,
                            std::optional<int> layer) {
  Check(model.limits().special > 0, "{}: a convolutional network has no attention", model.parameters().source());
  return AttentionOfPatches(model, model.limits(), processor, image, layer,
                            [&](Context& context, const Tensor& values) {
                              model.Encode(context, {&values, 1});
                            });
}

AttentionRecord AttentionOf(const DualEncoder& model, const ImageProcessor& processor, const Image& image,
                            std::optional<int> layer) {
  model.CheckImages();
  return AttentionOfPatches(model, model.limits().images, processor, image, layer,
                            [&](Context& context, const Tensor& values) {
                              model.EncodeImages(context, {&values, 1});
                            });
}

AttentionRecord AttentionOf(const LanguageModel& model, std::int32_t start, const ImageProcessor& processor,
                            const Image& image, std::optional<int> layer) {
  Check(!processor.clusters.empty(), "the model reads colors, but its image processor has no clusters");
  const Image fitted = processor.Fit(image);
  const std::vector<std::int32_t> colors = processor.Colors(fitted);
  std::vector<std::int32_t> ids = {start};
  ids.insert(ids.end(), colors.begin(), colors.end() - 1);
  Check(std::ssize(ids) <= model.limits().positions, "an image of {} x {} pixels has {} tokens, but the model reads {}",
        fitted.height, fitted.width, ids.size(), model.limits().positions);

  AttentionRecord record;
  record.target_tokens = {"start"};
  record.target_special = {0};
  for (std::int64_t pixel = 0; pixel + 1 < std::ssize(colors); ++pixel)
    record.target_tokens.push_back(fmt::format("{}·{}", pixel / fitted.width + 1, pixel % fitted.width + 1));
  Image seen{fitted.height, fitted.width};  // in the model's colors, whose channels are from -1 to 1
  for (const std::int32_t color : colors)
    for (const float channel : processor.clusters[static_cast<std::size_t>(color)])
      seen.pixels.push_back(static_cast<std::uint8_t>(std::lround(std::clamp((channel + 1) * 127.5f, 0.0f, 255.0f))));
  record.target_image = {std::move(seen), 1, static_cast<int>(fitted.height), static_cast<int>(fitted.width)};
  MapCollector maps(record, std::ssize(ids), layer);
  Context context;
  context.hooks.attention = [&](const LayerAttention& one) { maps.Add(one); };
  model.Decode(context, ids, {{0, static_cast<std::int32_t>(ids.size())}});
  maps.CheckLayer();
  return record;
}

AttentionRecord AttentionOf(const TextToImageModel& model, std::span<const std::int32_t> text,
                            const std::vector<std::string>& labels, std::span<const std::int32_t> codes,
                            const Image& image, std::optional<int> layer) {
  std::vector<std::int32_t> ids = model.Prompt(text);
  const TextToImageModel::Drawing& drawing = model.drawing();
  const Grid grid = drawing.grid;
  Check(labels.size() == text.size() && std::ssize(codes) == grid.cells(), "{} ids of a text with {} labels, {} codes",
        text.size(), labels.size(), codes.size());
  AttentionRecord record;
  // If the text is the input of an encoder, it has an end token and no padding. The decoder then has a separate start
  // token.
  std::vector<std::string>& words = drawing.encodes_text ? record.source_tokens : record.target_tokens;
  std::vector<int>& special = drawing.encodes_text ? record.source_special : record.target_special;
  words = {"start"};
  words.insert(words.end(), labels.begin(), labels.end());
  if (drawing.encodes_text) {
    words.emplace_back("end");
    record.target_tokens = {"start"};
    record.target_special = {0};
  } else {
    words.resize(ids.size(), "padding");
  }
  special = {0};
  for (auto i = static_cast<int>(labels.size()) + 1; i < std::ssize(words); ++i) special.push_back(i);
  record.target_image = {image, static_cast<int>(record.target_tokens.size()), static_cast<int>(grid.height),
                         static_cast<int>(grid.width)};
  for (std::int64_t cell = 0; cell + 1 < grid.cells(); ++cell)
    record.target_tokens.push_back(fmt::format("{}·{}", cell / grid.width + 1, cell % grid.width + 1));
  ids.insert(ids.end(), codes.begin(), codes.end() - 1);
  MapCollector maps(record, std::max(std::ssize(record.source_tokens), std::ssize(record.target_tokens)), layer);
  Context context;
  context.hooks.attention = [&](const LayerAttention& one) { maps.Add(one); };
  model.Decode(context, ids, {{0, static_cast<std::int32_t>(ids.size())}});
  maps.CheckLayer();
  std::stable_partition(record.maps.begin(), record.maps.end(),
                        [](const AttentionMap& map) { return map.kind == AttentionKind::cross; });
  return record;
}

namespace {

// Returns the map with only these queries.
AttentionMap RowsOf(AttentionMap map, std::span<const std::size_t> queries) {
  const auto rows_of = [&](const std::vector<float>& values, int width) {  // [heads, query, width]
    std::vector<float> rows;
    for (int head = 0; head < map.heads; ++head)
      for (const std::size_t query : queries) {
        const auto row = values.begin() + (head * map.queries + static_cast<std::ptrdiff_t>(query)) * width;
        rows.insert(rows.end(), row, row + width);
      }
    return rows;
  };
  map.weights = rows_of(map.weights, map.keys);
  if (map.elements) map.elements->query = rows_of(map.elements->query, map.elements->size);
  map.queries = static_cast<int>(queries.size());
  return map;
}

}  // namespace

AttentionRecord AttentionOf(const DetectionModel& model, const ImageProcessor& processor, const Image& image,
                            const DetectorLook& look) {
  const Image fitted = processor.Fit(image);
  const Tensor values = processor.Values(fitted);
  AttentionRecord record;
  std::vector<AttentionMap> cross;
  std::optional<MapCollector> encoder;  // set when the number of cells is known
  int layers = 0;
  Context context;
  context.hooks.attention = [&](const LayerAttention& one) {
    layers = std::max(layers, one.layer + 1);
    if (look.cross && one.kind == AttentionKind::cross && one.layer == look.layer.value_or(one.layer))
      cross.push_back(MapOf(one));
    if (!look.encoder || one.kind != AttentionKind::encoder_self) return;
    if (!encoder) encoder.emplace(record, one.weights.shape()[3], look.layer);
    encoder->Add(one);
  };
  const DetectedImages found = model.Detect(context, {&values, 1});
  CheckLayer(look.layer, layers);
  const Grid grid = found.grids[0];
  AddCellTokens(record, grid);
  record.source_image = {fitted, 0, static_cast<int>(grid.height), static_cast<int>(grid.width)};

  const std::vector<QueryFinding> findings = FindingsOf(found.layers.back(), 0, model.limits().queries);
  std::vector<std::size_t> queries;
  for (std::size_t query = 0; query < findings.size(); ++query)
    if (findings[query].score > look.threshold) queries.push_back(query);
  std::ranges::stable_sort(queries, std::greater{}, [&](std::size_t query) { return findings[query].score; });
  Check(look.encoder || !queries.empty(), "no object is found with a score above {}", look.threshold);
  if (!look.cross || queries.empty()) return record;
  for (const std::size_t query : queries) {
    const auto& [box, label, score] = findings[query];
    record.target_tokens.push_back(fmt::format("{} {:.2f}", model.labels()[static_cast<std::size_t>(label)], score));
    record.target_boxes.push_back(BoxOfShares(box[0], box[1], box[2], box[3], fitted.height, fitted.width));
  }
  for (AttentionMap& map : cross) map = RowsOf(std::move(map), queries);
  record.maps.insert(record.maps.begin(), cross.begin(), cross.end());
  return record;
}

AttentionRecord AttentionOf(const CaptionModel& model, const ImageProcessor& processor, const Image& image,
                            const CaptionLook& look) {
  const auto encode = [&](Context& context, const Tensor& values) {
    const Memory memory = model.MemoryOf(context, model.EncodeImages(context, {&values, 1}));
    context.hooks.attention = [all = context.hooks.attention](const LayerAttention& one) {
      if (one.kind == AttentionKind::cross) all(one);
    };
    const Sequences texts = {{0, static_cast<std::int32_t>(look.inputs.size())}};
    if (look.reads) {
      model.ReadTexts(context, look.inputs, texts, &memory);
    } else {
      model.Decode(context, look.inputs, texts, memory);
    }
  };
  AttentionRecord record = AttentionOfPatches(model, model.image_limits(), processor, image, look.layer, encode);
  record.target_tokens = look.labels;
  record.target_special = look.special;
  std::stable_partition(record.maps.begin(), record.maps.end(),
                        [](const AttentionMap& map) { return map.kind == AttentionKind::cross; });
  return record;
}

AttentionRecord AttentionOf(const RegionTextEncoder& model, std::int64_t side, const Image& image,
                            const RegionLook& look) {
  Check(look.labels.size() == look.ids.size() && look.types.size() == look.ids.size(),
        "{} ids of a text with {} types and {} labels", look.ids.size(), look.types.size(), look.labels.size());
  AttentionRecord record;
  record.target_tokens = look.labels;
  record.target_special = look.special;
  if (model.limits().tasks > 0) {  // the task token follows the first token
    record.target_tokens.insert(record.target_tokens.begin() + 1, "task");
    for (int& special : record.target_special) special += special > 0 ? 1 : 0;
    record.target_special.push_back(1);
  }
  std::vector<Box> boxes;
  record.source_tokens = {"whole image"};
  for (const auto& [box, name] : look.boxes) {
    if (!IsWithin(box, image)) continue;
    boxes.push_back(box);
    record.source_tokens.push_back(name);
  }
  const BoxRegions regions = RegionsOfBoxes(image, boxes, side, model.limits().box_numbers);
  boxes.insert(boxes.begin(), {0, 0, static_cast<double>(image.width), static_cast<double>(image.height)});
  constexpr double raster = 64;  // cells of the longer side: fine enough for boxes, and few enough for a drawing
  const double cell = static_cast<double>(std::max(image.height, image.width)) / raster;
  const auto cells = [&](std::int64_t length) {
    return std::max(1, static_cast<int>(std::lround(static_cast<double>(length) / cell)));
  };
  record.source_image = {image, 0, cells(image.height), cells(image.width), std::move(boxes)};

  int layers = 0;
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) {
    if (seen.kind != AttentionKind::text_to_image && seen.kind != AttentionKind::image_to_text) return;
    layers = std::max(layers, seen.layer + 1);
    if (seen.layer == look.layer.value_or(seen.layer)) record.maps.push_back(MapOf(seen));
  };
  const auto rows = static_cast<std::int32_t>(regions.features.rows());
  const std::span<const std::int32_t> types = look.types;
  model.Encode(context, look.ids, model.limits().types <= 1 ? types.first(0) : types,
               {{0, static_cast<std::int32_t>(look.ids.size())}}, {regions.features, regions.places, {{0, rows}}});
  Check(layers > 0, "{}: text and image are one sequence in this model, so it has no co-attention",
        model.parameters().source());
  CheckLayer(look.layer, layers);
  std::ranges::stable_sort(record.maps, {}, [](const AttentionMap& map) { return map.kind; });
  return record;
}

std::vector<float> CellWeights(const AttentionMap& map, int head, int query, const ImageTokens& cells) {
  const std::size_t row = (static_cast<std::size_t>(head) * map.queries + query) * map.keys;
  std::vector<float> weights(cells.cells());
  std::copy_n(map.weights.begin() + static_cast<std::ptrdiff_t>(row) + cells.first,
              std::min(cells.cells(), map.keys - cells.first), weights.begin());
  return weights;
}

std::vector<bool> CellsOfMass(std::span<const float> weights, double mass) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t cell) { return weights[cell]; });
  const double out = (1 - mass) * std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<bool> in(weights.size());
  double sum = 0;
  for (const std::size_t cell : order) in[cell] = (sum += weights[cell]) > out;
  return in;
}

}  // namespace headlight
