// Checks that arbitrary bytes are rejected with an Error, or give arrays whose sizes match their shapes.
#include <cstdlib>

#include "headlight/base/error.h"
#include "headlight/io/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  try {
    const NpzContent content = ParseNpz(std::as_bytes(std::span(data, size)), "fuzz");
    for (const StoredTensor& tensor : content.tensors)
      if (static_cast<std::int64_t>(tensor.bytes.size()) != tensor.shape.elements() * SizeOf(tensor.type)) std::abort();
  } catch (const Error& error) {
    if (error.cause() != ErrorCause::user) std::abort();
  }
  return 0;
}
