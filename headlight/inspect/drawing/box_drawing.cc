#include "headlight/inspect/drawing/box_drawing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/inspect/drawing/canvas.h"
#include "headlight/text/token_label.h"

namespace headlight {
namespace {

// Of the drawing's longer side, in a screen's pixels: the least, and the one from which lines and texts grow with it.
constexpr double kLeastSide = 480, kPlainSide = 900;

// The text on a colour: whichever of black and white is further from it.
Color TextOn(Color color) {
  const double brightness = 0.299 * color.red + 0.587 * color.green + 0.114 * color.blue;
  return brightness > 140 ? Color{0, 0, 0} : kPaper;
}

}  // namespace

Color ColorOfClass(int index) {
  // Hues a golden angle apart, of full saturation and value, in sixths of the circle.
  const double hue = std::fmod(0.02 + index * 0.61803398875, 1.0) * 6;
  const auto channel = [&](double at) {
    const double distance = std::fmod(hue - at + 6, 6.0);
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(std::abs(distance - 3) - 1, 0.0, 1.0)));
  };
  return {channel(0), channel(2), channel(4)};
}

void DrawBoxes(const Picture& picture, std::span<const FoundBox> found, const std::vector<std::string>& labels,
               const std::string& path) {
  CheckPicturePath(path);
  Check(picture.height > 0 && picture.width > 0, "{}: a picture without pixels cannot be drawn", path);
  for (const FoundBox& one : found)
    Check(one.label >= 0 && one.label < std::ssize(labels), "class {} is none of {}", one.label, labels.size());
  // A PNG has two pixels for one of the canvas.
  const double scale = std::max(0.5, kLeastSide / static_cast<double>(std::max(picture.height, picture.width)));
  const double width = static_cast<double>(picture.width) * scale, height = static_cast<double>(picture.height) * scale;
  const double unit = std::max(1.0, std::max(width, height) / kPlainSide);
  const double line = 1.5 * unit, text_size = 11 * unit, text_height = 16 * unit, padding = 4 * unit;
  const auto draw = [&](Canvas& canvas) {
    canvas.Draw(CanvasPicture(picture), {0, 0, width, height});
    std::vector<FoundBox> order(found.begin(), found.end());
    std::ranges::stable_sort(order, {}, &FoundBox::score);
    for (const auto& [box, label, score] : order) {
      const double left = std::clamp(box.left * scale, 0.0, width), right = std::clamp(box.right * scale, 0.0, width);
      const double top = std::clamp(box.top * scale, 0.0, height), bottom = std::clamp(box.bottom * scale, 0.0, height);
      const Color color = ColorOfClass(label);
      canvas.Outline({left, top, right - left, bottom - top}, color, line);
      const std::string text = fmt::format("{} {:.2f}", TokenLabel(labels[static_cast<std::size_t>(label)]), score);
      const double across = std::min(width, TextWidth(text, {.size = text_size}) + 2 * padding);
      const double text_left = std::min(left, width - across);
      const double text_top = top >= text_height ? top - text_height : top;  // above the box, or in it
      canvas.Fill({text_left, text_top, across, text_height}, color);
      canvas.Text({text_left + padding, text_top + text_height / 2}, text, {.size = text_size, .color = TextOn(color)},
                  Align::left, across - 2 * padding);
    }
  };
  WritePicture(path, "Boxes", {{"Boxes", width, height, draw}});
}

}  // namespace headlight
