// Decodes PNG files for the tests of drawings.
#pragma once

#include <cairo.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "headlight/inspect/color_ramp.h"

namespace headlight {

class Png {
 public:
  explicit Png(const std::string& path)
      : surface_(cairo_image_surface_create_from_png(path.c_str()), &cairo_surface_destroy) {}
  int width() const { return cairo_image_surface_get_width(surface_.get()); }
  int height() const { return cairo_image_surface_get_height(surface_.get()); }
  Color At(double x, double y) const {
    std::uint32_t pixel;  // 0xXXRRGGBB
    std::memcpy(&pixel,
                cairo_image_surface_get_data(surface_.get()) +
                    static_cast<int>(y) * cairo_image_surface_get_stride(surface_.get()) + 4 * static_cast<int>(x),
                4);
    return {static_cast<std::uint8_t>(pixel >> 16), static_cast<std::uint8_t>(pixel >> 8),
            static_cast<std::uint8_t>(pixel)};
  }

 private:
  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
};

}  // namespace headlight
