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

/// Lengths are in screen pixels at normal resolution; y increases downwards.
struct Point {
  double x = 0, y = 0;
};
struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;
};

constexpr Color kPaper = {255, 255, 255}, kInk = {32, 33, 36}, kMutedInk = {108, 112, 120}, kRule = {205, 209, 215};
constexpr double kPageMargin = 32;

/// Interpolates each channel: (1 - share) * a + share * b.
Color Mix(const Color& a, const Color& b, double share);

enum class Align { left, center, right };

struct TextStyle {
  double size = 11;
  bool bold = false;
  Color color = kInk;
};

/// Returns the width of a line of text, in any script.
double TextWidth(const std::string& text, const TextStyle& style);

/// An image that can be drawn several times. A vector drawing stores it once.
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
  /// Fills rectangles with transparency. The opacity is in [0, 1].
  void Shade(std::span<const Rectangle> rectangles, Color color, double opacity);
  void Draw(const CanvasImage& image, const Rectangle& where);
  void Outline(const Rectangle& rectangle, Color color, double width);
  /// Draws thin diagonal lines, for masked cells.
  void Hatch(std::span<const Rectangle> rectangles);
  void Line(std::span<const Point> points, Color color, double width);
  /// Fills a shape, with an outline in the same color.
  void Polygon(std::span<const Point> corners, Color color, double outline);
  void Dot(Point center, double radius, Color color);
  /// Draws a line of text, vertically centered at `at.y`, and truncated with an ellipsis beyond max_width. With
  /// `upwards`, the text is rotated by 90 degrees counterclockwise around `at`.
  void Text(Point at, const std::string& text, const TextStyle& style, Align align, double max_width = 1e5,
            bool upwards = false);

 private:
  _cairo* cairo_;
};

struct Page {
  std::string title;  // the page's entry in the outline of a PDF
  double width = 0, height = 0;
  std::function<void(Canvas&)> draw;
};

/// Writes the pages to `path`. The extension selects the format. In .svg and .png files the pages are stacked
/// vertically. A PNG has two pixels per pixel of the canvas if that is not too large. Throws Error for another
/// extension, for a PNG that would be too large, and if the file cannot be written. In these cases an existing file is
/// kept.
void WriteImage(const std::string& path, const std::string& title, const std::vector<Page>& pages);

/// Throws Error unless the extension is .pdf, .svg or .png. Should be called before long computations.
void CheckImagePath(const std::string& path);

}  // namespace headlight
