// Draws attention over an image, with a row for each layer and a column for each head.
#pragma once

#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/inspect/drawing/canvas.h"

namespace headlight {

struct ImageDrawing {
  int query = 0;                    // the token whose attention is drawn; unused for words, since all words are drawn
  std::optional<double> mass = {};  // if given, each head shows the cells with this fraction of its weight
};

/// The layout of a page. For each layer, the page shows the heads, their mean if there are several, and the rollout if
/// the record has one.
struct SheetLayout {
  int columns = 1, rows = 1;
  double cell = 0;  // the side of a cell of the image
  double image_width = 0, image_height = 0;
  double width = 0, height = 0;  // size of the page

  Rectangle At(int row, int column) const;
};
HEADLIGHT_API SheetLayout LayOutSheet(const ImageTokens& cells, int rows, int columns);

/// Draws the attentions of the record whose keys are an image, or whose queries are regions of an image, to `path`
/// (.png, .svg or .pdf). Weights are drawn as colors (HeatColor) over a faded copy of the image, relative to the
/// largest weight of each head. If `mass` is given, the cells with this fraction of the total weight are drawn in the
/// color for 1, and all others in the color for 0. Throws Error for a record without an image and for a query out of
/// range. Throws the same errors as DrawAttention.
HEADLIGHT_API void DrawImageAttention(const AttentionRecord& record, const ImageDrawing& drawing,
                                      const std::string& path);

}  // namespace headlight
