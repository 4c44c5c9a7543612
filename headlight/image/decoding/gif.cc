#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/image/decoding/formats.h"

namespace headlight {
namespace {

using GifFile = std::unique_ptr<GifFileType, void (*)(GifFileType*)>;

int ReadGif(GifFileType* gif, GifByteType* to, int count) {
  auto& rest = *static_cast<std::span<const std::byte>*>(gif->UserData);
  const std::size_t some = std::min(static_cast<std::size_t>(count), rest.size());
  std::memcpy(to, rest.data(), some);
  rest = rest.subspan(some);
  return static_cast<int>(some);
}

void CheckGif(const std::string& name, bool good, int error) {
  const char* const problem = GifErrorString(error);
  Check(good, "{}: a GIF file that cannot be read: {}", name, problem == nullptr ? "it has no image" : problem);
}

// Reads the file up to the pixels of the first frame. Returns the transparent index, or -1.
int ReadToFrame(GifFileType* gif, const std::string& name) {
  int transparent = -1;
  const auto check = [&](int result) { CheckGif(name, result == GIF_OK, gif->Error); };
  for (;;) {
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    check(DGifGetRecordType(gif, &type));
    if (type == IMAGE_DESC_RECORD_TYPE) break;
    CheckGif(name, type == EXTENSION_RECORD_TYPE, 0);
    int code = 0;
    GifByteType* block = nullptr;
    check(DGifGetExtension(gif, &code, &block));
    for (; block != nullptr; check(DGifGetExtensionNext(gif, &block))) {
      GraphicsControlBlock control;
      if (code == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
        transparent = control.TransparentColor;
    }
  }
  check(DGifGetImageDesc(gif));
  return transparent;
}

}  // namespace

StoredImage DecodeGif(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels, bool pixels) {
  int error = 0;
  const GifFile gif(DGifOpen(&file, ReadGif, &error), [](GifFileType* opened) { DGifCloseFile(opened, nullptr); });
  CheckGif(name, gif != nullptr, error);
  const int transparent = ReadToFrame(gif.get(), name);
  const GifImageDesc& frame = gif->Image;
  const std::int64_t height = std::max(gif->SHeight, frame.Top + frame.Height),
                     width = std::max(gif->SWidth, frame.Left + frame.Width);
  StoredImage stored{.image = NewImage(height, width, name, most_pixels, pixels)};
  if (!pixels) return stored;
  std::ranges::fill(stored.image.pixels, std::uint8_t{255});  // pixels outside of the frame are white
  const ColorMapObject* const colors = frame.ColorMap != nullptr ? frame.ColorMap : gif->SColorMap;
  Check(colors != nullptr, "{}: a GIF file that cannot be read: it has no palette", name);
  std::vector<GifByteType> indices(static_cast<std::size_t>(frame.Width));
  // An interlaced frame has four passes: every eighth row, then the rows in between in three passes.
  struct Rows {
    int first, step;
  };
  constexpr std::array<Rows, 4> interlaced = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  constexpr std::array<Rows, 1> plain = {{{0, 1}}};
  for (const Rows& rows : frame.Interlace ? std::span<const Rows>(interlaced) : std::span<const Rows>(plain))
    for (int y = rows.first; y < frame.Height; y += rows.step) {
      CheckGif(name, DGifGetLine(gif.get(), indices.data(), frame.Width) == GIF_OK, gif->Error);
      std::uint8_t* out = stored.image.row(frame.Top + y) + 3 * std::int64_t{frame.Left};
      for (const GifByteType index : indices) {
        if (index != transparent && index < colors->ColorCount) {
          const GifColorType& color = colors->Colors[index];
          out[0] = color.Red;
          out[1] = color.Green;
          out[2] = color.Blue;
        }
        out += 3;
      }
    }
  return stored;
}

}  // namespace headlight
