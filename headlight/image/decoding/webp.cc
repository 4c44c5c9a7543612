#include <webp/demux.h>

#include <algorithm>
#include <memory>

#include "headlight/base/error.h"
#include "headlight/image/decoding/formats.h"

namespace headlight {
namespace {

std::string Chunk(const WebPDemuxer* file, const char* type) {
  WebPChunkIterator chunk;
  std::string bytes;
  if (WebPDemuxGetChunk(file, type, 1, &chunk) != 0) {
    bytes.assign(reinterpret_cast<const char*>(chunk.chunk.bytes), chunk.chunk.size);
    WebPDemuxReleaseChunkIterator(&chunk);
  }
  return bytes;
}

}  // namespace

StoredImage DecodeWebp(std::span<const std::byte> file, const std::string& name, std::int64_t most_pixels,
                       bool pixels) {
  const WebPData data{reinterpret_cast<const std::uint8_t*>(file.data()), file.size()};
  const std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)> parts(WebPDemux(&data), WebPDemuxDelete);
  Check(parts != nullptr, "{}: a WebP file that cannot be read: it is damaged or ends early", name);
  StoredImage stored{.image = NewImage(WebPDemuxGetI(parts.get(), WEBP_FF_CANVAS_HEIGHT),
                                       WebPDemuxGetI(parts.get(), WEBP_FF_CANVAS_WIDTH), name, most_pixels, pixels),
                     .exif = Chunk(parts.get(), "EXIF"),
                     .xmp = Chunk(parts.get(), "XMP ")};
  if (!pixels) return stored;
  WebPAnimDecoderOptions options;
  WebPAnimDecoderOptionsInit(&options);  // a still image is decoded as an animation with one frame
  const std::unique_ptr<WebPAnimDecoder, decltype(&WebPAnimDecoderDelete)> decoder(WebPAnimDecoderNew(&data, &options),
                                                                                   WebPAnimDecoderDelete);
  std::uint8_t* rgba = nullptr;  // owned by the decoder
  int time = 0;
  Check(decoder != nullptr && WebPAnimDecoderGetNext(decoder.get(), &rgba, &time) != 0,
        "{}: a WebP file that cannot be read: its pixels are damaged", name);
  std::uint8_t* out = stored.image.pixels.data();
  for (std::int64_t i = 0; i < stored.image.height * stored.image.width; ++i, out += 3, rgba += 4) {
    std::copy_n(rgba, 3, out);
    PutOverWhite(out, rgba[3]);
  }
  return stored;
}

}  // namespace headlight
