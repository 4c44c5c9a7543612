#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/image/decoding/formats.h"

namespace headlight {
namespace {

constexpr std::uint32_t kRaw = 0, kRle8 = 1, kRle4 = 2, kBitFields = 3, kAlphaBitFields = 6;

// Reads the little-endian integers of a file.
struct BmpBytes {
  std::span<const std::byte> file;
  const std::string& name;

  std::uint32_t Number(std::size_t at, std::size_t bytes) const {
    Check(at <= file.size() && bytes <= file.size() - at, "{}: a BMP file that cannot be read: the file ends early",
          name);
    std::uint32_t number = 0;
    for (std::size_t i = bytes; i-- > 0;) number = number << 8 | std::to_integer<std::uint32_t>(file[at + i]);
    return number;
  }
};

struct BmpHeader {
  std::int64_t width = 0, height = 0;
  bool top_down = false;
  std::uint32_t bits = 0, compression = kRaw, pixels_at = 0;
  std::array<std::uint32_t, 4> masks = {};  // masks of red, green, blue and alpha, for 16 and 32 bits per pixel
  std::vector<std::array<std::uint8_t, 3>> palette = {};
};

BmpHeader ReadHeader(const BmpBytes& bytes) {
  const auto check = [&](bool good, const char* format, const auto&... what) {
    if (!good) Fail("{}: a BMP file that cannot be read: {}", bytes.name, fmt::format(fmt::runtime(format), what...));
  };
  const std::uint32_t size = bytes.Number(14, 4);
  const bool old = size == 12;  // true if the file has the header of OS/2
  check(old || (size >= 40 && size <= 1 << 16), "a header of {} bytes", size);
  BmpHeader header{.pixels_at = bytes.Number(10, 4)};
  const auto side = [&](std::size_t at) {
    return old ? std::int64_t{bytes.Number(at, 2)} : std::int64_t{static_cast<std::int32_t>(bytes.Number(at, 4))};
  };
  header.width = side(18);
  header.height = side(old ? 20 : 22);
  header.top_down = header.height < 0;
  header.height = std::abs(header.height);
  header.bits = bytes.Number(old ? 24 : 28, 2);
  if (!old) header.compression = bytes.Number(30, 4);
  const bool fields = header.compression == kBitFields || header.compression == kAlphaBitFields;
  check(header.bits == 1 || header.bits == 4 || header.bits == 8 || header.bits == 16 || header.bits == 24 ||
            header.bits == 32,
        "{} bits for a pixel", header.bits);
  check(header.compression == kRaw || (header.compression == kRle8 && header.bits == 8) ||
            (header.compression == kRle4 && header.bits == 4) || (fields && (header.bits == 16 || header.bits == 32)),
        "compression {} with {} bits for a pixel", header.compression, header.bits);
  header.masks = header.bits == 16 ? std::array<std::uint32_t, 4>{0x7C00, 0x3E0, 0x1F, 0}
                                   : std::array<std::uint32_t, 4>{0xFF0000, 0xFF00, 0xFF, 0};
  std::size_t end = 14 + std::size_t{size};
  if (fields) {  // masks follow a header of 40 bytes and are part of a longer header
    const std::size_t count = size >= 56 || header.compression == kAlphaBitFields ? 4 : 3;
    for (std::size_t i = 0; i < count; ++i) header.masks[i] = bytes.Number(54 + 4 * i, 4);
    if (size == 40) end += 4 * count;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t mask = header.masks[i];
      check((mask != 0 || i == 3) && std::popcount((mask >> (mask == 0 ? 0 : std::countr_zero(mask))) + 1U) <= 1,
            "the mask {:#x}", mask);
    }
  }
  if (header.bits <= 8) {
    const std::uint32_t most = 1U << header.bits, named = old ? 0 : bytes.Number(46, 4);
    const std::size_t entry = old ? 3 : 4;
    header.palette.resize(most);
    for (std::uint32_t i = 0; i < (named == 0 ? most : std::min(named, most)); ++i, end += entry)
      for (std::size_t channel = 0; channel < 3; ++channel)
        header.palette[i][channel] = static_cast<std::uint8_t>(bytes.Number(end + 2 - channel, 1));
  }
  return header;
}

// Decodes a run-length encoded image. Returns its palette indices, [height, width], with the bottom row first.
std::vector<std::uint8_t> ReadRuns(const BmpBytes& bytes, const BmpHeader& header) {
  std::vector<std::uint8_t> indices(static_cast<std::size_t>(header.width * header.height));
  std::size_t at = header.pixels_at;
  std::int64_t x = 0, y = 0;
  const bool nibbles = header.compression == kRle4;
  const auto put = [&](std::uint32_t index) {
    if (x < header.width && y < header.height)
      indices[static_cast<std::size_t>(y * header.width + x)] = static_cast<std::uint8_t>(index);
    ++x;
  };
  while (y < header.height) {
    const std::uint32_t count = bytes.Number(at, 1), value = bytes.Number(at + 1, 1);
    at += 2;
    if (count > 0) {  // a run; 4-bit indices alternate between two values
      for (std::uint32_t i = 0; i < count; ++i) put(!nibbles ? value : i % 2 == 0 ? value >> 4 : value & 15);
    } else if (value == 0) {  // the end of a line
      x = 0;
      ++y;
    } else if (value == 1) {  // the end of the image
      break;
    } else if (value == 2) {  // an offset to the right and up
      x += bytes.Number(at, 1);
      y += bytes.Number(at + 1, 1);
      at += 2;
    } else {  // literal indices, padded to a multiple of two bytes
      for (std::uint32_t i = 0; i < value; ++i) {
        const std::uint32_t byte = bytes.Number(at + (nibbles ? i / 2 : i), 1);
        put(!nibbles ? byte : i % 2 == 0 ? byte >> 4 : byte & 15);
      }
      const std::uint32_t used = nibbles ? (value + 1) / 2 : value;
      at += used + used % 2;
    }
  }
  return indices;
}

std::uint32_t Channel(std::uint32_t pixel, std::uint32_t mask) {
  const int shift = std::countr_zero(mask);
  return static_cast<std::uint32_t>(std::uint64_t{(pixel & mask) >> shift} * 255 / (mask >> shift));
}

}  // namespace

