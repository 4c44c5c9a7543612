#include "headlight/nn/text_encoder.h"

#include <map>
#include <set>
#include <string_view>

#include "headlight/base/error.h"

namespace headlight {

Json::Object TextEncoder::Description() const { return {{"positions", limits_.positions}, {"heads", head_names()}}; }

std::unique_ptr<TextEncoder> GiveHeads(const TextEncoder& model, const TextHeadsConfig& heads, std::uint64_t seed) {
  std::unique_ptr<TextEncoder> made = model.WithHeads(heads);
  made->parameters().Initialise(seed);
  std::map<std::string_view, const Parameter*> had;
  for (const Parameter& parameter : model.parameters().all()) had[parameter.names.front()] = &parameter;
  // Two heads may have the same names, such as `classifier`: what is kept is what a model of the common heads has.
  const std::unique_ptr<TextEncoder> kept = model.WithHeads(CommonHeads(model.heads(), made->heads()));
  std::set<std::string_view> names;
  for (const Parameter& parameter : kept->parameters().all()) names.insert(parameter.names.front());
  made->parameters().Unpack();
  for (const Parameter& parameter : made->parameters().all()) {
    const std::string_view name = parameter.names.front();
    if (!names.contains(name)) continue;
    // A folder of an encoder alone has no `bert.` in front of its names.
    const auto same = had.contains(name) ? had.find(name) : had.find(name.substr(name.find('.') + 1));
    Ensure(same != had.end() && same->second->shape == parameter.shape, "{} is not kept", name);
    parameter.value.CopyFrom(same->second->value);
  }
  made->parameters().Pack();
  if (!model.reads_types()) made->LeaveOutTypes();
  return made;
}

}  // namespace headlight
