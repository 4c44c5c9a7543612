#include "headlight/inspect/drawing/attention_layout.h"

#include <algorithm>

#include "headlight/text/token_label.h"

namespace headlight {
namespace {

constexpr double kHeader = 74, kGap = 28, kLabelGap = 5;
constexpr double kLeastWidth = 760;       // minimum width of the header
constexpr double kWidestLabel = 110;      // longer tokens are truncated
constexpr double kLeastQueryLabels = 52;  // leaves space for "head 12" above the labels
constexpr int kMostColumns = 4;

// Returns the side of a cell. A map is about 480 pixels wide. With up to 80 tokens, cells are at least as large as
// their labels.
double CellSide(int tokens) {
  return tokens <= 80 ? std::clamp(480.0 / tokens, 14.0, 34.0) : std::max(2.0, 1120.0 / tokens);
}

double WidestLabel(const std::vector<std::string>& tokens, const TextStyle& style) {
  double widest = 0;
  for (const std::string& token : tokens) widest = std::max(widest, TextWidth(TokenLabel(token), style));
  return widest;
}

}  // namespace

AttentionLayout LayOutAttention(const AttentionRecord& record, const AttentionMap& map) {
  AttentionLayout layout;
  layout.columns = std::min(map.heads, kMostColumns);
  layout.rows = (map.heads + layout.columns - 1) / layout.columns;
  layout.cell = CellSide(std::max(map.queries, map.keys));
  layout.map_width = layout.cell * map.keys;
  layout.map_height = layout.cell * map.queries;
  layout.label.size = std::clamp(0.7 * layout.cell, 10.0, 13.0);
  while (layout.cell * layout.label_step < 1.2 * layout.label.size) ++layout.label_step;

  const double widest_key = WidestLabel(record.key_tokens(map.kind), layout.label);
  layout.upwards = widest_key > layout.cell * layout.label_step - 2;
  layout.key_labels = (layout.upwards ? std::max(std::min(widest_key, kWidestLabel), 16.0) : 16) + kLabelGap;
  const double widest_query = std::min(WidestLabel(record.query_tokens(map.kind), layout.label), kWidestLabel);
  layout.query_labels = std::max(widest_query, kLeastQueryLabels) + kLabelGap;

  layout.width =
      std::max(kLeastWidth, 2 * kPageMargin + layout.columns * (layout.query_labels + layout.map_width + kGap) - kGap);
  layout.height = 2 * kPageMargin + kHeader + layout.rows * (layout.key_labels + layout.map_height + kGap) - kGap;
  return layout;
}

Rectangle AttentionLayout::Map(int head) const {
  const int row = head / columns, column = head % columns;
  return {kPageMargin + query_labels + column * (query_labels + map_width + kGap),
          kPageMargin + kHeader + key_labels + row * (key_labels + map_height + kGap), map_width, map_height};
}

Rectangle AttentionLayout::Cell(int head, int query, int key) const {
  const Rectangle map = Map(head);
  return {map.x + key * cell, map.y + query * cell, cell, cell};
}

}  // namespace headlight