StoredImage DecodeBmp(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels) {
  const BmpBytes bytes{file, name};
  const BmpHeader header = ReadHeader(bytes);
  StoredImage stored{.image = NewImage(header.height, header.width, name, most_pixels, pixels)};
  if (!pixels) return stored;
  Image& image = stored.image;
  const bool runs = header.compression == kRle8 || header.compression == kRle4;
  const std::vector<std::uint8_t> indices = runs ? ReadRuns(bytes, header) : std::vector<std::uint8_t>();
  const std::int64_t stride = (header.width * header.bits + 31) / 32 * 4;
  Check(runs || (header.pixels_at <= file.size() &&
                 stride * header.height <= static_cast<std::int64_t>(file.size() - header.pixels_at)),
        "{}: a BMP file that cannot be read: the file ends early", name);
  std::vector<std::uint8_t> alphas;  // [height, width] if the image has an alpha channel
  bool any_opaque = false;
  for (std::int64_t y = 0; y < header.height; ++y) {
    std::uint8_t* out = image.row(header.top_down ? y : header.height - 1 - y);
    const std::size_t row = header.pixels_at + static_cast<std::size_t>(runs ? 0 : y * stride);
    for (std::int64_t x = 0; x < header.width; ++x, out += 3) {
      const auto at = static_cast<std::size_t>(x);
      if (header.bits <= 8) {
        const std::size_t per_byte = 8 / header.bits;
        const std::uint32_t index = runs ? indices[static_cast<std::size_t>(y * header.width + x)]
                                         : std::to_integer<std::uint32_t>(file[row + at / per_byte]) >>
                                                   (8 - header.bits * (1 + at % per_byte)) &
                                               ((1U << header.bits) - 1);
        std::ranges::copy(header.palette[index], out);
      } else {
        const std::size_t width = header.bits / 8;
        std::uint32_t pixel = 0;
        for (std::size_t i = width; i-- > 0;)
          pixel = pixel << 8 | std::to_integer<std::uint32_t>(file[row + at * width + i]);
        for (std::size_t channel = 0; channel < 3; ++channel)
          out[channel] = static_cast<std::uint8_t>(Channel(pixel, header.masks[channel]));
        if (header.masks[3] == 0) continue;
        alphas.push_back(static_cast<std::uint8_t>(Channel(pixel, header.masks[3])));
        any_opaque = any_opaque || alphas.back() != 0;
      }
    }
  }
  if (any_opaque)  // older programs write an alpha of 0 for all pixels of opaque images
    for (std::int64_t y = 0; y < header.height; ++y)
      for (std::int64_t x = 0; x < header.width; ++x)
        PutOverWhite(image.row(header.top_down ? y : header.height - 1 - y) + 3 * x,
                     alphas[static_cast<std::size_t>(y * header.width + x)]);
  return stored;
}

}  // namespace headlight
