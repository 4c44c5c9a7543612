// Checks that arbitrary bytes either cause an Error, or give readable metadata and tensors within the bytes.
#include <cstdlib>
#include <string>
#include <variant>

#include "headlight/base/error.h"
#include "headlight/base/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  const auto attempt = [](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      if (error.cause() != ErrorCause::user) std::abort();
    }
  };
  attempt([&] {
    const GgufContent content = ParseGguf(file, "fuzz");
    for (const GgufTensor& tensor : content.tensors)
      if (!tensor.bytes.empty() &&
          (tensor.bytes.data() < file.data() || tensor.bytes.data() + tensor.bytes.size() > file.data() + file.size()))
        std::abort();
    for (const auto& [key, value] : content.metadata)
      if (const auto* array = std::get_if<GgufArray>(&value)) {
        attempt([&] { array->Integers(); });
        attempt([&] { array->Floats(); });
        attempt([&] { array->Strings(); });
      }
  });
  return 0;
}
