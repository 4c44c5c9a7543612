#include "headlight/models/files/rotary_settings.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/models/files/layer_windows.h"

namespace headlight {
namespace {

constexpr double kLargestFactor = 1e6;
constexpr ConfigName<RotaryKind> kKinds[] = {{"default", RotaryKind::unscaled}, {"linear", RotaryKind::linear},
                                             {"dynamic", RotaryKind::dynamic},  {"llama3", RotaryKind::llama3},
                                             {"yarn", RotaryKind::yarn},        {"longrope", RotaryKind::longrope},
                                             {"su", RotaryKind::longrope}};

// Returns the factor that multiplies cosines and sines (YaRN, section 3.4).
double YarnAttentionFactor(double factor, double scale) { return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1; }

void ReadYarn(const JsonView& given, RotarySettings& settings) {
  settings.fast = given.Get("beta_fast", 32).Number(0, kLargestFactor);
  settings.slow = given.Get("beta_slow", 1).Number(0, kLargestFactor);
  settings.whole_pairs = given.Get("truncate", true).Bool();
  const JsonView scale = given["mscale"], scale_of_all = given["mscale_all_dim"];
  const bool both = scale.present() && scale_of_all.present() && scale.Number(0, kLargestFactor) > 0 &&
                    scale_of_all.Number(0, kLargestFactor) > 0;
  const double usual = both ? YarnAttentionFactor(settings.factor, scale.Number(0, kLargestFactor)) /
                                  YarnAttentionFactor(settings.factor, scale_of_all.Number(0, kLargestFactor))
                            : YarnAttentionFactor(settings.factor, 1);
  settings.attention_factor = given.Get("attention_factor", usual).Number(0, kLargestFactor);
}

void ReadLongRope(const JsonView& given, RotarySettings& settings) {
  const auto factors = [&](const char* key) {
    std::vector<double> read;
    for (const JsonView& factor : given[key].Items()) read.push_back(factor.Number(0, kLargestFactor));
    return read;
  };
  settings.short_factors = factors("short_factor");
  settings.long_factors = factors("long_factor");
  Check(settings.first_positions >= 2, "{}: original_max_position_embeddings must be at least 2", given.location());
  const double usual =
      settings.factor <= 1
          ? 1
          : std::sqrt(1 + std::log(settings.factor) / std::log(static_cast<double>(settings.first_positions)));
  settings.attention_factor = given.Get("attention_factor", usual).Number(0, kLargestFactor);
}

// Reads one configuration `given` of rotary positions. `settings` has the defaults, and `whole` is the entire
// configuration.
RotarySettings ReadKind(const JsonView& given, const JsonView& whole, RotarySettings settings, std::int64_t positions) {
  settings.base = given.Get("rope_theta", settings.base).Number(1, kLargestRotaryBase);
  settings.rotated = given.Get("partial_rotary_factor", settings.rotated).Number(0, 1);
  for (const char* key : {"type", "rope_type"})
    if (given[key].present()) settings.kind = ConfigTable::Named<RotaryKind>(given[key], kKinds);
  if (settings.kind == RotaryKind::yarn && settings.yarn_is_longrope) settings.kind = RotaryKind::longrope;
  if (settings.kind == RotaryKind::llama3 || settings.kind == RotaryKind::yarn ||
      settings.kind == RotaryKind::longrope) {
    // The value in the outer configuration has priority, even if it is the default.
    const std::int64_t own = given.Get("original_max_position_embeddings", positions).Integer(1, kLargestSize);
    const std::int64_t fallback = settings.first_positions > 0 ? settings.first_positions : own;
    settings.first_positions = whole.Get("original_max_position_embeddings", fallback).Integer(1, kLargestSize);
  }
  const bool has_usual_factor = settings.kind == RotaryKind::yarn || settings.kind == RotaryKind::longrope;
  const double usual =
      static_cast<double>(positions) / static_cast<double>(std::max<std::int64_t>(1, settings.first_positions));
  if (settings.kind != RotaryKind::unscaled)
    settings.factor = (has_usual_factor ? given.Get("factor", usual) : given["factor"])
                          .Number(has_usual_factor ? 0 : 1, kLargestFactor);
  if (settings.kind == RotaryKind::llama3) {
    settings.slow = given["low_freq_factor"].Number(0, kLargestFactor);
    settings.fast = given["high_freq_factor"].Number(0, kLargestFactor);
    Check(settings.slow < settings.fast, "{}: must be above low_freq_factor, {}", given["high_freq_factor"].location(),
          settings.slow);
  }
  if (settings.kind == RotaryKind::yarn) ReadYarn(given, settings);
  if (settings.kind == RotaryKind::longrope) ReadLongRope(given, settings);
  given.RefuseUnread({"attn_factor", "finetuned", "extrapolation_factor"});  // Transformers ignores these keys
  return settings;
}

void Read(const JsonView& json, RotarySettings& settings, std::int64_t positions) {
  const JsonView newer = json["rope_parameters"], older = json["rope_scaling"];
  settings.base = json.Get("rope_theta", settings.base).Number(1, kLargestRotaryBase);
  settings.rotated = json.Get("partial_rotary_factor", settings.rotated).Number(0, 1);
  const RotarySettings first = settings;
  if (newer.present()) settings = ReadKind(newer, json, first, positions);
  if (!older.present()) return;
  RotarySettings scaled = ReadKind(older, json, first, positions);
  if (newer.present() && !older["rope_theta"].present()) scaled.base = settings.base;
  if (newer.present() && !older["partial_rotary_factor"].present()) scaled.rotated = settings.rotated;
  Check(!newer.present() || scaled == settings, "{}: contradicts rope_parameters", older.location());
  settings = scaled;
}

Json::Object Written(const RotarySettings& settings) {
  Json::Object json;
  const RotaryKind is = settings.kind;
  const auto kind = std::ranges::find(kKinds, is, &ConfigName<RotaryKind>::value);
  json.push_back({"rope_type", kind->name});
  if (is != RotaryKind::unscaled) json.push_back({"factor", settings.factor});
  if (is == RotaryKind::llama3) {
    json.push_back({"low_freq_factor", settings.slow});
    json.push_back({"high_freq_factor", settings.fast});
  }
  if (is == RotaryKind::yarn) {
    json.push_back({"beta_slow", settings.slow});
    json.push_back({"beta_fast", settings.fast});
    json.push_back({"truncate", settings.whole_pairs});
  }
  const auto list = [](const std::vector<double>& numbers) { return Json::Array(numbers.begin(), numbers.end()); };
  if (is == RotaryKind::longrope) {
    json.push_back({"short_factor", list(settings.short_factors)});
    json.push_back({"long_factor", list(settings.long_factors)});
  }
  if (is == RotaryKind::yarn || is == RotaryKind::longrope)
    json.push_back({"attention_factor", settings.attention_factor});
  if (is == RotaryKind::llama3 || is == RotaryKind::yarn || is == RotaryKind::longrope)
    json.push_back({"original_max_position_embeddings", settings.first_positions});
  return json;
}

// Returns the number of rotated features of a head.
std::int64_t Rotated(const RotarySettings& settings, std::int64_t head_dim) {
  return static_cast<std::int64_t>(static_cast<double>(head_dim) * settings.rotated);
}

// Returns YaRN's ramp, which is 0 for high-frequency pairs and 1 for low-frequency pairs (eq. 18, and appendix A.2).
double YarnRamp(const RotarySettings& settings, std::int64_t rotated, std::size_t pair) {
  const auto pair_of = [&](double turns) {
    return static_cast<double>(rotated) *
           std::log(static_cast<double>(settings.first_positions) / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(settings.base));
  };
  double low = pair_of(settings.fast), high = pair_of(settings.slow);
  if (settings.whole_pairs) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(rotated - 1));
  if (low == high) high += 0.001;
  return std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
}

// Throws Error if the settings are not consistent with each other.
void CheckRotary(ConfigTable& table, const RotarySettings& settings, std::int64_t head_dim) {
  table.Rule(settings.base >= 1 && settings.base <= kLargestRotaryBase,
             "the base of rotary positions must be from 1 to {}, not {}", kLargestRotaryBase, settings.base);
  const std::int64_t rotated = Rotated(settings, head_dim);
  table.Rule(settings.rotated > 0 && settings.rotated <= 1 && rotated >= 2 && rotated % 2 == 0,
             "rotary positions rotate pairs: {} of the {} features of a head are not pairs", rotated, head_dim);
  const bool ramp = settings.kind == RotaryKind::llama3 || settings.kind == RotaryKind::yarn;
  table.Rule(settings.factor > 0 && settings.factor <= kLargestFactor &&
                 (!ramp || (settings.slow >= 0 && settings.slow < settings.fast && settings.first_positions >= 1)),
             "rotary positions scaled by {} between {} and {} rotations in {} positions", settings.factor,
             settings.slow, settings.fast, settings.first_positions);
  table.Rule(settings.kind != RotaryKind::yarn || (settings.slow > 0 && settings.base > 1),
             "yarn needs a number of rotations above 0 and a base above 1");
  const auto fit = [&](const std::vector<double>& factors) {
    return 2 * std::ssize(factors) == rotated && std::ranges::all_of(factors, [](double factor) { return factor > 0; });
  };
  table.Rule(settings.kind != RotaryKind::longrope ||
                 (fit(settings.short_factors) && fit(settings.long_factors) && settings.first_positions >= 2),
             "longrope needs {} positive factors, for short and for long texts", rotated / 2);
}

void CheckWhole(ConfigTable& table, const RotarySettings& settings, bool partial) {
  table.Rule(partial || settings.rotated == 1, "partial_rotary_factor: this family rotates whole heads");
}

// Returns the members of rope_parameters for one kind of layer.
Json::Object ParametersOf(const RotarySettings& settings, bool partial) {
  Json::Object parameters = Written(settings);
  parameters.push_back({"rope_theta", settings.base});
  if (partial) parameters.push_back({"partial_rotary_factor", settings.rotated});
  return parameters;
}

}  // namespace

