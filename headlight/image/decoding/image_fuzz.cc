// Feeds arbitrary bytes to the image decoders.
#include <cstdlib>

#include "headlight/base/error.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/resize.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  try {
    const auto file = std::as_bytes(std::span(data, size));
    const ImageSize expected = DecodeImageSize(file, "fuzz", 1'000'000);
    const Image image = DecodeImage(file, "fuzz", 1'000'000);
    if (ImageSize{image.height, image.width} != expected) std::abort();
    Resize(image, 7, 5, ResizeFilter::bicubic);
  } catch (const Error&) {
  }
  return 0;
}
