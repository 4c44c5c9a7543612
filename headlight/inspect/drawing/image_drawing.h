// Attention over an image, as a sheet: a row for each layer, a column for each head.
#pragma once

#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/inspect/attention_record.h"
#include "headlight/inspect/drawing/canvas.h"

namespace headlight {

struct ImageDrawing {
  int query = 0;                    // the token whose attention is drawn; attention of or to words is drawn of each
  std::optional<double> mass = {};  // where given, each head shows the cells that hold this share of its weight
};

// The images of a sheet: of each layer its heads, then their mean where there are several, and the rollout where the
// record has it.
struct SheetLayout {
  int columns = 1, rows = 1;
  double cell = 0;  // the side of an image's cell
  double image_width = 0, image_height = 0;
  double width = 0, height = 0;  // of the page

  Rectangle At(int row, int column) const;
};
HEADLIGHT_API SheetLayout LayOutSheet(const ImageTokens& cells, int rows, int columns);

// Draws the attentions of the record whose keys are an image, or whose queries are its regions, to `path` (.png, .svg
// or .pdf): the image is dark where a head does not look, and bright and half orange where the head looks most; or,
// with a mass, dark outside of the cells that hold that share. Throws Error for a record that CheckAttention refuses or
// without an image, a query that is not there, and as DrawAttention does.
HEADLIGHT_API void DrawImageAttention(const AttentionRecord& record, const ImageDrawing& drawing,
                                      const std::string& path);

}  // namespace headlight
