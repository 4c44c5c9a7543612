// Draws a confusion matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/inspect/drawing/canvas.h"

namespace headlight {

struct ConfusionMatrix {
  std::string title;
  std::vector<std::string> labels;
  std::vector<std::int64_t> counts;  // [true class, predicted class]
};

/// The layout: a row for each true class and a column for each predicted class, with space for their names.
struct ConfusionLayout {
  double cell = 0, labels = 0;          // the side of a square; the space for names, left and above
  bool numbers = false, names = false;  // if true, shows the counts and the class names
  double width = 0, height = 0;         // size of the page

  Rectangle Cell(std::size_t right, std::size_t found) const;
};
HEADLIGHT_API ConfusionLayout LayOutConfusions(const ConfusionMatrix& matrix);

/// Draws the confusion matrix to `path` (.png, .svg or .pdf). A square is darker for a larger fraction of its row, and
/// shows its count if there is enough space. Throws Error for counts that do not match the labels, another extension, a
/// PNG that would be too large, and a file that cannot be written.
HEADLIGHT_API void DrawConfusions(const ConfusionMatrix& matrix, const std::string& path);

}  // namespace headlight
