// The state that a Translator loads from its folder, and the resulting settings for the options of a call.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/generate/shortlist.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/pipelines/generation_settings.h"
#include "headlight/pipelines/stop_strings.h"
#include "headlight/pipelines/translation.h"
#include "headlight/text/tokenizers/tokenizer.h"
#include "headlight/text/utf8.h"

namespace headlight {

struct TranslatorState {
  std::unique_ptr<const EncoderDecoder> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::optional<Shortlist> shortlist;
  TranslationSettings settings;
  std::map<std::string, Json> tasks;  ///< from task_specific_params
  std::string config_path;

  std::int64_t positions() const { return model->limits().positions; }

  TranslationSettings SettingsFor(const TranslateOptions& options) const {
    if (options.task.empty()) return settings;
    const auto found = tasks.find(options.task);
    std::vector<std::string> names;
    for (const auto& [name, ignored] : tasks) names.push_back(name);
    Check(found != tasks.end(), "{}: there is no task {} in task_specific_params; there are: {}", config_path,
          Quoted(options.task), names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    const std::string location = fmt::format("{}: task_specific_params.{}", config_path, options.task);
    return ReadTranslationSettings(JsonView(found->second, location), settings, model->limits(),
                                   GenerationKind::translation);
  }

  std::string PrefixFor(const TranslateOptions& options) const {
    return options.task.empty() ? options.prefix : SettingsFor(options).prefix + options.prefix;
  }

  std::int32_t Language(const std::string& name) const {
    const std::optional<std::int32_t> token = tokenizer->FindSpecial(name);
    Check(token.has_value(), "there is no language {}: the tokenizer has no such special token", Quoted(name));
    return *token;
  }

  DecodingOptions DecodingFor(const TranslateOptions& options) const {
    const TranslationSettings of_folder = SettingsFor(options);
    DecodingOptions decoding = of_folder.decoding;
    ApplyChoices(options, decoding.search);
    decoding.search.stops = StopsAt(of_folder.stop, tokenizer);
    decoding.seed = options.seed.value_or(kDefaultSeed);
    CheckDraft(*model, decoding.search);
    if (options.max_length != 0) {  // may be below the folder's minimum
      decoding.max_length = options.max_length;
      decoding.max_new_tokens = 0;
      decoding.min_length = std::min(decoding.min_length, std::max(0, options.max_length - 1));
    }
    if (options.min_length) {
      decoding.min_length = *options.min_length;
      decoding.min_new_tokens = 0;
    }
    if (!options.target_language.empty()) {
      const EncoderDecoder::Limits& limits = model->limits();
      const std::int32_t language = Language(options.target_language);
      if (limits.start_id == limits.end_id || limits.start_id == limits.pad_id)
        decoding.search.first_token = language;
      else
        decoding.prefix = {language};
    }
    decoding.shortlist = shortlist ? &*shortlist : nullptr;
    decoding.search.attention = options.alignment;
    decoding.search.token_scores = options.token_scores;
    decoding.cancelled = options.cancelled;
    return decoding;
  }

  /// Returns the tokens of options.target_prefix: one entry per text, or one entry if all texts share a prefix.
  std::vector<std::vector<std::int32_t>> TargetPrefixes(const TranslateOptions& options, std::size_t texts) const {
    const std::vector<std::string>& prefixes = options.target_prefix;
    Check(prefixes.size() <= 1 || prefixes.size() == texts, "there are {} of target_prefix, for {} texts",
          prefixes.size(), texts);
    std::vector<std::vector<std::int32_t>> tokens;
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      CheckUtf8(prefixes[i], fmt::format("target prefix {}", i + 1));
      tokens.push_back(tokenizer->Encode(prefixes[i], Side::target));
    }
    return tokens;
  }

  /// Returns the special tokens before and after a source.
  std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>> Around(const TranslateOptions& options) const {
    std::pair around(tokenizer->before(), tokenizer->after());
    if (options.source_language.empty()) return around;
    const std::int32_t language = Language(options.source_language);
    int replaced = 0;
    for (std::vector<std::int32_t>* const side : {&around.first, &around.second})
      for (std::int32_t& token : *side)
        if (token != model->limits().end_id && tokenizer->Piece(token) != "<s>") {
          token = language;
          ++replaced;
        }
    Check(replaced == 1, "this model has no input for the source language: {} special tokens could be it", replaced);
    return around;
  }
};

}  // namespace headlight
