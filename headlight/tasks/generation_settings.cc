#include "headlight/tasks/generation_settings.h"

#include <algorithm>

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

TranslationSettings ReadTranslationSettings(const JsonView& json, TranslationSettings settings,
                                            std::int64_t positions) {
  DecodingOptions& decoding = settings.decoding;
  ReadChoices(json, decoding);
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (const JsonView longest = json["max_length"]; longest.present() && longest.Integer(1, most) < positions)
    decoding.max_length = std::max(1, static_cast<std::int32_t>(longest.Integer()) - 1);
  if (const JsonView shortest = json["min_length"]; shortest.present())
    decoding.min_length =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(shortest.Integer(0, most) - 1, 0, positions));
  if (decoding.max_length != 0) decoding.min_length = std::min(decoding.min_length, decoding.max_length);
  if (const JsonView first = json["forced_bos_token_id"]; first.present())
    decoding.first_token = static_cast<std::int32_t>(first.Integer(0, 1 << 24));
  settings.prefix = json.Get("prefix", settings.prefix).String();
  RefuseUnusual(json, {{"num_beam_groups", 1},
                       {"encoder_no_repeat_ngram_size", 0},
                       {"diversity_penalty", 0.0},
                       {"typical_p", 1.0},
                       {"suppress_tokens", Json()}});
  return settings;
}

}  // namespace headlight