RotaryPositions RotarySettings::Of(std::int64_t head_dim) const {
  const std::int64_t features = Rotated(*this, head_dim);
  RotaryPositions positions = RotaryPositions::Default(head_dim, base, features);
  positions.factor = attention_factor;
  for (std::size_t pair = 0; pair < positions.frequencies.size(); ++pair) {
    double& frequency = positions.frequencies[pair];
    if (kind == RotaryKind::linear) frequency /= factor;
    if (kind == RotaryKind::longrope) frequency /= short_factors[pair];
    if (kind != RotaryKind::llama3 && kind != RotaryKind::yarn) continue;
    const double turns = static_cast<double>(first_positions) * frequency / (2 * std::numbers::pi);
    const double kept = kind == RotaryKind::yarn ? 1 - YarnRamp(*this, features, pair)
                                                 : std::clamp((turns - slow) / (fast - slow), 0.0, 1.0);
    frequency *= kept + (1 - kept) / factor;
  }
  return positions;
}

std::int64_t RotarySettings::LongestText(std::int64_t positions) const {
  return kind == RotaryKind::longrope ? std::min(positions, first_positions) : positions;
}

void DescribeRotary(ConfigTable& table, RotarySettings& settings, std::int64_t head_dim, std::int64_t positions,
                    bool partial) {
  if (table.reads()) Read(table.json(), settings, positions);
  if (settings.kind != RotaryKind::unscaled) table.Note("rope_scaling", Written(settings));
  if (partial) table.Note("partial_rotary_factor", settings.rotated);
  CheckWhole(table, settings, partial);
  table.Note("rope_parameters", ParametersOf(settings, partial));
  table.Note("rope_theta", settings.base);
  CheckRotary(table, settings, head_dim);
}

