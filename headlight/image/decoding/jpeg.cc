#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <vector>
// clang-format off: jpeglib.h requires <cstdio>.
#include <jpeglib.h>
// clang-format on

#include "headlight/base/error.h"
#include "headlight/image/decoding/formats.h"
#include "headlight/image/orientation.h"

namespace headlight {
namespace {

// The state of libjpeg. After an error, libjpeg returns through `jump`.
struct Jpeg {
  jpeg_decompress_struct info = {};
  jpeg_error_mgr errors = {};
  jpeg_source_mgr source = {};
  jpeg_progress_mgr progress = {};
  std::jmp_buf jump;
  const char* problem = nullptr;  // headlight's message; null if the message of libjpeg is in `errors`
};

[[noreturn]] void Leave(j_common_ptr info) { std::longjmp(static_cast<Jpeg*>(info->client_data)->jump, 1); }

[[noreturn]] void LeaveWith(j_common_ptr info, const char* problem) {
  static_cast<Jpeg*>(info->client_data)->problem = problem;
  Leave(info);
}

boolean EndOfFile(j_decompress_ptr info) { LeaveWith(reinterpret_cast<j_common_ptr>(info), "the file ends early"); }

void Skip(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  if (static_cast<std::size_t>(count) > info->src->bytes_in_buffer) EndOfFile(info);
  info->src->next_input_byte += count;
  info->src->bytes_in_buffer -= static_cast<std::size_t>(count);
}

// Limits the number of scans. A small file can have very many scans of a large image, and each scan takes as long to
// decode as the whole image.
void LimitScans(j_common_ptr info) {
  constexpr int kMostScans = 500;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans)
    LeaveWith(info, "it has more than 500 scans");
}

void Begin(Jpeg& jpeg, std::span<const std::byte> file) {
  jpeg.info.err = jpeg_std_error(&jpeg.errors);
  jpeg.errors.error_exit = Leave;
  jpeg.errors.emit_message = [](j_common_ptr, int) {};  // ignores warnings
  jpeg.info.client_data = &jpeg;
  jpeg_create_decompress(&jpeg.info);
  jpeg.source.init_source = [](j_decompress_ptr) {};
  jpeg.source.fill_input_buffer = EndOfFile;
  jpeg.source.skip_input_data = Skip;
  jpeg.source.resync_to_restart = jpeg_resync_to_restart;
  jpeg.source.term_source = [](j_decompress_ptr) {};
  jpeg.source.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
  jpeg.source.bytes_in_buffer = file.size();
  jpeg.info.src = &jpeg.source;
  jpeg.progress.progress_monitor = LimitScans;
  jpeg.info.progress = &jpeg.progress;
}

// Functions that call setjmp must not have variables with destructors, which a longjmp would skip. The functions return
// false if libjpeg failed.

bool ReadHeader(Jpeg& jpeg, std::span<const std::byte> file) {
  if (setjmp(jpeg.jump) != 0) return false;
  Begin(jpeg, file);
  jpeg_save_markers(&jpeg.info, JPEG_APP0 + 1, 0xFFFF);
  jpeg_read_header(&jpeg.info, TRUE);
  return true;
}

// Converts a row from CMYK to RGB, rounded as in Pillow.
void CmykToRgb(const std::uint8_t* cmyk, std::int64_t width, bool inverted, std::uint8_t* rgb) {
  const unsigned flip = inverted ? 255 : 0;
  for (std::int64_t x = 0; x < width; ++x, cmyk += 4)
    for (int channel = 0; channel < 3; ++channel) {
      const unsigned light = 255 - (cmyk[3] ^ flip), product = (cmyk[channel] ^ flip) * light + 128;
      *rgb++ = static_cast<std::uint8_t>(light - ((product >> 8) + product) / 256);
    }
}

// `cmyk` is a buffer for a row of four channels, or empty if the file has fewer channels.
bool ReadPixels(Jpeg& jpeg, Image& image, std::span<std::uint8_t> cmyk) {
  if (setjmp(jpeg.jump) != 0) return false;
  jpeg.info.out_color_space = cmyk.empty() ? JCS_RGB : JCS_CMYK;
  jpeg_start_decompress(&jpeg.info);
  while (jpeg.info.output_scanline < jpeg.info.output_height) {
    std::uint8_t* const out = image.row(jpeg.info.output_scanline);
    JSAMPROW row = cmyk.empty() ? out : cmyk.data();
    jpeg_read_scanlines(&jpeg.info, &row, 1);
    // Adobe's programs store inverted values.
    if (!cmyk.empty()) CmykToRgb(cmyk.data(), image.width, jpeg.info.saw_Adobe_marker != 0, out);
  }
  jpeg_finish_decompress(&jpeg.info);
  return true;
}

[[noreturn]] void FailToRead(Jpeg& jpeg, const std::string& name) {
  char message[JMSG_LENGTH_MAX];
  const auto info = reinterpret_cast<j_common_ptr>(&jpeg.info);
  if (jpeg.problem == nullptr) jpeg.errors.format_message(info, message);
  Fail("{}: a JPEG file that cannot be read: {}", name, jpeg.problem != nullptr ? jpeg.problem : message);
}

}  // namespace

StoredImage DecodeJpeg(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels,
                       bool pixels) {
  Jpeg jpeg;
  const struct Closer {
    Jpeg& jpeg;
    ~Closer() { jpeg_destroy_decompress(&jpeg.info); }
  } closer{jpeg};
  if (!ReadHeader(jpeg, file)) FailToRead(jpeg, name);
  StoredImage stored{.image = NewImage(jpeg.info.image_height, jpeg.info.image_width, name, most_pixels, pixels)};
  for (auto marker = jpeg.info.marker_list; marker != nullptr; marker = marker->next) {
    constexpr std::string_view exif("Exif\0\0", 6), xmp("http://ns.adobe.com/xap/1.0/\0", 29);
    const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (data.starts_with(exif)) stored.exif += stored.exif.empty() ? data : data.substr(exif.size());
    if (data.starts_with(xmp)) stored.xmp = data.substr(xmp.size());
  }
  // Invalid Exif data is frequent in JPEG files and is ignored by all viewers.
  if (!IsExif(stored.exif)) stored.exif.clear();
  if (!pixels) return stored;
  std::vector<std::uint8_t> cmyk(jpeg.info.num_components == 4 ? std::size_t{jpeg.info.image_width} * 4 : 0);
  if (!ReadPixels(jpeg, stored.image, cmyk)) FailToRead(jpeg, name);
  return stored;
}

}  // namespace headlight
