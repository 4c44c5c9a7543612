// Checks that arbitrary bytes are rejected with an Error, or give tensors that fill them exactly.
#include <cstdlib>
#include <cstring>

#include "headlight/base/error.h"
#include "headlight/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  try {
    const SafetensorsContent content = ParseSafetensors(file, "fuzz");
    std::uint64_t header = 0;
    std::memcpy(&header, file.data(), sizeof(header));
    const std::byte* end = file.data() + sizeof(header) + header;
    for (const StoredTensor& tensor : content.tensors) {
      if (tensor.bytes.data() != end) std::abort();
      end += tensor.bytes.size();
      if (static_cast<std::int64_t>(tensor.bytes.size()) != tensor.shape.elements() * SizeOf(tensor.type)) std::abort();
    }
    if (end != file.data() + file.size()) std::abort();
  } catch (const Error& error) {
    if (error.cause() != ErrorCause::user) std::abort();
  }
  return 0;
}
