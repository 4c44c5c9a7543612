#include "headlight/inspect/drawing/canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numbers>

#include "headlight/base/error.h"
#include "headlight/base/file.h"

namespace headlight {
namespace {

// The first installed font is used. Pango substitutes other fonts for missing scripts.
constexpr const char* kFonts = "Noto Sans, DejaVu Sans, Liberation Sans, sans-serif";

// Limits of Cairo's coordinates and of viewers.
constexpr double kMostPngSide = 32'000, kMostPngPixels = 150e6;
constexpr double kMostSharpPixels = 48e6;  // above this, a PNG is not drawn at twice the resolution

template <auto Free>
struct Deleter {
  void operator()(auto* object) const { Free(object); }
};
using Surface = std::unique_ptr<cairo_surface_t, Deleter<cairo_surface_destroy>>;
using Cairo = std::unique_ptr<cairo_t, Deleter<cairo_destroy>>;
using TextContext = std::unique_ptr<PangoContext, Deleter<g_object_unref>>;
using Layout = std::unique_ptr<PangoLayout, Deleter<g_object_unref>>;
using Font = std::unique_ptr<PangoFontDescription, Deleter<pango_font_description_free>>;

void CheckCairo(cairo_status_t status, const std::string& path) {
  Check(status == CAIRO_STATUS_SUCCESS, "{}: drawing failed: {}", path, cairo_status_to_string(status));
}

cairo_status_t Append(void* file, const unsigned char* data, unsigned int size) noexcept try {
  static_cast<std::string*>(file)->append(reinterpret_cast<const char*>(data), size);
  return CAIRO_STATUS_SUCCESS;
} catch (...) {
  return CAIRO_STATUS_NO_MEMORY;
}

void SetColor(cairo_t* cairo, Color color) {
  cairo_set_source_rgb(cairo, color.red / 255.0, color.green / 255.0, color.blue / 255.0);
}

// Makes SentencePiece's word-start mark, U+2581, pale. This mark is part of the token but not of the word.
void PaleWordMarks(PangoLayout* layout, const std::string& text) {
  const std::string mark = "\u2581";
  PangoAttrList* attributes = pango_attr_list_new();
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + mark.size())) {
    PangoAttribute* pale = pango_attr_foreground_alpha_new(0x5000);
    pale->start_index = static_cast<guint>(at);
    pale->end_index = static_cast<guint>(at + mark.size());
    pango_attr_list_insert(attributes, pale);
  }
  pango_layout_set_attributes(layout, attributes);
  pango_attr_list_unref(attributes);
}

// Returns the layout of a line of text. Without hinting, the width of a text is the same on every surface.
Layout MakeLayout(const std::string& text, const TextStyle& style) {
  const TextContext context(pango_font_map_create_context(pango_cairo_font_map_get_default()));
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(context.get(), options);
  cairo_font_options_destroy(options);

  Layout layout(pango_layout_new(context.get()));
  const Font font(pango_font_description_from_string(kFonts));
  pango_font_description_set_absolute_size(font.get(), style.size * PANGO_SCALE);
  pango_font_description_set_weight(font.get(), style.bold ? PANGO_WEIGHT_SEMIBOLD : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description(layout.get(), font.get());
  pango_layout_set_single_paragraph_mode(layout.get(), true);
  pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
  PaleWordMarks(layout.get(), text);
  return layout;
}

PangoRectangle Extents(const Layout& layout) {
  PangoRectangle logical;
  pango_layout_get_extents(layout.get(), nullptr, &logical);
  return logical;
}

enum class Format { png, svg, pdf };

Format FormatOf(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter; });
  if (ending == ".png") return Format::png;
  if (ending == ".svg") return Format::svg;
  if (ending == ".pdf") return Format::pdf;
  Fail("{}: the name of an image must end in .png, .svg or .pdf", path);
}

void DrawPage(const Page& page, cairo_t* cairo) {
  Canvas canvas(cairo);
  canvas.Fill({0, 0, page.width, page.height}, kPaper);
  page.draw(canvas);
}

// Draws all pages stacked vertically, as wide as the widest page.
void DrawStacked(const std::vector<Page>& pages, double width, double height, cairo_t* cairo) {
  Canvas(cairo).Fill({0, 0, width, height}, kPaper);
  for (const Page& page : pages) {
    DrawPage(page, cairo);
    cairo_translate(cairo, 0, page.height);
  }
}

