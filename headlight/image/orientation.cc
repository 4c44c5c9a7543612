#include "headlight/image/orientation.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

// Reads the integers of a TIFF structure. Returns nullopt beyond its end.
struct Tiff {
  std::string_view bytes;
  bool big_endian;

  std::optional<std::uint32_t> At(std::size_t offset, std::size_t size) const {
    if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size; ++i)
      number = number << 8 | static_cast<std::uint8_t>(bytes[offset + (big_endian ? i : size - 1 - i)]);
    return number;
  }
};

std::string_view WithoutName(std::string_view exif) {
  constexpr std::string_view name("Exif\0\0", 6);
  while (exif.starts_with(name)) exif.remove_prefix(name.size());
  return exif;
}

std::optional<std::uint32_t> ExifOrientation(std::string_view exif) {
  const Tiff tiff{exif, exif.starts_with("MM")};
  const std::optional<std::uint32_t> directory = tiff.At(4, 4);
  if (!directory) return std::nullopt;
  const std::uint32_t entries = tiff.At(*directory, 2).value_or(0);
  for (std::uint32_t i = 0; i < entries; ++i) {
    constexpr std::uint32_t kOrientation = 0x0112, kShort = 3;
    // An entry has a tag, a type, a count and a value.
    const std::size_t entry = std::size_t{*directory} + 2 + std::size_t{12} * i;
    const std::optional<std::uint32_t> tag = tiff.At(entry, 2);
    if (!tag) break;
    if (tag == kOrientation) return tiff.At(entry + 8, tiff.At(entry + 2, 2) == kShort ? 2 : 4);
  }
  return std::nullopt;
}

// Returns the digit after tiff:Orientation, which is an attribute (="6") or an element (>6).
std::optional<std::uint32_t> XmpOrientation(std::string_view xmp) {
  constexpr std::string_view key = "tiff:Orientation";
  for (std::size_t at = xmp.find(key); at != xmp.npos; at = xmp.find(key, at + 1)) {
    std::string_view rest = xmp.substr(at + key.size());
    if (rest.starts_with("=\""))
      rest.remove_prefix(2);
    else if (rest.starts_with(">"))
      rest.remove_prefix(1);
    else
      continue;
    if (!rest.empty() && rest.front() >= '0' && rest.front() <= '9')
      return static_cast<std::uint32_t>(rest.front() - '0');
  }
  return std::nullopt;
}

bool Transposed(int orientation) { return orientation >= 5; }  // true if rows become columns

}  // namespace

bool IsExif(std::string_view exif) {
  exif = WithoutName(exif);
  // The data begins with the byte order and the number 42, which some programs write in the wrong byte order. The
  // number 43 is BigTIFF.
  if (exif.size() < 4) return false;
  const std::string_view order = exif.substr(0, 2), version = exif.substr(2, 2);
  return (order == "MM" || order == "II") &&
         (version == std::string_view("\0*", 2) || version == std::string_view("*\0", 2) ||
          version == std::string_view(order == "MM" ? "\0+" : "+\0", 2));
}

int OrientationOf(std::string_view exif, std::string_view xmp, const std::string& name) {
  exif = WithoutName(exif);
  Check(exif.empty() || IsExif(exif), "{}: its Exif data does not begin with a TIFF header", name);
  std::optional<std::uint32_t> orientation = ExifOrientation(exif);
  if (!orientation) orientation = XmpOrientation(xmp);
  return orientation && *orientation >= 1 && *orientation <= 8 ? static_cast<int>(*orientation) : 1;
}

ImageSize UprightSize(ImageSize stored, int orientation) {
  return Transposed(orientation) ? ImageSize{stored.width, stored.height} : stored;
}

Image Upright(Image image, int orientation) {
  if (orientation == 1) return image;
  const bool transposed = Transposed(orientation);
  // The positions of the first stored row and column.
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const ImageSize size = UprightSize({image.height, image.width}, orientation);
  Image seen{.height = size.height, .width = size.width};
  seen.pixels.resize(image.pixels.size());
  for (std::int64_t y = 0; y < seen.height; ++y) {
    std::uint8_t* out = seen.row(y);
    const std::int64_t from_y = from_bottom ? seen.height - 1 - y : y;
    for (std::int64_t x = 0; x < seen.width; ++x, out += 3) {
      const std::int64_t from_x = from_right ? seen.width - 1 - x : x;
      const std::uint8_t* const from = transposed ? image.row(from_x) + 3 * from_y : image.row(from_y) + 3 * from_x;
      std::copy_n(from, 3, out);
    }
  }
  return seen;
}

}  // namespace headlight
