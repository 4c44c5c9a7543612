#include "headlight/inspect/drawing/confidence_drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

constexpr double kSide = 480, kBars = 140, kPlotHeader = 52, kAxis = 40, kPlotGap = 56, kPlotLegend = 30;
constexpr TextStyle kNumber{.size = 10, .color = kMutedInk}, kPlotCaption{.size = 12};

struct LddtBand {
  double above;
  Color color;
  const char* name;
};
constexpr std::array<LddtBand, 4> kBands = {{{90, {0, 83, 214}, "above 90"},
                                             {70, {101, 203, 243}, "70 to 90"},
                                             {50, {255, 219, 19}, "50 to 70"},
                                             {-1, {255, 125, 69}, "below 50"}}};

// Returns the distance between the labels on an axis of residues, which has at most ten labels.
std::size_t StepOf(std::size_t residues) {
  for (std::size_t power = 1;; power *= 10)
    for (const std::size_t step : {power, 2 * power, 5 * power})
      if (residues / step <= 10) return step;
}

void DrawBars(Canvas& canvas, std::span<const float> plddt, const Rectangle& where) {
  const double width = where.width / static_cast<double>(plddt.size());
  for (const LddtBand& band : kBands) {
    std::vector<Rectangle> bars;
    for (std::size_t i = 0; i < plddt.size(); ++i) {
      if (ColorOfLddt(static_cast<double>(plddt[i])) != band.color) continue;
      const double height = where.height * static_cast<double>(plddt[i]) / 100;
      bars.push_back({where.x + static_cast<double>(i) * width, where.y + where.height - height, width, height});
    }
    canvas.Fill(bars, band.color);
  }
  for (const int value : {0, 50, 70, 90, 100}) {
    const double y = where.y + where.height * (1 - value / 100.0);
    const std::array<Point, 2> line = {Point{where.x, y}, Point{where.x + where.width, y}};
    canvas.Line(line, kRule, 0.5);
    canvas.Text({where.x - 6, y}, fmt::format("{}", value), kNumber, Align::right);
  }
}

// Returns an image with a square of pixels for each pair, so that short chains are not blurred by scaling.
Image PixelsOf(const Matrix<const float>& errors, double most) {
  constexpr std::int64_t kPixels = 2 * static_cast<std::int64_t>(kSide);
  const std::int64_t times = std::max<std::int64_t>(1, kPixels / errors.rows);
  Image image{.height = times * errors.rows, .width = times * errors.columns, .pixels = {}};
  image.pixels.reserve(static_cast<std::size_t>(3 * image.height * image.width));
  for (std::int64_t i = 0; i < image.height; ++i) {
    for (std::int64_t j = 0; j < image.width; ++j) {
      const auto error = static_cast<double>(errors.row(i / times)[j / times]);
      const Color color = RampColor(1 - error / most, Theme::light);
      image.pixels.insert(image.pixels.end(), {color.red, color.green, color.blue});
    }
  }
  return image;
}

void DrawScale(Canvas& canvas, const Rectangle& where, double most) {
  constexpr int kSteps = 64;
  for (int step = 0; step < kSteps; ++step)
    canvas.Fill({where.x + where.width * step / kSteps, where.y, where.width / kSteps + 0.5, where.height},
                RampColor(1 - step / (kSteps - 1.0), Theme::light));
  canvas.Outline(where, kRule, 1);
  const double middle = where.y + where.height / 2;
  canvas.Text({where.x - 6, middle}, "0 \u00c5", kNumber, Align::right);
  canvas.Text({where.x + where.width + 6, middle}, fmt::format("{:.0f} \u00c5", most), kNumber, Align::left);
}

}  // namespace

Color ColorOfLddt(double plddt) {
  for (const LddtBand& band : kBands)
    if (plddt > band.above) return band.color;
  return kBands.back().color;
}

void DrawConfidence(const ConfidenceImage& confidence, const std::string& path) {
  CheckImagePath(path);
  const std::size_t residues = confidence.plddt.size();
  const Matrix<const float>& errors = confidence.errors;
  Check(residues > 0, "there are no residues to draw");
  for (const float plddt : confidence.plddt)
    Check(plddt >= 0 && plddt <= 100, "pLDDT must be from 0 to 100, not {}", plddt);
  Check(errors.rows == 0 || (errors.rows == static_cast<std::int64_t>(residues) && errors.columns == errors.rows),
        "predicted errors have {} x {} residues, but the chain has {}", errors.rows, errors.columns, residues);
  for (std::int64_t i = 0; i < errors.rows; ++i)
    for (std::int64_t j = 0; j < errors.columns; ++j)
      Check(errors.row(i)[j] >= 0 && static_cast<double>(errors.row(i)[j]) <= confidence.most,
            "a predicted error is {}, but must be from 0 to {}", errors.row(i)[j], confidence.most);

  const bool map = errors.rows > 0;
  const Rectangle bars = {kPageMargin + kAxis, kPageMargin + kPlotHeader, kSide, kBars};
  const Rectangle square = {bars.x, bars.y + kBars + kPlotGap + kPlotLegend, kSide, kSide};
  const double width = 2 * kPageMargin + kAxis + kSide;
  const double height = (map ? square.y + kSide + kPlotGap : bars.y + kBars + kPlotLegend + kPlotGap / 2) + kPageMargin;
  std::optional<CanvasImage> pixels;
  if (map) pixels.emplace(PixelsOf(errors, confidence.most));
  const std::string title = confidence.title.empty() ? "Confidence" : TokenLabel(confidence.title);
  const auto draw = [&](Canvas& canvas) {
    canvas.Text({kPageMargin, kPageMargin + 8}, title, {.size = 17, .bold = true}, Align::left,
                width - 2 * kPageMargin);
    canvas.Text({kPageMargin, kPageMargin + 34}, "pLDDT of each residue", kPlotCaption, Align::left);
    double x = bars.x + kSide;
    for (auto band = kBands.rbegin(); band != kBands.rend(); ++band) {
      x -= TextWidth(band->name, kNumber);
      canvas.Text({x, kPageMargin + 34}, band->name, kNumber, Align::left);
      canvas.Fill({x - 12, kPageMargin + 30, 8, 8}, band->color);
      x -= 24;
    }
    DrawBars(canvas, confidence.plddt, bars);
    const double step_width = kSide / static_cast<double>(residues);
    for (std::size_t i = StepOf(residues); i <= residues; i += StepOf(residues)) {
      const double middle = (static_cast<double>(i) - 0.5) * step_width;
      canvas.Text({bars.x + middle, bars.y + kBars + 10}, fmt::format("{}", i), kNumber, Align::center);
      if (!map) continue;
      canvas.Text({square.x + middle, square.y + kSide + 10}, fmt::format("{}", i), kNumber, Align::center);
      canvas.Text({square.x - 6, square.y + middle}, fmt::format("{}", i), kNumber, Align::right);
    }
    if (!map) return;
    canvas.Text({kPageMargin, square.y - 18}, "predicted error of the column's residue, aligned on the row's",
                kPlotCaption, Align::left);
    canvas.Draw(*pixels, square);
    canvas.Outline(square, kRule, 1);
    DrawScale(canvas, {square.x + kSide / 4, square.y + kSide + 30, kSide / 2, 12}, confidence.most);
  };
  WriteImage(path, title, {{title, width, height, draw}});
}

}  // namespace headlight