std::string DrawPdf(const std::string& path, const std::string& title, const std::vector<Page>& pages) {
  std::string file;
  const Surface surface(cairo_pdf_surface_create_for_stream(Append, &file, 1, 1));
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, title.c_str());
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATOR, "headlight");
  for (std::size_t i = 0; i < pages.size(); ++i) {
    cairo_pdf_surface_set_size(surface.get(), pages[i].width, pages[i].height);
    cairo_pdf_surface_add_outline(surface.get(), CAIRO_PDF_OUTLINE_ROOT, pages[i].title.c_str(),
                                  fmt::format("page={}", i + 1).c_str(), CAIRO_PDF_OUTLINE_FLAG_OPEN);
    const Cairo cairo(cairo_create(surface.get()));
    DrawPage(pages[i], cairo.get());
    cairo_show_page(cairo.get());
    CheckCairo(cairo_status(cairo.get()), path);
  }
  cairo_surface_finish(surface.get());
  CheckCairo(cairo_surface_status(surface.get()), path);
  return file;
}

std::string DrawSvg(const std::string& path, const std::vector<Page>& pages, double width, double height) {
  std::string file;
  const Surface surface(cairo_svg_surface_create_for_stream(Append, &file, width, height));
  cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
  const Cairo cairo(cairo_create(surface.get()));
  DrawStacked(pages, width, height, cairo.get());
  CheckCairo(cairo_status(cairo.get()), path);
  cairo_surface_finish(surface.get());
  CheckCairo(cairo_surface_status(surface.get()), path);
  return file;
}

std::string DrawPng(const std::string& path, const std::vector<Page>& pages, double width, double height) {
  Check(std::max(width, height) <= kMostPngSide && width * height <= kMostPngPixels,
        "{}: a PNG of {:.0f} x {:.0f} pixels is too large: show one attention or one layer, or write .pdf or .svg",
        path, width, height);
  const double scale = 2 * std::max(width, height) <= kMostPngSide && 4 * width * height <= kMostSharpPixels ? 2 : 1;
  const double columns = std::ceil(width * scale), rows = std::ceil(height * scale);
  const Surface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(columns), static_cast<int>(rows)));
  const Cairo cairo(cairo_create(surface.get()));
  // The page may cover the last row and column only in part.
  Canvas(cairo.get()).Fill({0, 0, columns, rows}, kPaper);
  cairo_scale(cairo.get(), scale, scale);
  DrawStacked(pages, width, height, cairo.get());
  CheckCairo(cairo_status(cairo.get()), path);
  std::string file;
  CheckCairo(cairo_surface_write_to_png_stream(surface.get(), Append, &file), path);
  return file;
}

}  // namespace

double TextWidth(const std::string& text, const TextStyle& style) {
  return static_cast<double>(Extents(MakeLayout(text, style)).width) / PANGO_SCALE;
}

Color Mix(const Color& a, const Color& b, double share) {
  const auto part = [share](std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(std::lround((1 - share) * from + share * to));
  };
  return {part(a.red, b.red), part(a.green, b.green), part(a.blue, b.blue)};
}

CanvasImage::CanvasImage(const Image& image)
    : surface_(
          cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(image.width), static_cast<int>(image.height)),
          cairo_surface_destroy) {
  CheckCairo(cairo_surface_status(surface_.get()), "image");
  cairo_surface_flush(surface_.get());
  unsigned char* const pixels = cairo_image_surface_get_data(surface_.get());
  const int stride = cairo_image_surface_get_stride(surface_.get());
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const std::uint8_t* const color = image.row(y) + 3 * x;
      const std::uint32_t pixel =
          std::uint32_t{color[0]} << 16 | std::uint32_t{color[1]} << 8 | std::uint32_t{color[2]};
      std::memcpy(pixels + y * stride + 4 * x, &pixel, sizeof(pixel));
    }
  }
  cairo_surface_mark_dirty(surface_.get());
}

void Canvas::Draw(const CanvasImage& image, const Rectangle& where) {
  cairo_surface_t* const surface = image.surface_.get();
  cairo_save(cairo_);
  cairo_rectangle(cairo_, where.x, where.y, where.width, where.height);
  cairo_clip(cairo_);
  cairo_translate(cairo_, where.x, where.y);
  cairo_scale(cairo_, where.width / cairo_image_surface_get_width(surface),
              where.height / cairo_image_surface_get_height(surface));
  cairo_set_source_surface(cairo_, surface, 0, 0);
  cairo_pattern_set_extend(cairo_get_source(cairo_), CAIRO_EXTEND_PAD);
  cairo_paint(cairo_);
  cairo_restore(cairo_);
}

