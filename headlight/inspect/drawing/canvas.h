// A drawing surface for PNG, SVG and PDF.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/image/image.h"
#include "headlight/inspect/color_ramp.h"

struct _cairo;
struct _cairo_surface;

namespace headlight {

// Lengths are in pixels of a screen at its plain resolution; y grows downwards.
struct Point {
  double x = 0, y = 0;
};
struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;
};

constexpr Color kPaper = {255, 255, 255}, kInk = {32, 33, 36}, kMutedInk = {108, 112, 120}, kRule = {205, 209, 215};
constexpr double kPageMargin = 32;

// So large a share of b, channel by channel, and the rest of a.
Color Mix(const Color& a, const Color& b, double share);

enum class Align { left, center, right };

struct TextStyle {
  double size = 11;
  bool bold = false;
  Color color = kInk;
};

// The width of a line of text, in any script.
double TextWidth(const std::string& text, const TextStyle& style);

// An image to draw, as often as wanted: a vector drawing holds it once.
class CanvasImage {
 public:
  explicit CanvasImage(const Image& image);

 private:
  friend class Canvas;
  std::shared_ptr<_cairo_surface> surface_;
};

class Canvas {
 public:
  explicit Canvas(_cairo* cairo) : cairo_(cairo) {}

  void Fill(std::span<const Rectangle> rectangles, Color color);
  void Fill(const Rectangle& rectangle, Color color) { Fill({&rectangle, 1}, color); }
  // The same, letting what is beneath shine through: opacity is in [0, 1].
  void Shade(std::span<const Rectangle> rectangles, Color color, double opacity);
  void Draw(const CanvasImage& image, const Rectangle& where);
  void Outline(const Rectangle& rectangle, Color color, double width);
  // Thin diagonal lines, for masked cells.
  void Hatch(std::span<const Rectangle> rectangles);
  void Line(std::span<const Point> points, Color color, double width);
  // Filled, with an outline of the same colour.
  void Polygon(std::span<const Point> corners, Color color, double outline);
  void Dot(Point center, double radius, Color color);
  // One line of text, its middle at the height `at.y`; cut with an ellipsis beyond max_width. Upwards: turned by a
  // quarter to the left about `at`, so that it reads from below.
  void Text(Point at, const std::string& text, const TextStyle& style, Align align, double max_width = 1e5,
            bool upwards = false);

 private:
  _cairo* cairo_;
};

struct Page {
  std::string title;  // its entry in the outline of a PDF
  double width = 0, height = 0;
  std::function<void(Canvas&)> draw;
};

// Writes the pages to `path`, in the format that its ending names: .pdf, a page each; .svg and .png, one below the
// other. A PNG has two pixels for one of the canvas where that is not too large. Throws Error for another ending, for a
// PNG that would be too large, and where the file cannot be written; the old file then stays.
void WriteImage(const std::string& path, const std::string& title, const std::vector<Page>& pages);

// Throws Error unless the ending is one of the three; for use before long work.
void CheckImagePath(const std::string& path);

}  // namespace headlight
