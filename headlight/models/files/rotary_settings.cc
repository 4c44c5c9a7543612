#include "headlight/models/files/rotary_settings.h"

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr double kLargestBase = 1e12;

void Read(const JsonView& json, RotarySettings& settings) {
  const JsonView parameters = json["rope_parameters"], scaling = json["rope_scaling"];
  Check(!parameters.present() || !scaling.present(), "{}: rope_parameters says the same", scaling.place());
  settings.base = json.Get("rope_theta", settings.base).Number(1, kLargestBase);
  const JsonView& given = parameters.present() ? parameters : scaling;
  if (!given.present()) return;
  settings.base = given.Get("rope_theta", settings.base).Number(1, kLargestBase);
  for (const char* key : {"rope_type", "type"})
    if (given[key].present()) static_cast<void>(given[key].String({"default"}));
  given.RefuseUnread({});
}

}  // namespace

void DescribeRotary(ConfigTable& table, RotarySettings& settings) {
  if (table.reads()) Read(table.json(), settings);
  if (table.writes()) {
    table.Note("rope_parameters", Json::Object{{"rope_theta", settings.base}, {"rope_type", "default"}});
    table.Note("rope_theta", settings.base);
  }
  table.Rule(settings.base >= 1 && settings.base <= kLargestBase,
             "the base of rotary positions must be from 1 to {}, not {}", kLargestBase, settings.base);
}

}  // namespace headlight
