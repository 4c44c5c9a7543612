// Checks that arbitrary bytes are either rejected with an Error or parsed as a value. The value can be inspected.
// Printing and parsing the value again must return an equal value.
#include <cstdlib>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

// Calls all accessors of a value. Accessors of other types throw Error.
void Visit(const JsonView& view) {
  const auto ask = [](auto question) {
    try {
      question();
    } catch (const Error& error) {
      if (error.cause() != ErrorCause::user) std::abort();
    }
  };
  ask([&] { view.Bool(); });
  ask([&] { view.Integer(0, 9); });
  ask([&] { view.Unsigned(); });
  ask([&] { view.Number(0, 1); });
  ask([&] { view.String({"a", "b"}); });
  ask([&] { view["a"].Integer(); });
  ask([&] { view.RefuseUnread({"b"}); });
  ask([&] {
    for (const JsonView& item : view.Items()) Visit(item);
  });
  ask([&] {
    for (const auto& [name, member] : view.Members()) Visit(member);
  });
}

}  // namespace
}  // namespace headlight

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headlight;
  try {
    const Json json = ParseJson({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (!(ParseJson(json.Text(), "fuzz") == json) || !(ParseJson(json.Line(), "fuzz") == json)) std::abort();
    Visit(JsonView(json, "fuzz"));
  } catch (const Error& error) {
    if (error.cause() != ErrorCause::user) std::abort();
  }
  return 0;
}