void Canvas::Shade(std::span<const Rectangle> rectangles, Color color, double opacity) {
  for (const auto& [x, y, width, height] : rectangles) cairo_rectangle(cairo_, x, y, width, height);
  cairo_set_source_rgba(cairo_, color.red / 255.0, color.green / 255.0, color.blue / 255.0, opacity);
  cairo_fill(cairo_);
}

void Canvas::Fill(std::span<const Rectangle> rectangles, Color color) {
  for (const auto& [x, y, width, height] : rectangles) cairo_rectangle(cairo_, x, y, width, height);
  SetColor(cairo_, color);
  cairo_fill(cairo_);
}

void Canvas::Outline(const Rectangle& rectangle, Color color, double width) {
  cairo_rectangle(cairo_, rectangle.x, rectangle.y, rectangle.width, rectangle.height);
  SetColor(cairo_, color);
  cairo_set_line_width(cairo_, width);
  cairo_stroke(cairo_);
}

void Canvas::Hatch(std::span<const Rectangle> rectangles) {
  if (rectangles.empty()) return;
  cairo_save(cairo_);
  double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  for (const auto& [x, y, width, height] : rectangles) {
    cairo_rectangle(cairo_, x, y, width, height);
    left = std::min(left, x), right = std::max(right, x + width);
    top = std::min(top, y), bottom = std::max(bottom, y + height);
  }
  cairo_clip(cairo_);
  constexpr double kHatchGap = 6;
  const double rise = bottom - top;
  for (double x = left - rise; x < right; x += kHatchGap) {
    cairo_move_to(cairo_, x, bottom);
    cairo_line_to(cairo_, x + rise, top);
  }
  SetColor(cairo_, kRule);
  cairo_set_line_width(cairo_, 0.7);
  cairo_stroke(cairo_);
  cairo_restore(cairo_);
}

void Canvas::Line(std::span<const Point> points, Color color, double width) {
  for (const Point& point : points) cairo_line_to(cairo_, point.x, point.y);
  SetColor(cairo_, color);
  cairo_set_line_width(cairo_, width);
  cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_ROUND);
  cairo_stroke(cairo_);
}

void Canvas::Polygon(std::span<const Point> corners, Color color, double outline) {
  for (const Point& corner : corners) cairo_line_to(cairo_, corner.x, corner.y);
  cairo_close_path(cairo_);
  SetColor(cairo_, color);
  cairo_fill_preserve(cairo_);
  cairo_set_line_width(cairo_, outline);
  cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_ROUND);
  cairo_stroke(cairo_);
}

void Canvas::Dot(Point center, double radius, Color color) {
  cairo_arc(cairo_, center.x, center.y, radius, 0, 2 * std::numbers::pi);
  SetColor(cairo_, color);
  cairo_fill(cairo_);
}

void Canvas::Text(Point at, const std::string& text, const TextStyle& style, Align align, double max_width,
                  bool upwards) {
  const Layout layout = MakeLayout(text, style);
  PangoRectangle extents = Extents(layout);
  if (extents.width > max_width * PANGO_SCALE) {
    pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_END);
    pango_layout_set_width(layout.get(), static_cast<int>(max_width * PANGO_SCALE));
    extents = Extents(layout);
  }
  const double width = static_cast<double>(extents.width) / PANGO_SCALE;
  const double left = align == Align::left ? 0 : align == Align::center ? -width / 2 : -width;
  cairo_save(cairo_);
  cairo_translate(cairo_, at.x, at.y);
  if (upwards) cairo_rotate(cairo_, -std::numbers::pi / 2);
  // Letters are centered between the baseline and the height of a capital letter, for all fonts.
  const double baseline = static_cast<double>(pango_layout_get_baseline(layout.get())) / PANGO_SCALE;
  cairo_move_to(cairo_, left - static_cast<double>(extents.x) / PANGO_SCALE, 0.35 * style.size - baseline);
  SetColor(cairo_, style.color);
  pango_cairo_show_layout(cairo_, layout.get());
  cairo_restore(cairo_);
  cairo_new_path(cairo_);
}

void CheckImagePath(const std::string& path) { FormatOf(path); }

void WriteImage(const std::string& path, const std::string& title, const std::vector<Page>& pages) {
  const Format format = FormatOf(path);
  double width = 0, height = 0;
  for (const Page& page : pages) {
    width = std::max(width, page.width);
    height += page.height;
  }
  switch (format) {
    case Format::png:
      return WriteFile(path, DrawPng(path, pages, width, height));
    case Format::svg:
      return WriteFile(path, DrawSvg(path, pages, width, height));
    case Format::pdf:
      return WriteFile(path, DrawPdf(path, title, pages));
  }
}

}  // namespace headlight
