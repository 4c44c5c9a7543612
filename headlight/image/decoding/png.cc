#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/image/decoding/formats.h"

namespace headlight {
namespace {

// The state of libpng. After an error, libpng returns through `jump`.
struct Png {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<const std::byte> rest;  // the unread bytes of the file
  std::jmp_buf jump;
  std::array<char, 128> problem = {};

  ~Png() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void Leave(png_structp png, png_const_charp problem) {
  auto& state = *static_cast<Png*>(png_get_error_ptr(png));
  std::strncpy(state.problem.data(), problem, state.problem.size() - 1);
  std::longjmp(state.jump, 1);
}

void Read(png_structp png, png_bytep to, std::size_t count) {
  auto& rest = static_cast<Png*>(png_get_io_ptr(png))->rest;
  if (count > rest.size()) Leave(png, "the file ends early");
  std::memcpy(to, rest.data(), count);
  rest = rest.subspan(count);
}

// Verifies the checksums of the chunks before the pixels. libpng is configured to verify no checksums. The checksums of
// the pixels are wrong in some files that every viewer shows, and zlib checks the pixels too. Returns true if metadata
// may follow the pixels. Throws Error for an animation whose second image has no frame, since libpng does not decode
// this image.
bool CheckChunks(std::span<const std::byte> file, const std::string& name) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  const auto number = [&](std::size_t at) {
    return std::uint32_t{bytes[at]} << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
  };
  bool pixels = false, metadata = false;
  for (std::size_t at = 8; file.size() - at >= 12;) {  // a chunk has a length, a type, data and a checksum
    const std::size_t length = number(at);
    const std::string_view type(reinterpret_cast<const char*>(bytes + at + 4), 4);
    if (length > file.size() - at - 12 || (pixels && type == "fcTL")) return true;
    pixels = pixels || type == "IDAT";
    metadata = metadata || (pixels && (type == "eXIf" || type == "tEXt" || type == "zTXt" || type == "iTXt"));
    Check(pixels || crc32(0, bytes + at + 4, static_cast<uInt>(length + 4)) == number(at + 8 + length),
          "{}: a PNG file that cannot be read: the checksum of its chunk at byte {} is wrong", name, at);
    Check(type != "fdAT", "{}: a PNG file that cannot be read: an image of its animation has no frame", name);
    at += length + 12;
  }
  return metadata;
}

// Functions that call setjmp must not have variables with destructors, which a longjmp would skip. The functions return
// false if libpng failed.

bool ReadHeader(Png& png) {
  if (setjmp(png.jump) != 0) return false;
  png_set_read_fn(png.png, &png, Read);
  png_set_crc_action(png.png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
  // Keeps the original Exif chunk. libpng silently drops invalid Exif data, but Pillow rejects the file.
  png_set_keep_unknown_chunks(png.png, PNG_HANDLE_CHUNK_ALWAYS, reinterpret_cast<png_const_bytep>("eXIf"), 1);
  png_read_info(png.png, png.info);
  return true;
}

// Returns the number of bytes per pixel that Begin requests from libpng.
int BytesPerPixel(const Png& png) {
  const int type = png_get_color_type(png.png, png.info);
  if (type == PNG_COLOR_TYPE_PALETTE) return 1;
  return (type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png.png, png.info, PNG_INFO_tRNS) != 0 ? 4 : 3;
}

bool Begin(Png& png) {
  if (setjmp(png.jump) != 0) return false;
  if (BytesPerPixel(png) == 1) {  // a palette index
    png_set_packing(png.png);
  } else {  // red, green, blue and alpha
    png_set_expand_gray_1_2_4_to_8(png.png);
    if (png_get_valid(png.png, png.info, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(png.png);
    png_set_strip_16(png.png);
    png_set_gray_to_rgb(png.png);
  }
  png_set_interlace_handling(png.png);
  png_read_update_info(png.png, png.info);
  return true;
}

bool ReadPixels(Png& png, std::span<png_bytep> rows) {
  if (setjmp(png.jump) != 0) return false;
  png_read_image(png.png, rows.data());
  constexpr std::size_t kSum = 4;  // the size of the checksum of the last pixels, which libpng has not read yet
  if (png.rest.size() > kSum) png_read_end(png.png, png.info);  // a missing end of the file is accepted
  return true;
}

// Replaces palette indices, which are at the end of each row, by their colors.
void SpreadIndices(const Png& png, Image& image) {
  std::array<png_color, 256> colors = {};
  png_colorp palette = nullptr;
  int count = 0;
  png_get_PLTE(png.png, png.info, &palette, &count);
  std::copy_n(palette, count, colors.begin());
  png_bytep alphas = nullptr;
  int with_alpha = 0;
  png_get_tRNS(png.png, png.info, &alphas, &with_alpha, nullptr);
  for (int i = 0; i < with_alpha && i < 256; ++i) {
    std::uint8_t rgb[3] = {colors[i].red, colors[i].green, colors[i].blue};
    PutOverWhite(rgb, alphas[i]);
    colors[i] = {rgb[0], rgb[1], rgb[2]};
  }
  for (std::int64_t y = 0; y < image.height; ++y) {
    std::uint8_t* out = image.row(y);
    const std::uint8_t* const indices = out + 2 * image.width;
    for (std::int64_t x = 0; x < image.width; ++x) {
      const png_color color = colors[indices[x]];
      *out++ = color.red;
      *out++ = color.green;
      *out++ = color.blue;
    }
  }
}

// Parses "Raw profile type exif", in which older programs store Exif data. The text has a line with the name, a line
// with the length, and lines of hexadecimal digits.
std::string FromHexadecimal(std::string_view text) {
  for (int line = 0; line < 3; ++line) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  std::string bytes;
  int digits = 0, value = 0;
  for (const char c : text) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c);
    if (digit == std::string_view::npos) continue;
    value = value * 16 + static_cast<int>(digit);
    if (++digits % 2 != 0) continue;
    bytes += static_cast<char>(value);
    value = 0;
  }
  return bytes;
}

void ReadMetadata(const Png& png, StoredImage& stored) {
  png_textp texts = nullptr;
  const int text_count = png_get_text(png.png, png.info, &texts, nullptr);
  for (int i = 0; i < text_count; ++i) {
    const std::string_view text(texts[i].text, std::max(texts[i].text_length, texts[i].itxt_length));
    const std::string_view key = texts[i].key;
    if (key == "XML:com.adobe.xmp") stored.xmp = text;
    if (key == "Raw profile type exif") stored.exif = FromHexadecimal(text);
  }
  png_unknown_chunkp chunks = nullptr;
  const int chunk_count = png_get_unknown_chunks(png.png, png.info, &chunks);
  for (int i = 0; i < chunk_count; ++i)
    stored.exif.assign(reinterpret_cast<const char*>(chunks[i].data), chunks[i].size);  // only the chunk eXIf is kept
}

}  // namespace

StoredImage DecodePng(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels) {
  const bool whole = CheckChunks(file, name) || pixels;
  Png png;
  png.rest = file;
  png.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &png, Leave, [](png_structp, png_const_charp) {});
  if (png.png != nullptr) png.info = png_create_info_struct(png.png);
  if (png.info == nullptr) throw std::bad_alloc();
  const auto check = [&](bool read) {
    Check(read, "{}: a PNG file that cannot be read: {}", name, png.problem.data());
  };
  check(ReadHeader(png));
  const std::int64_t height = png_get_image_height(png.png, png.info), width = png_get_image_width(png.png, png.info);
  StoredImage stored{.image = NewImage(height, width, name, most_pixels, whole)};
  if (!whole) {
    ReadMetadata(png, stored);
    return stored;
  }
  Image& image = stored.image;
  const int bytes = BytesPerPixel(png);
  check(Begin(png));
  std::vector<std::uint8_t> rgba(bytes == 4 ? image.pixels.size() / 3 * 4 : 0);
  std::vector<png_bytep> rows(static_cast<std::size_t>(height));
  for (std::int64_t y = 0; y < height; ++y)  // indices are stored at the end of their row and then expanded in place
    rows[static_cast<std::size_t>(y)] =
        bytes == 4 ? rgba.data() + 4 * y * width : image.row(y) + (bytes == 1 ? 2 * width : 0);
  check(ReadPixels(png, rows));
  if (bytes == 1) SpreadIndices(png, image);
  for (std::size_t at = 0; at < rgba.size(); at += 4) {
    std::uint8_t* const out = image.pixels.data() + at / 4 * 3;
    std::copy_n(rgba.data() + at, 3, out);
    PutOverWhite(out, rgba[at + 3]);
  }
  ReadMetadata(png, stored);
  return stored;
}

}  // namespace headlight
