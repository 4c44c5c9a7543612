#include "headlight/inspect/drawing/image_drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/image/color.h"
#include "headlight/image/resize.h"
#include "headlight/inspect/image_attention.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

constexpr double kSheetHeader = 62, kRowLabels = 64, kColumnLabels = 18, kSheetGap = 8;
constexpr double kLeastSheetWidth = 620;  // minimum width of the header
constexpr double kSheetWidth = 900;       // width of all columns together, unless a limit below applies
constexpr double kLeastImageSide = 64, kMostImageSide = 320;  // limits for the side of an image
constexpr double kOverlayOpacity = 0.6;
// The saturation of the image below the overlay. Some color is kept, so that an object as bright as its background
// stays visible. page/image.js has the same value.
constexpr double kSaturation = 0.25;
constexpr double kScaleWidth = 160, kScaleHeight = 10;
constexpr int kLevels = 64;  // number of colors; cells of one color are one shape, so that vector drawings are small
constexpr Color kMark = {255, 255, 255};

// The maps of a layer, which are one row of the drawing.
struct Row {
  const AttentionMap* heads;
  AttentionMap mean;            // empty if there is one head
  const AttentionMap* rollout;  // null if there is none
};

AttentionMap MeanOf(const AttentionMap& map) {
  AttentionMap mean{map.kind, map.layer, 1, map.queries, map.keys, {}};
  const std::size_t size = map.weights.size() / map.heads;
  mean.weights.assign(size, 0.0f);
  for (std::size_t i = 0; i < map.weights.size(); ++i) mean.weights[i % size] += map.weights[i] / map.heads;
  return mean;
}

// Returns the weights of the cells or regions of an image for a query. With `to_text`, returns the weights with which
// the cells or regions attend to a word.
std::vector<float> PartWeights(const AttentionMap& map, int head, int query, const ImageTokens& parts, bool to_text) {
  if (parts.boxes.empty() && !to_text) return CellWeights(map, head, query, parts);
  const int count = parts.boxes.empty() ? parts.cells() : static_cast<int>(parts.boxes.size());
  std::vector<float> weights(static_cast<std::size_t>(count));  // the last cells may have no token
  for (int part = 0; part < count && parts.first + part < (to_text ? map.queries : map.keys); ++part)
    weights[static_cast<std::size_t>(part)] =
        to_text ? map.at(head, parts.first + part, query) : map.at(head, query, parts.first + part);
  return weights;
}

// Returns a value for each raster cell: the largest of `shares` among the regions that contain its center.
std::vector<double> RasterOf(const ImageTokens& parts, const std::vector<double>& shares) {
  std::vector<double> cells(static_cast<std::size_t>(parts.cells()));
  for (int cell = 0; cell < parts.cells(); ++cell) {
    const int row = cell / parts.columns, column = cell % parts.columns;
    const double x = (column + 0.5) * static_cast<double>(parts.image.width) / parts.columns,
                 y = (row + 0.5) * static_cast<double>(parts.image.height) / parts.rows;
    for (std::size_t region = 0; region < shares.size(); ++region) {
      const Box& box = parts.boxes[region];
      if (x >= box.left && x < box.right && y >= box.top && y < box.bottom)
        cells[static_cast<std::size_t>(cell)] = std::max(cells[static_cast<std::size_t>(cell)], shares[region]);
    }
  }
  return cells;
}

// Returns the relative weight of each cell or region, from 0 to 1.
std::vector<double> Shares(std::span<const float> weights, std::optional<double> mass) {
  std::vector<double> shares;
  if (mass) {
    for (const bool in : CellsOfMass(weights, *mass)) shares.push_back(in ? 1 : 0);
    return shares;
  }
  const float most = std::max(*std::ranges::max_element(weights), 1e-9f);
  for (const float weight : weights) shares.push_back(weight / most);
  return shares;
}

