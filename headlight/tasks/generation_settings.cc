#include "headlight/tasks/generation_settings.h"

#include "headlight/base/error.h"

namespace headlight {

Stopping ReadStopping(const JsonView& settings, Stopping fallback) {
  const JsonView early = settings["early_stopping"];
  if (!early.present()) return fallback;
  if (early.value() == Json("never")) return Stopping::never;
  return early.Bool() ? Stopping::at_once : Stopping::no_better;
}

void RefuseUnusual(const JsonView& settings, std::initializer_list<std::pair<const char*, Json>> as_usual) {
  for (const auto& [key, usual] : as_usual) {
    const JsonView found = settings[key];
    const bool same = !found.present() || found.value() == usual ||
                      (usual.As<double>() != nullptr && found.Number() == *usual.As<double>());
    Check(same, "{}: to generate with {} is not supported", found.place(), found.value().Line());
  }
}

}  // namespace headlight
