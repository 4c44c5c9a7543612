#include "headlight/pipelines/generation_settings.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/in_file.h"
#include "headlight/generate/choose_tokens.h"
#include "headlight/pipelines/stop_strings.h"

namespace headlight {
namespace {

constexpr std::int64_t kMostTokens = 1 << 24;
constexpr std::int64_t kLongest = std::int64_t{1} << 40;  // largest length in a file

constexpr unsigned kText = static_cast<unsigned>(GenerationKind::text);
constexpr unsigned kTranslation = static_cast<unsigned>(GenerationKind::translation);
constexpr unsigned kCaption = static_cast<unsigned>(GenerationKind::caption);
constexpr unsigned kDecoding = kTranslation | kCaption, kAll = kText | kDecoding;

struct Setting {
  const char* key;
  unsigned read;  // the kinds of models that implement the setting
  Json usual;     // for other kinds of models: a value that has no effect, like null
};

// Returns the keys of GenerationConfig that can change the output.
const std::vector<Setting>& Settings() {
  static const std::vector<Setting> settings = {
      // Lengths.
      {"max_length", kAll, {}},
      {"max_new_tokens", kAll, {}},
      {"min_length", kAll, {}},
      {"min_new_tokens", kAll, {}},
      {"stop_strings", kAll, {}},
      {"max_time", 0, {}},
      // The search.
      {"do_sample", kAll, {}},
      {"num_beams", kAll, {}},
      {"num_return_sequences", kAll, {}},
      {"length_penalty", kAll, {}},
      {"early_stopping", kAll, {}},
      {"num_beam_groups", 0, 1},
      {"diversity_penalty", 0, 0.0},
      {"penalty_alpha", 0, 0.0},
      {"dola_layers", 0, {}},
      {"constraints", 0, {}},
      {"force_words_ids", 0, {}},
      // Logits processors, in Transformers' order.
      {"guidance_scale", kAll, {}},
      {"sequence_bias", kAll, {}},
      {"encoder_repetition_penalty", kAll, {}},
      {"repetition_penalty", kAll, {}},
      {"no_repeat_ngram_size", kAll, {}},
      {"encoder_no_repeat_ngram_size", kAll, {}},
      {"bad_words_ids", kAll, {}},
      {"forced_bos_token_id", kAll, {}},
      {"forced_eos_token_id", kAll, {}},
      {"exponential_decay_length_penalty", kAll, {}},
      {"suppress_tokens", kAll, {}},
      {"begin_suppress_tokens", kAll, {}},
      {"forced_decoder_ids", 0, Json::Array{}},
      {"temperature", kAll, {}},
      {"top_h", kAll, {}},
      {"top_k", kAll, {}},
      {"top_p", kAll, {}},
      {"min_p", kAll, {}},
      {"typical_p", kAll, {}},
      {"epsilon_cutoff", kAll, {}},
      {"eta_cutoff", kAll, {}},
      {"watermarking_config", 0, {}},
      {"renormalize_logits", kAll, {}},
      // Special tokens.
      {"eos_token_id", kAll, {}},
      {"decoder_start_token_id", kAll, {}},  // does not change the text, as in Transformers
      {"token_healing", 0, false},
      {"prefix", kTranslation, ""},
  };
  // Other keys have no effect on the output:
  // - Keys that affect only speed: use_cache, cache_implementation, cache_config, max_cache_len, compile_config,
  //   disable_compile, continuous_batching_config, low_memory, prefill_chunk_size.
  // - Speculative decoding, which does not change the result: is_assistant, num_assistant_tokens,
  //   num_assistant_tokens_schedule, assistant_confidence_threshold, assistant_early_exit, assistant_ensemble_weight,
  //   assistant_lookbehind, target_lookbehind, prompt_lookup_num_tokens, max_matching_ngram_size, speculation_type,
  //   use_mtp.
  // - Keys that affect only what a Python call returns: output_attentions, output_hidden_states, output_scores,
  //   output_logits, return_dict_in_generate.
  // - pad_token_id: batches are packed. bos_token_id: begins an empty prompt.
  // - remove_invalid_values: NaN is an error.
  // - transformers_version and keys with a leading underscore: information on the file's origin.
  return settings;
}

std::vector<std::int32_t> ReadSequence(const JsonView& json, std::int64_t vocabulary) {
  std::vector<std::int32_t> ids;
  for (const JsonView& item : json.Items()) ids.push_back(static_cast<std::int32_t>(item.Integer(0, vocabulary - 1)));
  Check(!ids.empty(), "{}: there are no tokens", json.location());
  return ids;
}

// Reads forced_eos_token_id. If there are several tokens, the token with the lowest id is used, as in greedy decoding
// in Transformers.
void ReadLastToken(const JsonView& json, std::int64_t vocabulary, SearchOptions& search) {
  if (!json.present()) return;
  const std::vector<std::int32_t> ids = ReadTokenIds(json, vocabulary);
  Check(!ids.empty(), "{}: no token is in the vocabulary of {}", json.location(), vocabulary);
  search.last_token = std::ranges::min(ids);
}

}  // namespace

void CheckGenerationSettings(const JsonView& settings, GenerationKind kind) {
  for (const auto& [key, read, usual] : Settings()) {
    const JsonView found = settings[key];
    if (!found.present() || (read & static_cast<unsigned>(kind)) != 0) continue;
    const bool same =
        found.value() == usual || (usual.As<double>() != nullptr && found.Number() == *usual.As<double>());
    Check(same, "{}: generating with {} is not supported", found.location(), found.value().Line());
  }
}

const JsonView& GenerationSettings(const ModelFolder& folder) {
  return std::filesystem::exists(folder.File("generation_config.json")) ? folder.generation_config : folder.config;
}

std::vector<std::int32_t> ReadTokenIds(const JsonView& json, std::int64_t vocabulary) {
  std::vector<std::int32_t> ids;
  if (!json.present()) return ids;
  for (const JsonView& item : json.value().As<Json::Array>() != nullptr ? json.Items() : std::vector{json})
    if (const std::int64_t id = item.Integer(0, kMostTokens); id < vocabulary)
      ids.push_back(static_cast<std::int32_t>(id));
  return ids;
}

Stopping ReadStopping(const JsonView& settings, Stopping fallback) {
  const JsonView early = settings["early_stopping"];
  if (!early.present()) return fallback;
  if (early.value() == Json("never")) return Stopping::never;
  return early.Bool() ? Stopping::at_once : Stopping::no_better;
}

void ReadSampling(const JsonView& json, SamplingOptions& sampling) {
  const auto number = [&](const char* name, double& value, double least, double most) {
    value = json.Get(name, value).Number(least, most);
  };
  sampling.temperature = json.Get("temperature", sampling.temperature).Number();
  sampling.top_k = static_cast<std::int32_t>(json.Get("top_k", sampling.top_k).Integer(0, kMostTokens));
  number("top_h", sampling.top_h, 0, 1);
  number("top_p", sampling.top_p, 0, 1);
  number("min_p", sampling.min_p, 0, 1);
  number("typical_p", sampling.typical_p, 0, 1);
  for (const auto& [name, value] :
       {std::pair("epsilon_cutoff", &sampling.epsilon_cutoff), std::pair("eta_cutoff", &sampling.eta_cutoff)}) {
    number(name, *value, 0, 1);
    if (*value == 1) *value = 0;  // 1 means no cutoff, as in Transformers
  }
}

// Reads the logits processors. SearchOptions::generates_padding handles the padding token in bad_words_ids.
void ReadProcessors(const JsonView& json, std::int64_t vocabulary, std::int32_t pad_id, SearchOptions& search) {
  LogitsProcessors& processors = search.processors;
  const auto size = [&](const char* name, std::int32_t& value) {
    value = static_cast<std::int32_t>(json.Get(name, value).Integer(0, kMostTokens));
  };
  size("no_repeat_ngram_size", processors.no_repeat_ngram_size);
  size("encoder_no_repeat_ngram_size", processors.encoder_no_repeat_ngram_size);
  const auto penalty = [&](const char* name, double& value) { value = json.Get(name, value).Number(); };
  penalty("repetition_penalty", processors.repetition_penalty);
  penalty("encoder_repetition_penalty", processors.encoder_repetition_penalty);
  if (const JsonView biases = json["sequence_bias"]; biases.present()) {
    processors.sequence_bias.clear();
    for (const JsonView& bias : biases.Items()) {
      const std::vector<JsonView> pair = bias.Items();
      Check(pair.size() == 2, "{}: a pair of tokens and a bias is expected, not {}", bias.location(),
            bias.value().Line());
      constexpr double most = std::numeric_limits<float>::max();
      processors.sequence_bias.push_back(
          {ReadSequence(pair[0], vocabulary), static_cast<float>(pair[1].Number(-most, most))});
    }
  }
  search.generates_padding = true;
  if (const JsonView bad = json["bad_words_ids"]; bad.present()) {
    processors.bad_words.clear();
    for (const JsonView& sequence : bad.Items()) {
      std::vector<std::int32_t> ids = ReadSequence(sequence, vocabulary);
      if (ids == std::vector{pad_id})
        search.generates_padding = false;
      else
        processors.bad_words.push_back(std::move(ids));
    }
  }
  if (const JsonView decay = json["exponential_decay_length_penalty"]; decay.present()) {
    const std::vector<JsonView> pair = decay.Items();
    Check(pair.size() == 2, "{}: a pair of a length and a factor is expected, not {}", decay.location(),
          decay.value().Line());
    processors.exponential_decay_length_penalty = {static_cast<std::int32_t>(pair[0].Integer(0, kMostTokens)),
                                                   pair[1].Number()};
  }
  if (const JsonView suppress = json["suppress_tokens"]; suppress.present())
    processors.suppress_tokens = ReadTokenIds(suppress, vocabulary);
  if (const JsonView suppress = json["begin_suppress_tokens"]; suppress.present())
    processors.begin_suppress_tokens = ReadTokenIds(suppress, vocabulary);
  processors.renormalize = json.Get("renormalize_logits", processors.renormalize).Bool();
}

void ReadSearch(const JsonView& json, std::int64_t vocabulary, std::int32_t pad_id, SearchOptions& search) {
  search.beam_size = static_cast<std::int32_t>(json.Get("num_beams", search.beam_size).Integer(1, 1024));
  search.n_best = static_cast<std::int32_t>(json.Get("num_return_sequences", search.n_best).Integer(1, 1024));
  search.length_penalty = json.Get("length_penalty", search.length_penalty).Number();
  search.sample = json.Get("do_sample", search.sample).Bool();
  search.stopping = ReadStopping(json, search.stopping);
  search.guidance = json.Get("guidance_scale", search.guidance).Number();
  ReadSampling(json, search.sampling);
  ReadProcessors(json, vocabulary, pad_id, search);
  InFile(json.location(), [&] {
    Check(search.guidance >= 0, "guidance_scale must be a number from 0, not {}", search.guidance);
    if (search.sample) CheckSampling(search.sampling);
    Check(search.sample || search.n_best <= search.beam_size,
          "num_return_sequences {} is more than num_beams, {}, without do_sample", search.n_best, search.beam_size);
    CheckProcessors(search.processors, vocabulary);
  });
}

void CheckDraft(const Model& model, const SearchOptions& search) {
  if (!model.parameters().have_draft()) return;
  Check(search.beam_size == 1, "`draft` is for greedy choice: `beam_size` must be 1, not {}", search.beam_size);
  Check(ChoosesLikeliest(search),
        "`draft` is for greedy choice, without sampling, `repetition_penalty`, `no_repeat_ngram_size` and other "
        "changes of "
        "the scores");
}

TextSettings ReadTextSettings(const JsonView& json, const LanguageModel::Limits& limits) {
  CheckGenerationSettings(json, GenerationKind::text);
  TextSettings settings;
  GenerationOptions& generation = settings.generation;
  const auto length = [&](const char* name, std::int32_t& value, std::int64_t least) {
    const JsonView found = json[name];
    if (found.present()) value = static_cast<std::int32_t>(std::min(found.Integer(least, kLongest), kMostTokens));
    return found.present();
  };
  length("min_new_tokens", generation.min_new_tokens, 0);
  length("min_length", generation.min_length, 0);
  if (!length("max_new_tokens", generation.max_new_tokens, 1) && length("max_length", generation.max_length, 1))
    generation.max_new_tokens = kMostTokens;
  generation.min_new_tokens = std::min(generation.min_new_tokens, generation.max_new_tokens);
  ReadSearch(json, limits.vocabulary, /*pad_id=*/-1, generation.search);
  settings.stop = ReadStopStrings(json["stop_strings"]);
  generation.search.end_ids = ReadTokenIds(json["eos_token_id"], limits.vocabulary);
  if (generation.search.end_ids.empty() && limits.end_id >= 0) generation.search.end_ids = {limits.end_id};
  if (const JsonView first = json["forced_bos_token_id"]; first.present())
    generation.search.first_token = static_cast<std::int32_t>(first.Integer(0, limits.vocabulary - 1));
  ReadLastToken(json["forced_eos_token_id"], limits.vocabulary, generation.search);
  return settings;
}

TranslationSettings ReadTranslationSettings(const JsonView& json, TranslationSettings settings,
                                            const ConditionalDecoder::Limits& limits, GenerationKind kind) {
  CheckGenerationSettings(json, kind);
  DecodingOptions& decoding = settings.decoding;
  ReadSearch(json, limits.target_vocabulary, limits.pad_id, decoding.search);
  if (const JsonView longest = json["max_length"]; longest.present()) {
    settings.length_given = true;
    if (longest.Integer(1, kLongest) < limits.positions)
      decoding.max_length = std::max(1, static_cast<std::int32_t>(longest.Integer()) - 1);
  }
  if (const JsonView longest = json["max_new_tokens"]; longest.present()) {
    settings.length_given = true;
    decoding.max_new_tokens =
        static_cast<std::int32_t>(std::min<std::int64_t>(longest.Integer(1, kLongest), kMostTokens));
  }
  if (const JsonView shortest = json["min_length"]; shortest.present())
    decoding.min_length =
        static_cast<std::int32_t>(std::clamp<std::int64_t>(shortest.Integer(0, kLongest) - 1, 0, limits.positions));
  if (const JsonView shortest = json["min_new_tokens"]; shortest.present())
    decoding.min_new_tokens =
        static_cast<std::int32_t>(std::min<std::int64_t>(shortest.Integer(0, kLongest), kMostTokens));
  if (decoding.max_length != 0) decoding.min_length = std::min(decoding.min_length, decoding.max_length);

  const auto token = [&](const JsonView& id) {
    return static_cast<std::int32_t>(id.Integer(0, limits.target_vocabulary - 1));
  };
  JsonView start = json["decoder_start_token_id"];
  // If generation_config.json has no start token, the start token is the BOS token. The start token of config.json is
  // ignored.
  const bool of_model = json.value().Find("model_type") != nullptr;
  if (!start.present() && !of_model && kind == GenerationKind::translation) start = json["bos_token_id"];
  if (start.present() && start.Integer() != limits.start_id) decoding.prefix = {token(start)};
  if (json.Get("force_bos_token_to_be_generated", false).Bool())  // an old setting, which has priority in Transformers
    decoding.search.first_token = token(json.Get("bos_token_id", 0));
  else if (const JsonView first = json["forced_bos_token_id"]; first.present())
    decoding.search.first_token = token(first);
  if (std::vector<std::int32_t> ends = ReadTokenIds(json["eos_token_id"], limits.target_vocabulary);
      !ends.empty() && ends != std::vector{limits.end_id})
    decoding.search.end_ids = std::move(ends);
  ReadLastToken(json["forced_eos_token_id"], limits.target_vocabulary, decoding.search);
  if (const JsonView stop = json["stop_strings"]; stop.present()) settings.stop = ReadStopStrings(stop);
  settings.prefix = json.Get("prefix", settings.prefix).String();
  return settings;
}

}  // namespace headlight