void DrawOverlay(Canvas& canvas, const CanvasImage& image, const Rectangle& where, const ImageTokens& cells,
                 const std::vector<double>& shares, int query_cell) {
  const double width = where.width / cells.columns, height = where.height / cells.rows;
  const auto cell = [&](int index) {
    const int row = index / cells.columns, column = index % cells.columns;
    return Rectangle{where.x + column * width, where.y + row * height, width, height};
  };
  canvas.Draw(image, where);
  std::map<int, std::vector<Rectangle>> covers;
  for (int index = 0; index < cells.cells(); ++index)
    covers[static_cast<int>(std::lround(shares[index] * kLevels))].push_back(cell(index));
  for (const auto& [level, rectangles] : covers)
    canvas.Shade(rectangles, HeatColor(static_cast<double>(level) / kLevels), kOverlayOpacity);
  if (query_cell >= 0) canvas.Outline(cell(query_cell), kMark, 1.5);
}

// Draws the part of a box that is in the image.
void DrawBox(Canvas& canvas, const Box& box, const Image& image, const Rectangle& where, double line) {
  const auto x = [&](double at) {
    return where.x + where.width * std::clamp(at / static_cast<double>(image.width), 0.0, 1.0);
  };
  const auto y = [&](double at) {
    return where.y + where.height * std::clamp(at / static_cast<double>(image.height), 0.0, 1.0);
  };
  canvas.Outline({x(box.left), y(box.top), x(box.right) - x(box.left), y(box.bottom) - y(box.top)}, kMark, line);
}

// The attention of one kind, with heads as columns and layers as rows. A page shows the attention of one query, or the
// attention of all cells or regions to one word.
struct Sheet {
  const AttentionRecord& record;
  const ImageDrawing& drawing;
  const ImageTokens& cells;
  AttentionKind kind;
  bool to_text;  // if true, the queries belong to the image
  std::vector<Row> rows = {};
  int heads = 0;          // the maximum over rows
  bool rollouts = false;  // if true, at least one row has a rollout, in the last column
  SheetLayout layout = {};

  bool of_all() const {  // true if there is a page for each token of query_tokens(); these tokens are not in the image
    return to_text || kind == AttentionKind::cross || kind == AttentionKind::text_to_image;
  }
  const std::vector<std::string>& query_tokens() const {
    return to_text ? record.key_tokens(kind) : record.query_tokens(kind);
  }
  bool IsPadding(int query) const {
    const bool of_source = &query_tokens() == &record.source_tokens;
    const std::vector<int>& special = of_source ? record.source_special : record.target_special;
    return query_tokens()[static_cast<std::size_t>(query)] == "padding" &&
           std::ranges::find(special, query) != special.end();
  }
  const AttentionMap& first() const { return *rows.front().heads; }
  int mean_columns() const { return heads > 1 ? 1 : 0; }
  int columns() const { return heads + mean_columns() + (rollouts ? 1 : 0); }

  void AddRows();
  void Draw(Canvas& canvas, int query) const;

 private:
  std::string Explanation(const std::string& token) const;
  void DrawHeader(Canvas& canvas, int query) const;
  void DrawScale(Canvas& canvas) const;
  void DrawColumnLabels(Canvas& canvas) const;
  CanvasImage SharpImage() const;
  void DrawHead(Canvas& canvas, const CanvasImage& image, const Rectangle& where, const AttentionMap& map, int head,
                int query) const;
};

void Sheet::AddRows() {
  for (const AttentionMap& map : record.maps) {
    if (map.kind != kind || map.rollout) continue;
    const auto rollout = std::ranges::find_if(record.maps, [&](const AttentionMap& other) {
      return other.rollout && other.kind == kind && other.layer == map.layer;
    });
    rows.push_back(
        {&map, map.heads > 1 ? MeanOf(map) : AttentionMap{}, rollout == record.maps.end() ? nullptr : &*rollout});
    rollouts = rollouts || rows.back().rollout != nullptr;
    heads = std::max(heads, map.heads);
  }
  if (!rows.empty()) return;
  for (const AttentionMap& map : record.maps) {  // only rollouts were selected
    if (map.kind != kind) continue;
    rows.push_back({&map, {}, nullptr});
    heads = 1;
  }
}

