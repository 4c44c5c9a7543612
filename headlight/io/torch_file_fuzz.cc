// Checks that arbitrary bytes are rejected with an Error, or give tensors whose bytes match their shapes.
#include <cstdlib>
#include <numeric>

#include "headlight/base/error.h"
#include "headlight/io/torch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  try {
    const TorchContent content = ParseTorchFile(std::as_bytes(std::span(data, size)), "fuzz");
    int sum = 0;  // reads every byte, so that AddressSanitizer checks it
    for (const StoredTensor& tensor : content.tensors) {
      if (static_cast<std::int64_t>(tensor.bytes.size()) != tensor.shape.elements() * SizeOf(tensor.type)) std::abort();
      for (const std::byte byte : tensor.bytes.first(std::min<std::size_t>(tensor.bytes.size(), 1 << 16)))
        sum ^= static_cast<int>(byte);
    }
    if (sum > 255) std::abort();
  } catch (const Error& error) {
    if (error.cause() != ErrorCause::user) std::abort();
  }
  return 0;
}
