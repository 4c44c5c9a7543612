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
  const auto integer = [&](const char* key, std::int32_t fallback, std::int64_t least, std::int64_t most) {
    return json[key].present() ? static_cast<std::int32_t>(json[key].Integer(least, most)) : fallback;
  };
  decoding.beam_size = integer("num_beams", decoding.beam_size, 1, 1024);
  decoding.length_penalty = json.Get("length_penalty", decoding.length_penalty).Number();
  decoding.no_repeat_ngram_size = integer("no_repeat_ngram_size", decoding.no_repeat_ngram_size, 0, 1 << 24);
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (const JsonView longest = json["max_length"]; longest.present() && longest.Integer(1, most) < positions)
    decoding.max_length = std::max(1, static_cast<std::int32_t>(longest.Integer()) - 1);
  if (const JsonView shortest = json["min_length"]; shortest.present())
    decoding.min_length =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(shortest.Integer(0, most) - 1, 0, positions));
  if (json["forced_bos_token_id"].present()) decoding.first_token = integer("forced_bos_token_id", 0, 0, 1 << 24);
  decoding.stopping = ReadStopping(json, decoding.stopping);
  settings.prefix = json.Get("prefix", settings.prefix).String();
  RefuseUnusual(json, {{"do_sample", false},
                       {"repetition_penalty", 1.0},
                       {"num_beam_groups", 1},
                       {"encoder_no_repeat_ngram_size", 0},
                       {"diversity_penalty", 0.0},
                       {"suppress_tokens", Json()}});
  return settings;
}

}  // namespace headlight
