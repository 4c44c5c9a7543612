// Feeds arbitrary bytes to the reader of structures. Structures that are parsed are written and parsed again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/protein/files/structure_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  Structure structure;
  try {
    structure = ParseStructure({reinterpret_cast<const char*>(data), size}, "fuzz");
    BreaksOf(structure.chains.front());
  } catch (const Error& error) {
    if (error.cause() == ErrorCause::internal) throw;
    return 0;
  }
  std::string text;
  try {
    text = WriteMmcif(structure);
  } catch (const Error&) {  // a structure without a protein atom cannot be written
    return 0;
  }
  if (ParseStructure(text, "again").chains.empty()) __builtin_trap();
  return 0;
}
