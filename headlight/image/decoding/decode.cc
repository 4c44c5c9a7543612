#include "headlight/image/decoding/decode.h"

#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/image/decoding/formats.h"
#include "headlight/image/orientation.h"

namespace headlight {
namespace {

using namespace std::string_view_literals;

StoredImage Decode(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with("\xFF\xD8\xFF")) return DecodeJpeg(file, name, most_pixels, pixels);
  if (text.starts_with("\x89PNG\r\n\x1A\n")) return DecodePng(file, name, most_pixels, pixels);
  if (text.starts_with("RIFF") && text.size() >= 12 && text.substr(8, 4) == "WEBP")
    return DecodeWebp(file, name, most_pixels, pixels);
  if (text.starts_with("BM")) return DecodeBmp(file, name, most_pixels, pixels);
  if (text.starts_with("GIF8")) return DecodeGif(file, name, most_pixels, pixels);
  if (text.starts_with("II*\0"sv) || text.starts_with("MM\0*"sv) || text.starts_with("II+\0"sv) ||
      text.starts_with("MM\0+"sv))
    return DecodeTiff(file, name, most_pixels, pixels);
  Fail("{}: not an image that can be read: JPEG, PNG, WebP, BMP, GIF or TIFF", name);
}

int ShownOrientation(const StoredImage& stored, const std::string& name) {
  return stored.orientation > 0 ? stored.orientation : OrientationOf(stored.exif, stored.xmp, name);
}

}  // namespace

Image NewImage(std::int64_t height, std::int64_t width, const std::string& name, std::int64_t most_pixels,
               bool pixels) {
  Check(height > 0 && width > 0, "{}: the image has no pixels: it is {} x {}", name, width, height);
  Check(height <= most_pixels / width, "{}: the image has {} x {} pixels, more than the limit of {}", name, width,
        height, most_pixels);
  Image image{.height = height, .width = width};
  if (pixels) image.pixels.resize(static_cast<std::size_t>(height * width * 3));
  return image;
}

Image DecodeImage(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels) {
  StoredImage stored = Decode(file, name, most_pixels, /*pixels=*/true);
  const int orientation = ShownOrientation(stored, name);
  return Upright(std::move(stored.image), orientation);
}

ImageSize DecodeImageSize(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels) {
  const StoredImage stored = Decode(file, name, most_pixels, /*pixels=*/false);
  return UprightSize({stored.image.height, stored.image.width}, ShownOrientation(stored, name));
}

Image ReadImage(const std::string& path, std::int64_t most_pixels) {
  const MappedFile file(path);
  return DecodeImage(file.bytes(), file.path(), most_pixels);
}

ImageSize ReadImageSize(const std::string& path, std::int64_t most_pixels) {
  const MappedFile file(path);
  return DecodeImageSize(file.bytes(), file.path(), most_pixels);
}

Image ReadImage(const ImageSource& source, std::int64_t most_pixels) {
  if (source.idx == nullptr) return ReadImage(source.path, most_pixels);
  const IdxImages& idx = *source.idx;
  Check(idx.height() <= most_pixels / idx.width(), "{}: the image has {} x {} pixels, more than the limit of {}",
        source.name(), idx.width(), idx.height(), most_pixels);
  return idx[source.index];
}

}  // namespace headlight
