#include "headlight/image/decoding/decode.h"

#include <string_view>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/image/decoding/formats.h"
#include "headlight/image/orientation.h"

namespace headlight {
namespace {

StoredPicture Decode(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with("\xFF\xD8\xFF")) return DecodeJpeg(file, name, most_pixels, pixels);
  if (text.starts_with("\x89PNG\r\n\x1A\n")) return DecodePng(file, name, most_pixels, pixels);
  if (text.starts_with("RIFF") && text.size() >= 12 && text.substr(8, 4) == "WEBP")
    return DecodeWebp(file, name, most_pixels, pixels);
  Fail("{}: not a picture that can be read: JPEG, PNG or WebP", name);
}

}  // namespace

Picture NewPicture(std::int64_t height, std::int64_t width, const std::string& name, std::int64_t most_pixels,
                   bool pixels) {
  Check(height > 0 && width > 0, "{}: the picture has no pixels: it is {} x {}", name, width, height);
  Check(height <= most_pixels / width, "{}: the picture has {} x {} pixels, more than the limit of {}", name, width,
        height, most_pixels);
  Picture picture{.height = height, .width = width};
  if (pixels) picture.pixels.resize(static_cast<std::size_t>(height * width * 3));
  return picture;
}

Picture DecodePicture(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels) {
  StoredPicture stored = Decode(file, name, most_pixels, /*pixels=*/true);
  const int orientation = OrientationOf(stored.exif, stored.xmp, name);
  return Upright(std::move(stored.picture), orientation);
}

PictureSize DecodePictureSize(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels) {
  const StoredPicture stored = Decode(file, name, most_pixels, /*pixels=*/false);
  return UprightSize({stored.picture.height, stored.picture.width}, OrientationOf(stored.exif, stored.xmp, name));
}

Picture ReadPicture(const std::string& path, std::int64_t most_pixels) {
  const MappedFile file(path);
  return DecodePicture(file.bytes(), file.path(), most_pixels);
}

PictureSize ReadPictureSize(const std::string& path, std::int64_t most_pixels) {
  const MappedFile file(path);
  return DecodePictureSize(file.bytes(), file.path(), most_pixels);
}

Picture ReadPicture(const PictureSource& source, std::int64_t most_pixels) {
  if (source.idx == nullptr) return ReadPicture(source.path, most_pixels);
  const IdxPictures& idx = *source.idx;
  Check(idx.height() <= most_pixels / idx.width(), "{}: the picture has {} x {} pixels, more than the limit of {}",
        source.name(), idx.width(), idx.height(), most_pixels);
  return idx[source.index];
}

}  // namespace headlight
