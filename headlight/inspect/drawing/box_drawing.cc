#include "headlight/inspect/drawing/box_drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

// The longer side of the drawing in screen pixels: its minimum, and the size above which lines and texts are scaled up.
constexpr double kLeastSide = 480, kPlainSide = 900;

// Returns the text color with more contrast to a background: black or white.
Color TextOn(Color color) {
  const double brightness = 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue;
  return brightness > 140 ? Color{0, 0, 0} : kPaper;
}

// An image on a canvas. `unit` is the length of one pixel of an unscaled drawing.
struct Drawing {
  explicit Drawing(const Image& image)
      : scale(std::max(0.5, kLeastSide / static_cast<double>(std::max(image.height, image.width)))),
        width(static_cast<double>(image.width) * scale),
        height(static_cast<double>(image.height) * scale),
        unit(std::max(1.0, std::max(width, height) / kPlainSide)) {}

  // Returns the background rectangle of a label, with its upper left corner at `at`, or as near as possible within the
  // image.
  Rectangle PlateAt(Point at, const std::string& text) const {
    const double across = std::min(width, LabelWidth(text));
    return {std::clamp(at.x, 0.0, width - across), std::clamp(at.y, 0.0, std::max(0.0, height - LabelHeight())), across,
            LabelHeight()};
  }
  void Label(Canvas& canvas, const Rectangle& plate, const std::string& text, Color color) const {
    const double padding = 4 * unit;
    canvas.Fill(plate, color);
    canvas.Text({plate.x + padding, plate.y + plate.height / 2}, text, {.size = 11 * unit, .color = TextOn(color)},
                Align::left, plate.width - 2 * padding);
  }
  double LabelWidth(const std::string& text) const { return TextWidth(text, {.size = 11 * unit}) + 8 * unit; }
  double LabelHeight() const { return 16 * unit; }

  double scale;  // a PNG has two pixels per pixel of the canvas
  double width, height, unit;
};

double Overlap(const Rectangle& a, const Rectangle& b) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}

// Returns the first candidate rectangle that covers no other label. After the candidates, tries the rows below and
// above the first candidate. If every position covers labels, returns the rectangle with the smallest covered area.
Rectangle FreePlate(const Drawing& drawing, std::vector<Point> candidates, const std::string& text,
                    std::span<const Rectangle> others) {
  const Point first = candidates.front();
  for (double off = drawing.LabelHeight(); off < drawing.height; off += drawing.LabelHeight())
    for (const double y : {first.y + off, first.y - off})
      if (y >= 0 && y + drawing.LabelHeight() <= drawing.height) candidates.push_back({first.x, y});
  Rectangle best;
  double least = std::numeric_limits<double>::infinity();
  for (const Point& at : candidates) {
    const Rectangle plate = drawing.PlateAt(at, text);
    double covered = 0;
    for (const Rectangle& other : others) covered += Overlap(plate, other);
    if (covered < least) {
      best = plate;
      least = covered;
    }
    if (least == 0) break;
  }
  return best;
}

void CheckDrawing(const Image& image, const std::string& path) {
  CheckImagePath(path);
  Check(image.height > 0 && image.width > 0, "{}: an image without pixels cannot be drawn", path);
}

std::string LabelOf(const std::vector<std::string>& labels, int label, double score) {
  Check(label >= 0 && label < std::ssize(labels), "class {} is out of range for {} labels", label, labels.size());
  return fmt::format("{} {:.2f}", TokenLabel(labels[static_cast<std::size_t>(label)]), score);
}

}  // namespace

Color ColorOfClass(int index) {
  // Consecutive hues differ by the golden angle. Saturation and value are 1. `hue` is in sixths of the circle.
  const double hue = std::fmod(0.02 + index * 0.61803398875, 1.0) * 6;
  const auto channel = [&](double at) {
    const double distance = std::fmod(hue - at + 6, 6.0);
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(std::abs(distance - 3) - 1, 0.0, 1.0)));
  };
  return {channel(0), channel(2), channel(4)};
}

