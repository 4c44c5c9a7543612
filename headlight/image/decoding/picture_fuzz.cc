// Feeds arbitrary bytes to the decoders of pictures.
#include "headlight/base/error.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/resize.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  try {
    const Picture picture = DecodePicture(std::as_bytes(std::span(data, size)), "fuzz", 1'000'000);
    Resize(picture, 7, 5, ResizeFilter::bicubic);
  } catch (const Error&) {
  }
  return 0;
}
