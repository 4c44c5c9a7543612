// Reads an image and prints its size. Checks that errors of the library can be caught.
//   consumer_images FILE
#include <headlight/base/error.h>
#include <headlight/image/decoding/decode.h>
#include <headlight/image/decoding/encode.h>

#include <cstdio>
#include <span>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const headlight::Image image = headlight::ReadImage(argv[1]);
  const std::string png = headlight::EncodePng(image);
  if (headlight::DecodeImage(std::as_bytes(std::span(png)), "again").pixels != image.pixels) return 1;
  try {
    headlight::ReadImage(argv[1], /*most_pixels=*/1);
    return 1;
  } catch (const headlight::Error&) {  // the exception type is the same inside and outside of the library
  }
  std::printf("%d x %d\n", static_cast<int>(image.width), static_cast<int>(image.height));
  return 0;
}
