// Feeds arbitrary bytes to the parser of Pascal VOC annotations.
#include <cstddef>
#include <cstdint>

#include "headlight/base/error.h"
#include "headlight/image/decoding/voc.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    headlight::ParseVoc({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const headlight::Error&) {
  }
  return 0;
}
