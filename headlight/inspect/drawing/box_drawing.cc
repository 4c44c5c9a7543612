#include "headlight/inspect/drawing/box_drawing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

// Longer side of the drawing in screen pixels: the minimum, and the size above which lines and texts are scaled up.
constexpr double kLeastSide = 480, kPlainSide = 900;

// The text colour for a background: black or white, whichever has more contrast.
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

  // A label on a plate whose upper left corner is at `at`, or as near as possible within the image.
  void Label(Canvas& canvas, Point at, const std::string& text, Color color) const {
    const double padding = 4 * unit, across = std::min(width, LabelWidth(text));
    const double left = std::clamp(at.x, 0.0, width - across),
                 top = std::clamp(at.y, 0.0, std::max(0.0, height - LabelHeight()));
    canvas.Fill({left, top, across, LabelHeight()}, color);
    canvas.Text({left + padding, top + LabelHeight() / 2}, text, {.size = 11 * unit, .color = TextOn(color)},
                Align::left, across - 2 * padding);
  }
  double LabelWidth(const std::string& text) const { return TextWidth(text, {.size = 11 * unit}) + 8 * unit; }
  double LabelHeight() const { return 16 * unit; }

  double scale;  // a PNG has two pixels per pixel of the canvas
  double width, height, unit;
};

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
  // Hues differ by the golden angle, with full saturation and value, in sixths of the circle.
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
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Box& box = order[i].box;
      const double left = std::clamp(box.left * scale, 0.0, width), right = std::clamp(box.right * scale, 0.0, width);
      const double top = std::clamp(box.top * scale, 0.0, height), bottom = std::clamp(box.bottom * scale, 0.0, height);
      const Color color = ColorOfClass(order[i].label);
      canvas.Outline({left, top, right - left, bottom - top}, color, 1.5 * unit);
      const double above = top - drawing.LabelHeight();
      drawing.Label(canvas, {left, above >= 0 ? above : top}, texts[i], color);
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
    // Bright at edges, where the pixel to the right or below belongs to another segment.
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
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const ImageSegment& one = found.segments[i];
      const Point& sum = middles[static_cast<std::size_t>(one.id)];
      const double to_middle = drawing.scale / static_cast<double>(std::max<std::int64_t>(1, one.area));
      drawing.Label(
          canvas, {sum.x * to_middle - drawing.LabelWidth(texts[i]) / 2, sum.y * to_middle - drawing.LabelHeight() / 2},
          texts[i], ColorOfClass(one.id - 1));
    }
  };
  WriteImage(path, "Segments", {{"Segments", drawing.width, drawing.height, draw}});
}

}  // namespace headlight