void DescribeRotaryOfLayers(ConfigTable& table, RotarySettings& full, RotarySettings& sliding, std::int64_t head_dim,
                            std::int64_t positions) {
  if (table.reads()) {
    const JsonView& json = table.json();
    const JsonView newer = json["rope_parameters"], older = json["rope_scaling"];
    full.base = json.Get("rope_theta", full.base).Number(1, kLargestRotaryBase);
    sliding.base = json.Get("rope_local_base_freq", sliding.base).Number(1, kLargestRotaryBase);
    if (newer.present()) {
      if (newer[kFullAttention].present()) full = ReadKind(newer[kFullAttention], json, full, positions);
      if (newer[kSlidingAttention].present()) sliding = ReadKind(newer[kSlidingAttention], json, sliding, positions);
      newer.RefuseUnread({});
    }
    if (older.present()) full = ReadKind(older, json, full, positions);  // rope_scaling has priority in Transformers
  }
  CheckWhole(table, full, /*partial=*/false);
  CheckWhole(table, sliding, /*partial=*/false);
  if (full.kind != RotaryKind::unscaled) table.Note("rope_scaling", Written(full));
  Json::Object both;
  both.push_back({std::string(kFullAttention), ParametersOf(full, false)});
  both.push_back({std::string(kSlidingAttention), ParametersOf(sliding, false)});
  table.Note("rope_parameters", std::move(both));
  table.Note("rope_theta", full.base);
  table.Note("rope_local_base_freq", sliding.base);
  CheckRotary(table, full, head_dim);
  CheckRotary(table, sliding, head_dim);
}

}  // namespace headlight
