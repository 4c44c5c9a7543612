#include "headlight/inspect/drawing/training_drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headlight/base/error.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

constexpr double kWidth = 760, kLeft = 84,
                 kRight = 660;  // the width of the page, and the left and right ends of the lines
constexpr double kCurvesHeader = 64, kPanelHeight = 150, kPanelGap = 66, kFooter = 44;
constexpr Color kTrain = {71, 119, 199}, kValidation = {196, 92, 34}, kScore = {30, 130, 95}, kRate = {110, 86, 180};
constexpr std::size_t kMostPoints = 600;  // the maximum number of points of a line; one per pixel is sufficient

struct Series {
  std::string name;
  const Curve* curve;
  Color color;
  bool dots;  // if true, each value is marked by a dot
};

struct Panel {
  std::string title;
  bool from_zero;
  std::vector<Series> series;
};

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void Include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value), high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

// Returns about `count` round values that cover the range.
std::vector<double> Ticks(Range range, int count) {
  const double rough = std::max((range.high - range.low) / count, 1e-12 * std::max(1.0, std::abs(range.high)));
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (double i = std::floor(range.low / step + 1e-9); ticks.empty() || ticks.back() < range.high - 1e-9 * step; ++i) {
    ticks.push_back(i * step);
  }
  return ticks;
}

std::string TickLabel(double value) {
  if (std::abs(value) < 1000 || std::abs(value) >= 1e12) return fmt::format("{:.4g}", value);
  std::string text = fmt::format("{:.0f}", value);
  for (std::size_t at = text.size() - 3; at > (value < 0 ? 1u : 0u) && at < text.size(); at -= 3) {
    text.insert(at, 1, ',');
  }
  return text;
}

void CheckCurve(const Curve& curve, const char* name) {
  Check(curve.steps.size() == curve.values.size(), "training curve {}: {} steps, but {} values", name,
        curve.steps.size(), curve.values.size());
  for (std::size_t i = 0; i < curve.steps.size(); ++i) {
    Check(std::isfinite(curve.steps[i]) && (i == 0 || curve.steps[i] > curve.steps[i - 1]),
          "training curve {}: step {} at index {}: steps must increase", name, curve.steps[i], i);
  }
}

// Returns the curve with at most kMostPoints points, which are means of neighboring points. A gap (NaN) remains a gap.
Curve Thinned(const Curve& curve) {
  const std::size_t stride = (curve.steps.size() + kMostPoints - 1) / kMostPoints;
  if (stride <= 1) return curve;
  Curve thinned;
  for (std::size_t begin = 0; begin < curve.steps.size(); begin += stride) {
    const std::size_t end = std::min(begin + stride, curve.steps.size());
    double step = 0, value = 0;
    for (std::size_t i = begin; i < end; ++i) step += curve.steps[i], value += curve.values[i];
    thinned.steps.push_back(step / static_cast<double>(end - begin));
    thinned.values.push_back(value / static_cast<double>(end - begin));
  }
  return thinned;
}

struct Axes {
  Range x, y;
  double top;
  Point At(double step, double value) const {
    return {kLeft + (step - x.low) / (x.high - x.low) * (kRight - kLeft),
            top + kPanelHeight * (1 - (value - y.low) / (y.high - y.low))};
  }
};

// Draws a curve. Returns the last point, or {-1, -1} if there is none.
Point DrawSeries(Canvas& canvas, const Axes& axes, const Series& series) {
  const Curve curve = Thinned(*series.curve);
  std::vector<Point> points;
  Point last = {-1, -1};
  for (std::size_t i = 0; i <= curve.steps.size(); ++i) {
    if (i < curve.steps.size() && std::isfinite(curve.values[i])) {
      points.push_back(axes.At(curve.steps[i], curve.values[i]));
      last = points.back();
      continue;
    }
    if (points.size() > 1) canvas.Line(points, series.color, 1.75);
    if (series.dots || points.size() == 1) {
      const double radius = points.size() > 60 ? 1.5 : 2.75;
      for (const Point& point : points) canvas.Dot(point, radius, series.color);
    }
    points.clear();
  }
  return last;
}

