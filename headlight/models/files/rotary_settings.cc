#include "headlight/models/files/rotary_settings.h"

#include <algorithm>
#include <numbers>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr double kLargestBase = 1e12, kLargestFactor = 1e6;
constexpr ConfigName<RotaryKind> kKinds[] = {
    {"default", RotaryKind::unscaled}, {"linear", RotaryKind::linear}, {"llama3", RotaryKind::llama3}};

RotarySettings ReadKind(const JsonView& given, RotarySettings settings) {
  settings.base = given.Get("rope_theta", settings.base).Number(1, kLargestBase);
  for (const char* key : {"type", "rope_type"})
    if (given[key].present()) settings.kind = ConfigTable::Named<RotaryKind>(given[key], kKinds);
  if (settings.kind != RotaryKind::unscaled) settings.factor = given["factor"].Number(1, kLargestFactor);
  if (settings.kind == RotaryKind::llama3) {
    settings.slow = given["low_freq_factor"].Number(0, kLargestFactor);
    settings.fast = given["high_freq_factor"].Number(0, kLargestFactor);
    Check(settings.slow < settings.fast, "{}: must be above low_freq_factor, {}", given["high_freq_factor"].place(),
          settings.slow);
    settings.first_positions = given["original_max_position_embeddings"].Integer(1, kLargestSize);
  }
  given.RefuseUnread({});
  return settings;
}

void Read(const JsonView& json, RotarySettings& settings) {
  const JsonView newer = json["rope_parameters"], older = json["rope_scaling"];
  settings.base = json.Get("rope_theta", settings.base).Number(1, kLargestBase);
  const RotarySettings first = settings;
  if (newer.present()) settings = ReadKind(newer, first);
  if (!older.present()) return;
  RotarySettings scaled = ReadKind(older, first);
  if (newer.present() && !older["rope_theta"].present()) scaled.base = settings.base;
  Check(!newer.present() || scaled == settings, "{}: contradicts rope_parameters", older.place());
  settings = scaled;
}

Json::Object Written(const RotarySettings& settings) {
  Json::Object json;
  const auto kind = std::ranges::find(kKinds, settings.kind, &ConfigName<RotaryKind>::value);
  json.push_back({"rope_type", kind->name});
  if (settings.kind != RotaryKind::unscaled) json.push_back({"factor", settings.factor});
  if (settings.kind == RotaryKind::llama3) {
    json.push_back({"low_freq_factor", settings.slow});
    json.push_back({"high_freq_factor", settings.fast});
    json.push_back({"original_max_position_embeddings", settings.first_positions});
  }
  return json;
}

}  // namespace

RotaryPositions RotarySettings::Of(std::int64_t head_dim) const {
  RotaryPositions positions = RotaryPositions::Default(head_dim, base);
  for (double& frequency : positions.frequencies) {
    if (kind == RotaryKind::linear) frequency /= factor;
    if (kind != RotaryKind::llama3) continue;
    const double turns = static_cast<double>(first_positions) * frequency / (2 * std::numbers::pi);
    const double kept = std::clamp((turns - slow) / (fast - slow), 0.0, 1.0);
    frequency *= kept + (1 - kept) / factor;
  }
  return positions;
}

void DescribeRotary(ConfigTable& table, RotarySettings& settings) {
  if (table.reads()) Read(table.json(), settings);
  if (table.writes()) {
    Json::Object parameters = Written(settings);
    if (settings.kind != RotaryKind::unscaled) table.Note("rope_scaling", parameters);
    parameters.push_back({"rope_theta", settings.base});
    table.Note("rope_parameters", std::move(parameters));
    table.Note("rope_theta", settings.base);
  }
  table.Rule(settings.base >= 1 && settings.base <= kLargestBase,
             "the base of rotary positions must be from 1 to {}, not {}", kLargestBase, settings.base);
  table.Rule(settings.factor >= 1 && settings.factor <= kLargestFactor && settings.slow >= 0 &&
                 settings.slow < settings.fast && settings.first_positions >= 1,
             "rotary positions scaled by {} between {} and {} turns of {} positions", settings.factor, settings.slow,
             settings.fast, settings.first_positions);
}

}  // namespace headlight