void DrawBoxes(const Image& image, std::span<const FoundBox> found, const std::vector<std::string>& labels,
               const std::string& path) {
  CheckDrawing(image, path);
  const Drawing drawing(image);
  std::vector<FoundBox> order(found.begin(), found.end());
  std::ranges::stable_sort(order, {}, &FoundBox::score);
  std::vector<std::string> texts;
  for (const FoundBox& one : order) texts.push_back(LabelOf(labels, one.label, one.score));
  const auto draw = [&](Canvas& canvas) {
    const auto [scale, width, height, unit] = drawing;
    canvas.Draw(CanvasImage(image), {0, 0, width, height});
    std::vector<std::vector<Point>> corners;  // possible positions of the label of each box, in order of preference
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Box& box = order[i].box;
      const double left = std::clamp(box.left * scale, 0.0, width), right = std::clamp(box.right * scale, 0.0, width);
      const double top = std::clamp(box.top * scale, 0.0, height), bottom = std::clamp(box.bottom * scale, 0.0, height);
      canvas.Outline({left, top, right - left, bottom - top}, ColorOfClass(order[i].label), 1.5 * unit);
      const double above = top - drawing.LabelHeight(), end = right - drawing.LabelWidth(texts[i]);
      std::vector<Point>& at = corners.emplace_back();
      if (above >= 0) at = {{left, above}, {end, above}};
      at.insert(at.end(), {{left, top}, {end, top}, {left, bottom - drawing.LabelHeight()}, {left, bottom}});
    }
    std::vector<Rectangle> plates;  // positions of the labels, chosen in order of decreasing score
    for (std::size_t i = order.size(); i-- > 0;) {
      plates.push_back(FreePlate(drawing, corners[i], texts[i], plates));
      drawing.Label(canvas, plates.back(), texts[i], ColorOfClass(order[i].label));
    }
  };
  WriteImage(path, "Boxes", {{"Boxes", drawing.width, drawing.height, draw}});
}

void DrawSegments(const Image& image, const Segmentation& found, const std::vector<std::string>& labels,
                  const std::string& path) {
  CheckDrawing(image, path);
  Check(found.height == image.height && found.width == image.width,
        "segments of {} x {} pixels do not fit an image of {} x {}", found.width, found.height, image.width,
        image.height);
  Image tinted = image;
  std::vector<Point> middles(found.segments.size() + 1);
  for (std::int64_t i = 0; i < std::ssize(found.ids); ++i) {
    const std::int32_t id = found.ids[static_cast<std::size_t>(i)];
    if (id == 0) continue;
    const std::int64_t x = i % image.width, y = i / image.width;
    Point& middle = middles.at(static_cast<std::size_t>(id));
    middle.x += static_cast<double>(x);
    middle.y += static_cast<double>(y);
    // Edge pixels are white. The pixel to the right of or below an edge pixel belongs to another segment.
    const bool edge = (x + 1 < image.width && found.ids[static_cast<std::size_t>(i + 1)] != id) ||
                      (y + 1 < image.height && found.ids[static_cast<std::size_t>(i + image.width)] != id);
    const Color color = ColorOfClass(id - 1);
    std::uint8_t* const to = tinted.pixels.data() + 3 * i;
    const std::uint8_t channels[] = {color.red, color.green, color.blue};
    for (int channel = 0; channel < 3; ++channel)
      to[channel] = edge ? 255 : static_cast<std::uint8_t>((to[channel] + channels[channel]) / 2);
  }
  const Drawing drawing(image);
  std::vector<std::string> texts;
  for (const ImageSegment& one : found.segments) texts.push_back(LabelOf(labels, one.label_id, one.score));
  const auto draw = [&](Canvas& canvas) {
    canvas.Draw(CanvasImage(tinted), {0, 0, drawing.width, drawing.height});
    std::vector<Rectangle> plates;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const ImageSegment& one = found.segments[i];
      const Point& sum = middles[static_cast<std::size_t>(one.id)];
      const double to_middle = drawing.scale / static_cast<double>(std::max<std::int64_t>(1, one.area));
      const Point at = {sum.x * to_middle - drawing.LabelWidth(texts[i]) / 2,
                        sum.y * to_middle - drawing.LabelHeight() / 2};
      plates.push_back(FreePlate(drawing, {at}, texts[i], plates));
      drawing.Label(canvas, plates.back(), texts[i], ColorOfClass(one.id - 1));
    }
  };
  WriteImage(path, "Segments", {{"Segments", drawing.width, drawing.height, draw}});
}

}  // namespace headlight
