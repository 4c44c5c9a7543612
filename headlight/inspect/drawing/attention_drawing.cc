#include "headlight/inspect/drawing/attention_drawing.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "headlight/inspect/drawing/attention_layout.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

std::string PageTitle(const AttentionMap& map) { return fmt::format("{}, layer {}", MapTitle(map), map.layer + 1); }

// Returns a text that explains the rows and columns.
std::string Explanation(const AttentionRecord& record, AttentionKind kind) {
  if (record.source_tokens.empty() || record.target_tokens.empty())  // a model with only one text as input
    return "Each row is a token (query); its weights over the tokens (keys) sum to 1.";
  const char* rows = kind == AttentionKind::encoder_self ? "source" : "target";
  const char* columns = kind == AttentionKind::decoder_self ? "target" : "source";
  return fmt::format("Each row is a {} token (query); its weights over the {} tokens (keys) sum to 1.", rows, columns);
}

// Draws a color bar from weight 0 to the largest weight, and the hatching of causal maps next to it. The color bar ends
// at `right`.
void DrawColorBar(Canvas& canvas, double right, double y, const AttentionMap& map) {
  constexpr int kSteps = 64;
  constexpr double kWidth = 192, kHeight = 12;
  const TextStyle small = {.size = 11, .color = kMutedInk};
  const double left = right - kWidth;
  for (int step = 0; step < kSteps; ++step) {
    // A rectangle is slightly wider than its step, so that there is no gap between two rectangles.
    const double width = kWidth / kSteps + (step + 1 < kSteps ? 0.5 : 0);
    canvas.Fill({left + step * kWidth / kSteps, y, width, kHeight}, RampColor(step / (kSteps - 1.0), Theme::light));
  }
  canvas.Outline({left, y, kWidth, kHeight}, kRule, 0.75);
  canvas.Text({left, y + kHeight + 11}, "0", small, Align::left);
  canvas.Text({left + kWidth / 2, y + kHeight + 11}, "attention weight", small, Align::center);
  canvas.Text({right, y + kHeight + 11}, fmt::format("{:.3g}", LargestWeight(map)), small, Align::right);
  if (map.kind != AttentionKind::decoder_self) return;
  const Rectangle swatch = {left - 120, y, 24, kHeight};
  canvas.Hatch({&swatch, 1});
  canvas.Outline(swatch, kRule, 0.75);
  canvas.Text({swatch.x + 30, y + kHeight / 2}, "later token", small, Align::left);
}

void DrawHead(Canvas& canvas, const AttentionLayout& layout, const AttentionMap& map, int head) {
  // Draws the weights as colors. There is one list of rectangles for each of 256 colors, and one rectangle for equal
  // neighbors in a row, so that vector files are small.
  constexpr int kColors = 256;
  std::array<std::vector<Rectangle>, kColors> cells;
  std::vector<Rectangle> masked;
  const float largest = LargestWeight(map);
  for (int query = 0; query < map.queries; ++query) {
    for (int key = 0; key < map.keys;) {
      const auto level = [&](int k) {
        return map.masked(query, k) ? -1
                                    : static_cast<int>(std::lround(map.at(head, query, k) / largest * (kColors - 1)));
      };
      const int begin = key, color = std::min(level(key), kColors - 1);
      while (key < map.keys && std::min(level(key), kColors - 1) == color) ++key;
      Rectangle run = layout.Cell(head, query, begin);
      run.width *= key - begin;
      (color < 0 ? masked : cells[color]).push_back(run);
    }
  }
  const Rectangle frame = layout.Map(head);
  for (int color = 0; color < kColors; ++color) {
    if (!cells[color].empty()) canvas.Fill(cells[color], RampColor(color / (kColors - 1.0), Theme::light));
  }
  // Thin lines in the background color separate the cells.
  if (layout.cell >= 8) {
    for (int key = 1; key < map.keys; ++key) {
      const double x = frame.x + key * layout.cell;
      canvas.Line(std::array<Point, 2>{{{x, frame.y}, {x, frame.y + frame.height}}}, kPaper, 0.75);
    }
    for (int query = 1; query < map.queries; ++query) {
      const double y = frame.y + query * layout.cell;
      canvas.Line(std::array<Point, 2>{{{frame.x, y}, {frame.x + frame.width, y}}}, kPaper, 0.75);
    }
  }
  canvas.Hatch(masked);
  canvas.Outline(frame, kRule, 0.75);
}

void DrawLabels(Canvas& canvas, const AttentionLayout& layout, const AttentionRecord& record, const AttentionMap& map,
                int head) {
  const Rectangle frame = layout.Map(head);
  constexpr double kOff = 5;
  const auto& queries = record.query_tokens(map.kind);
  for (int query = 0; query < map.queries; query += layout.label_step) {
    canvas.Text({frame.x - kOff, frame.y + (query + 0.5) * layout.cell}, TokenLabel(queries[query]), layout.label,
                Align::right, layout.query_labels - kOff);
  }
  const auto& keys = record.key_tokens(map.kind);
  for (int key = 0; key < map.keys; key += layout.label_step) {
    const double x = frame.x + (key + 0.5) * layout.cell;
    if (layout.upwards) {
      canvas.Text({x, frame.y - kOff}, TokenLabel(keys[key]), layout.label, Align::left, layout.key_labels - kOff,
                  true);
    } else {
      canvas.Text({x, frame.y - 10}, TokenLabel(keys[key]), layout.label, Align::center);
    }
  }
  // The name of the head is in the corner that has no labels.
  if (map.heads == 1) return;
  canvas.Text({frame.x - layout.query_labels, frame.y - layout.key_labels + 8}, fmt::format("head {}", head + 1),
              {.size = 12, .bold = true}, Align::left);
}

void DrawMap(Canvas& canvas, const AttentionLayout& layout, const AttentionRecord& record, const AttentionMap& map) {
  canvas.Text({kPageMargin, kPageMargin + 8}, PageTitle(map), {.size = 19, .bold = true}, Align::left);
  std::string explanation = Explanation(record, map.kind);
  if (!record.title.empty()) explanation = fmt::format("{} · {}", TokenLabel(record.title), explanation);
  canvas.Text({kPageMargin, kPageMargin + 41}, explanation, {.size = 12, .color = kMutedInk}, Align::left,
              layout.width - 2 * kPageMargin);
  DrawColorBar(canvas, layout.width - kPageMargin, kPageMargin, map);
  for (int head = 0; head < map.heads; ++head) {
    DrawHead(canvas, layout, map, head);
    DrawLabels(canvas, layout, record, map, head);
  }
}

}  // namespace

void DrawAttention(const AttentionRecord& record, const std::string& path) {
  CheckImagePath(path);
  CheckAttention(record, kMostDrawnWeights);
  std::vector<Page> pages;
  for (const AttentionMap& map : record.maps) {
    const AttentionLayout layout = LayOutAttention(record, map);
    pages.push_back({PageTitle(map), layout.width, layout.height,
                     [&record, &map, layout](Canvas& canvas) { DrawMap(canvas, layout, record, map); }});
  }
  WriteImage(path, record.title.empty() ? "Attention" : TokenLabel(record.title), pages);
}

}  // namespace headlight
