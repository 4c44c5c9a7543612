// A user's program that reads pictures.
//   consumer_pictures FILE: the size of the picture in it
#include <headlight/base/error.h>
#include <headlight/image/decoding/decode.h>
#include <headlight/image/decoding/encode.h>

#include <cstdio>
#include <span>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const headlight::Picture picture = headlight::ReadPicture(argv[1]);
  const std::string png = headlight::EncodePng(picture);
  if (headlight::DecodePicture(std::as_bytes(std::span(png)), "again").pixels != picture.pixels) return 1;
  try {
    headlight::ReadPicture(argv[1], /*most_pixels=*/1);
    return 1;
  } catch (const headlight::Error&) {  // the same type in both libraries
  }
  std::printf("%d x %d\n", static_cast<int>(picture.width), static_cast<int>(picture.height));
  return 0;
}