std::string Sheet::Explanation(const std::string& token) const {
  const bool relevance = first().relevance;
  const char* const whose = relevance ? "an image" : "a head";
  const char* const parts = cells.boxes.empty() ? "cells" : "regions";
  const std::string rule =
      drawing.mass ? fmt::format("the {} that hold {:g}% of {}'s weight are yellow", parts, 100 * *drawing.mass, whose)
                   : fmt::format("weights relative to {}'s largest", relevance ? "the row" : "the head");
  const std::string title = record.title.empty() ? "" : TokenLabel(record.title) + " · ";
  if (to_text) return fmt::format("{}which {} look at “{}”: {}", title, parts, TokenLabel(token), rule);
  return fmt::format("{}{} “{}” {}: {}", title, relevance ? "what the score of" : "where", TokenLabel(token),
                     relevance ? "is due to" : "looks", rule);
}

void Sheet::DrawHeader(Canvas& canvas, int query) const {
  canvas.Text({kPageMargin, kPageMargin + 8}, MapTitle(first()), {.size = 19, .bold = true}, Align::left);
  canvas.Text({kPageMargin, kPageMargin + 38}, Explanation(query_tokens()[static_cast<std::size_t>(query)]),
              {.size = 12, .color = kMutedInk}, Align::left, layout.width - 2 * kPageMargin);
  if (!drawing.mass) DrawScale(canvas);
}

void Sheet::DrawScale(Canvas& canvas) const {
  const Rectangle bar = {layout.width - kPageMargin - 30 - kScaleWidth, kPageMargin + 3, kScaleWidth, kScaleHeight};
  for (int level = 0; level < kLevels; ++level)
    canvas.Fill({bar.x + level * bar.width / kLevels, bar.y, bar.width / kLevels, bar.height},
                HeatColor(level / (kLevels - 1.0)));
  canvas.Text({bar.x - 6, bar.y + bar.height / 2}, "0", {.size = 12, .color = kMutedInk}, Align::right);
  canvas.Text({bar.x + bar.width + 6, bar.y + bar.height / 2}, "max", {.size = 12, .color = kMutedInk}, Align::left);
}

void Sheet::DrawColumnLabels(Canvas& canvas) const {
  if (columns() == 1 && !first().rollout && !first().relevance) return;
  const auto label = [&](int column, const std::string& text) {
    const Rectangle top = layout.At(0, column);
    canvas.Text({top.x + top.width / 2, top.y - 10}, text, {.size = 12}, Align::center, top.width);
  };
  for (int head = 0; head < heads; ++head)
    label(head, first().rollout ? "rollout" : first().relevance ? "relevance" : fmt::format("head {}", head + 1));
  if (mean_columns() > 0) label(heads, "mean");
  if (rollouts) label(columns() - 1, "rollout");
}

// Returns the pale image at the size at which it is drawn, so that it is not blurred.
CanvasImage Sheet::SharpImage() const {
  const auto sharp = [](double side, std::int64_t own) {
    return std::min(own, std::max<std::int64_t>(1, std::llround(2 * side)));
  };
  return CanvasImage(AdjustSaturation(Resize(cells.image, sharp(layout.image_height, cells.image.height),
                                             sharp(layout.image_width, cells.image.width), ResizeFilter::bilinear),
                                      kSaturation));
}

void Sheet::DrawHead(Canvas& canvas, const CanvasImage& image, const Rectangle& where, const AttentionMap& map,
                     int head, int query) const {
  const std::vector<double> shares = Shares(PartWeights(map, head, query, cells, to_text), drawing.mass);
  // The focus is only drawn if the queries also belong to this image.
  const int own = of_all() ? -1 : query - cells.first;
  DrawOverlay(canvas, image, where, cells, cells.boxes.empty() ? shares : RasterOf(cells, shares),
              own < cells.cells() ? own : -1);
  for (std::size_t region = 0; region < cells.boxes.size(); ++region)
    DrawBox(canvas, cells.boxes[region], cells.image, where, shares[region] == 1 ? 1.5 : 0.5);
  if (kind == AttentionKind::cross && !record.target_boxes.empty())
    DrawBox(canvas, record.target_boxes[static_cast<std::size_t>(query)], cells.image, where, 1.5);
}

