#include "headlight/inspect/drawing/confusion_drawing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "headlight/base/error.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

constexpr double kMatrixHeader = 66, kMatrixGap = 8, kMostLabel = 160, kLeastMatrixWidth = 460;
constexpr TextStyle kName{.size = 12}, kCount{.size = 11};
constexpr std::size_t kMostNamed = 150,
                      kMostNumbered = 40;  // maximum number of classes for readable names and counts

}  // namespace

Rectangle ConfusionLayout::Cell(std::size_t right, std::size_t found) const {
  return {kPageMargin + labels + static_cast<double>(found) * cell,
          kPageMargin + kMatrixHeader + labels + static_cast<double>(right) * cell, cell, cell};
}

ConfusionLayout LayOutConfusions(const ConfusionMatrix& matrix) {
  const std::size_t classes = matrix.labels.size();
  ConfusionLayout layout{.numbers = classes <= kMostNumbered, .names = classes <= kMostNamed};
  layout.cell = layout.numbers ? 26 : layout.names ? 14 : 4;
  if (layout.numbers && !matrix.counts.empty()) {
    const std::string longest = fmt::format("{}", *std::ranges::max_element(matrix.counts));
    layout.cell = std::max(layout.cell, std::ceil(TextWidth(longest, kCount)) + 8);
  }
  if (layout.names)
    for (const std::string& label : matrix.labels)
      layout.labels = std::max(layout.labels, std::min(kMostLabel, TextWidth(TokenLabel(label), kName)) + kMatrixGap);
  const double side = layout.labels + static_cast<double>(classes) * layout.cell;
  layout.width = std::max(kLeastMatrixWidth, 2 * kPageMargin + side);
  layout.height = 2 * kPageMargin + kMatrixHeader + side;
  return layout;
}

void DrawConfusions(const ConfusionMatrix& matrix, const std::string& path) {
  CheckImagePath(path);
  const std::size_t classes = matrix.labels.size();
  Check(classes > 0 && matrix.counts.size() == classes * classes, "a confusion matrix of {} classes has {} counts",
        classes, matrix.counts.size());
  const ConfusionLayout layout = LayOutConfusions(matrix);
  const std::string title = matrix.title.empty() ? "Confusions" : TokenLabel(matrix.title);
  const auto draw = [&](Canvas& canvas) {
    canvas.Text({kPageMargin, kPageMargin + 8}, title, {.size = 17, .bold = true}, Align::left,
                layout.width - 2 * kPageMargin);
    canvas.Text({kPageMargin, kPageMargin + 34}, "rows: true class; columns: predicted class",
                {.size = 12, .color = kMutedInk}, Align::left, layout.width - 2 * kPageMargin);
    for (std::size_t i = 0; i < classes; ++i) {
      const std::span<const std::int64_t> row(matrix.counts.data() + i * classes, classes);
      const auto sum =
          static_cast<double>(std::max<std::int64_t>(1, std::accumulate(row.begin(), row.end(), std::int64_t{0})));
      for (std::size_t j = 0; j < classes; ++j) {
        const Rectangle cell = layout.Cell(i, j);
        const double share = static_cast<double>(row[j]) / sum;
        canvas.Fill(cell, RampColor(share, Theme::light));
        if (!layout.numbers || row[j] == 0) continue;
        TextStyle style = kCount;
        if (share > 0.5) style.color = kPaper;
        canvas.Text({cell.x + cell.width / 2, cell.y + cell.height / 2}, fmt::format("{}", row[j]), style,
                    Align::center);
      }
      if (!layout.names) continue;
      const Rectangle own = layout.Cell(i, 0), above = layout.Cell(0, i);
      const std::string label = TokenLabel(matrix.labels[i]);
      canvas.Text({own.x - kMatrixGap, own.y + own.height / 2}, label, kName, Align::right, kMostLabel);
      canvas.Text({above.x + above.width / 2, above.y - kMatrixGap}, label, kName, Align::left, kMostLabel,
                  /*upwards=*/true);
    }
    const Rectangle first = layout.Cell(0, 0);
    const double side = static_cast<double>(classes) * layout.cell;
    canvas.Outline({first.x, first.y, side, side}, kRule, 1);
  };
  WriteImage(path, title, {{title, layout.width, layout.height, draw}});
}

}  // namespace headlight
