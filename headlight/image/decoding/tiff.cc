#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/image/decoding/formats.h"

namespace headlight {
namespace {

// The input of libtiff, and the first error message from libtiff.
struct TiffSource {
  std::span<const std::byte> file;
  std::uint64_t at = 0;
  std::string problem = {};
};

TiffSource& SourceOf(thandle_t handle) { return *static_cast<TiffSource*>(handle); }

tmsize_t ReadTiff(thandle_t handle, void* to, tmsize_t count) {
  TiffSource& source = SourceOf(handle);
  const std::uint64_t size = source.file.size(), begin = std::min(source.at, size),
                      some = std::min(static_cast<std::uint64_t>(count), size - begin);
  std::memcpy(to, source.file.data() + begin, some);
  source.at = begin + some;
  return static_cast<tmsize_t>(some);
}

tmsize_t WriteNothing(thandle_t, void*, tmsize_t) { return 0; }

toff_t SeekTiff(thandle_t handle, toff_t offset, int from) {
  TiffSource& source = SourceOf(handle);
  source.at = from == SEEK_SET ? offset : (from == SEEK_CUR ? source.at : source.file.size()) + offset;
  return source.at;
}

int KeepOpen(thandle_t) { return 0; }
toff_t SizeOfTiff(thandle_t handle) { return SourceOf(handle).file.size(); }

int KeepProblem(TIFF*, void* source, const char*, const char* format, va_list arguments) {
  std::string& problem = static_cast<TiffSource*>(source)->problem;
  char text[160];
  if (problem.empty() && std::vsnprintf(text, sizeof(text), format, arguments) > 0) {
    problem = text;
    std::ranges::replace(problem, '\n', ' ');
  }
  return 1;
}
int IgnoreWarning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct RgbaImage : TIFFRGBAImage {
  RgbaImage() : TIFFRGBAImage() {}
  ~RgbaImage() { TIFFRGBAImageEnd(this); }
};

}  // namespace

StoredImage DecodeTiff(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels,
                       bool pixels) {
  TiffSource source{.file = file};
  const auto check = [&](bool good, const char* problem) {
    if (!good && !source.problem.empty()) problem = source.problem.c_str();
    Check(good, "{}: a TIFF file that cannot be read: {}", name, problem);
  };
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  constexpr std::int64_t kMaxPixelBytes = 16;  // the maximum number of bytes per pixel: four samples of 32 bits
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), std::max<std::int64_t>(1 << 20, most_pixels * kMaxPixelBytes));
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), KeepProblem, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), IgnoreWarning, &source);
  const std::unique_ptr<TIFF, decltype(&TIFFClose)> tiff(
      TIFFClientOpenExt("", "rm", &source, ReadTiff, WriteNothing, SeekTiff, KeepOpen, SizeOfTiff, nullptr, nullptr,
                        options.get()),
      TIFFClose);
  check(tiff != nullptr, "it has no image");
  std::uint32_t height = 0, width = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  std::uint16_t orientation = 1;
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_ORIENTATION, &orientation);
  StoredImage stored{.image = NewImage(height, width, name, most_pixels, pixels),
                     .orientation = orientation >= 1 && orientation <= 8 ? int{orientation} : 1};
  if (!pixels) return stored;
  char problem[1024] = "its kind of pixels";
  RgbaImage reading;
  check(TIFFRGBAImageOK(tiff.get(), problem) != 0 && TIFFRGBAImageBegin(&reading, tiff.get(), /*stop=*/1, problem) != 0,
        problem);
  reading.req_orientation = reading.orientation;  // the stored orientation is kept
  std::vector<std::uint32_t> raster(std::size_t{height} * width);
  check(TIFFRGBAImageGet(&reading, raster.data(), width, height) != 0, "its pixels are damaged");
  std::uint8_t* out = stored.image.pixels.data();
  for (const std::uint32_t pixel : raster) {  // the pixels are premultiplied with alpha
    const std::uint32_t white = 255 - TIFFGetA(pixel);
    for (const std::uint32_t value : {TIFFGetR(pixel), TIFFGetG(pixel), TIFFGetB(pixel)})
      *out++ = static_cast<std::uint8_t>(std::min<std::uint32_t>(255, value + white));
  }
  return stored;
}

}  // namespace headlight
