// Any line is refused by an Error or is an object, which answers every question or refuses it.
#include <cstdlib>

#include "headlight/base/error.h"
#include "headlight/data/json_lines.h"

namespace headlight {
namespace {

template <typename Question>
void Ask(const Question& question) {
  try {
    question();
  } catch (const Error& error) {
    const std::string_view text = error.what();
    if (error.blame() != Blame::user || text.find('\n') != std::string_view::npos) std::abort();
  }
}

// Asks an object for everything that its members might be.
void Visit(const JsonObject& object, int depth) {
  for (const char* key : {"text", "answers", "start", "tokens", "a"}) {
    object.Has(key);
    Ask([&] { object.String(key); });
    Ask([&] { object.StringOrInteger(key); });
    Ask([&] { object.Integer(key, -1, 9); });
    Ask([&] { object.Strings(key); });
    Ask([&] { object.Integers(key, 0, 9); });
    if (depth == 3) continue;
    Ask([&] { Visit(object.Object(key), depth + 1); });
    Ask([&] {
      for (const JsonObject& item : object.Objects(key)) Visit(item, depth + 1);
    });
  }
}

}  // namespace
}  // namespace headlight

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  Ask([&] { Visit(JsonObject::Parse({reinterpret_cast<const char*>(data), size}, "fuzz:1"), 0); });
  return 0;
}