void Sheet::Draw(Canvas& canvas, int query) const {
  DrawHeader(canvas, query);
  const CanvasImage image = SharpImage();
  for (int row = 0; row < layout.rows; ++row) {
    const Row& layer = rows[static_cast<std::size_t>(row)];
    const Rectangle left = layout.At(row, 0);
    canvas.Text({kPageMargin, left.y + left.height / 2},
                fmt::format("{}layer {}", layer.heads->relevance ? "from " : "", layer.heads->layer + 1), {.size = 12},
                Align::left);
    for (int head = 0; head < layer.heads->heads; ++head)
      DrawHead(canvas, image, layout.At(row, head), *layer.heads, head, query);
    if (layer.mean.heads > 0) DrawHead(canvas, image, layout.At(row, heads), layer.mean, 0, query);
    if (layer.rollout != nullptr) DrawHead(canvas, image, layout.At(row, columns() - 1), *layer.rollout, 0, query);
  }
  DrawColumnLabels(canvas);
}

}  // namespace

SheetLayout LayOutSheet(const ImageTokens& cells, int rows, int columns) {
  SheetLayout layout{.columns = columns, .rows = rows};
  const double side = std::clamp(kSheetWidth / columns - kSheetGap, kLeastImageSide, kMostImageSide);
  // Whole pixels, so that no gaps are visible between cells.
  layout.cell = std::max(1.0, std::round(side / std::max(cells.rows, cells.columns)));
  layout.image_width = layout.cell * cells.columns;
  layout.image_height = layout.cell * cells.rows;
  layout.width =
      std::max(kLeastSheetWidth, 2 * kPageMargin + kRowLabels + columns * (layout.image_width + kSheetGap) - kSheetGap);
  layout.height = 2 * kPageMargin + kSheetHeader + kColumnLabels + rows * (layout.image_height + kSheetGap) - kSheetGap;
  return layout;
}

Rectangle SheetLayout::At(int row, int column) const {
  return {kPageMargin + kRowLabels + column * (image_width + kSheetGap),
          kPageMargin + kSheetHeader + kColumnLabels + row * (image_height + kSheetGap), image_width, image_height};
}

void DrawImageAttention(const AttentionRecord& record, const ImageDrawing& drawing, const std::string& path) {
  CheckImagePath(path);
  CheckAttention(record);
  std::vector<Page> pages;
  for (const AttentionKind kind : {AttentionKind::encoder_self, AttentionKind::decoder_self, AttentionKind::cross,
                                   AttentionKind::text_to_image, AttentionKind::image_to_text}) {
    const bool to_text = !record.key_image(kind);
    const std::optional<ImageTokens>& cells = to_text ? record.query_image(kind) : record.key_image(kind);
    if (!cells) continue;
    Sheet sheet = {.record = record, .drawing = drawing, .cells = *cells, .kind = kind, .to_text = to_text};
    sheet.AddRows();
    if (sheet.rows.empty()) continue;
    Check(sheet.of_all() || (drawing.query >= 0 && drawing.query < std::ssize(sheet.query_tokens())),
          "query {}: the model read {} tokens", drawing.query, sheet.query_tokens().size());
    sheet.layout = LayOutSheet(*cells, static_cast<int>(sheet.rows.size()), sheet.columns());

    const auto shared = std::make_shared<const Sheet>(std::move(sheet));
    const auto add_page = [&](const std::string& title, int query) {
      pages.push_back({title, shared->layout.width, shared->layout.height,
                       [shared, query](Canvas& canvas) { shared->Draw(canvas, query); }});
    };
    if (!shared->of_all()) {
      add_page(MapTitle(shared->first()), drawing.query);
      continue;
    }
    for (int query = 0; query < static_cast<int>(shared->query_tokens().size()); ++query)
      if (!shared->IsPadding(query))
        add_page(TokenLabel(shared->query_tokens()[static_cast<std::size_t>(query)]), query);
  }
  Check(!pages.empty(), "attention: none of these maps is of an image");
  WriteImage(path, record.title.empty() ? "Attention" : TokenLabel(record.title), pages);
}

}  // namespace headlight