void DrawPanel(Canvas& canvas, const Panel& panel, Range steps, double top) {
  Range values;
  for (const Series& series : panel.series) {
    for (const double value : series.curve->values) values.Include(value);
  }
  if (panel.from_zero) values.Include(0);
  if (values.low == values.high) values.high += std::max(1e-3, 0.1 * std::abs(values.high));
  const std::vector<double> ticks = Ticks(values, 4);
  const Axes axes = {steps, {ticks.front(), ticks.back()}, top};
  canvas.Text({kLeft, top - 18}, panel.title, {.size = 13, .bold = true}, Align::left);
  for (const double tick : ticks) {
    const double y = axes.At(0, tick).y;
    canvas.Line(std::vector<Point>{{kLeft, y}, {kRight, y}}, kRule, 0.75);
    canvas.Text({kLeft - 8, y}, TickLabel(tick), {.size = 11, .color = kMutedInk}, Align::right);
  }
  // The name of each line is at its end. Names that would overlap are moved apart.
  std::vector<std::pair<double, const Series*>> names;
  for (const Series& series : panel.series) {
    const Point last = DrawSeries(canvas, axes, series);
    if (last.x >= 0 && !series.name.empty()) names.push_back({last.y, &series});
  }
  std::sort(names.begin(), names.end());
  double lowest = -1e9;
  for (auto& [y, series] : names) {
    y = std::max(y, lowest + 15);
    lowest = y;
    canvas.Text({kRight + 10, y}, series->name, {.size = 12, .color = series->color}, Align::left);
  }
}

void DrawSteps(Canvas& canvas, Range steps, double y) {
  for (const double tick : Ticks(steps, 6)) {
    if (tick < steps.low || tick > steps.high) continue;
    const double x = kLeft + (tick - steps.low) / (steps.high - steps.low) * (kRight - kLeft);
    canvas.Line(std::vector<Point>{{x, y}, {x, y + 4}}, kMutedInk, 0.75);
    canvas.Text({x, y + 14}, TickLabel(tick), {.size = 11, .color = kMutedInk}, Align::center);
  }
  canvas.Text({kRight + 32, y + 14}, "steps", {.size = 11, .color = kMutedInk}, Align::left);
}

}  // namespace

void DrawTraining(const TrainingCurves& curves, const std::string& path) {
  CheckImagePath(path);
  std::vector<Panel> panels = {
      {"Loss (nats per token)",
       false,
       {{"train", &curves.train_loss, kTrain, false}, {"validation", &curves.validation_loss, kValidation, true}}}};
  for (const NamedCurve& score : curves.scores)
    panels.push_back({TokenLabel(score.name) + " (validation)", true, {{"", &score.curve, kScore, true}}});
  panels.push_back({"Learning rate", true, {{"", &curves.learning_rate, kRate, false}}});
  Range steps;
  steps.Include(0);
  for (Panel& panel : panels) {
    for (const Series& series : panel.series) {
      CheckCurve(*series.curve, panel.title.c_str());
      for (const double step : series.curve->steps) steps.Include(step);
    }
    std::erase_if(panel.series, [](const Series& series) {
      return std::none_of(series.curve->values.begin(), series.curve->values.end(),
                          [](double value) { return std::isfinite(value); });
    });
  }
  std::erase_if(panels, [](const Panel& panel) { return panel.series.empty(); });
  Check(!panels.empty(), "{}: no value of this training can be drawn", path);
  steps.Include(1);

  const std::string title = curves.title.empty() ? "Training" : TokenLabel(curves.title);
  const double height =
      kCurvesHeader + static_cast<double>(panels.size()) * (kPanelHeight + kPanelGap) - kPanelGap + kFooter;
  const auto draw = [&](Canvas& canvas) {
    canvas.Text({32, 26}, title, {.size = 17, .bold = true}, Align::left, kWidth - 64);
    double top = kCurvesHeader + 6;
    for (const Panel& panel : panels) {
      DrawPanel(canvas, panel, steps, top);
      DrawSteps(canvas, steps, top + kPanelHeight);
      top += kPanelHeight + kPanelGap;
    }
  };
  WriteImage(path, title, {{title, kWidth, height + 6, draw}});
}

}  // namespace headlight
