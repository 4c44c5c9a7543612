#include "headlight/pipelines/translator.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/batched.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/generation_settings.h"
#include "headlight/pipelines/sample_stream.h"
#include "headlight/pipelines/split_text.h"
#include "headlight/pipelines/stop_strings.h"
#include "headlight/pipelines/token_words.h"
#include "headlight/pipelines/tokenizer_fit.h"
#include "headlight/pipelines/translation_parts.h"
#include "headlight/pipelines/translator_state.h"
#include "headlight/text/tokenizers/load_tokenizer.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"
#include "headlight/text/utf8.h"

namespace headlight {

Translator Translator::Load(const std::string& folder, const LoadOptions& options) {
  std::unique_ptr<const EncoderDecoder> model = LoadModel<EncoderDecoder>(
      folder,
      {.compute = options.compute, .purpose = options.draft ? LoadFor::computing_with_draft : LoadFor::computing});
  std::shared_ptr<const Tokenizer> tokenizer = LoadTokenizer(folder);
  const EncoderDecoder::Limits& limits = model->limits();
  const auto* const marian = dynamic_cast<const MarianTokenizer*>(tokenizer.get());
  if (marian != nullptr) {
    const auto same = [&](const char* what, std::int64_t of_tokenizer, std::int64_t of_model) {
      Check(of_tokenizer == of_model,
            "{}/config.json: {} is {} for the tokenizer and {} for the model: they are of different models", folder,
            what, of_tokenizer, of_model);
    };
    same("the source vocabulary's size", marian->size(), limits.source_vocabulary);
    same("the target vocabulary's size", marian->size(), limits.target_vocabulary);
    same("the end of a sentence", marian->eos(), limits.end_id);
    same("the padding token", marian->pad(), limits.pad_id);
  }
  // T5's tokenizer has fewer tokens than its model has rows.
  CheckRows(folder, tokenizer->size(), std::min(limits.source_vocabulary, limits.target_vocabulary));
  std::optional<Shortlist> shortlist;
  if (options.shortlist) {
    const std::string path = folder + "/" + kShortlistName;
    Check(marian != nullptr, "{}: a shortlist is for MarianMT's tokenizers", folder);
    Check(std::filesystem::exists(path), "{}: no such file; `headlight shortlist` makes it", path);
    shortlist = LoadShortlist(path, marian->hash(), limits.source_vocabulary, limits.target_vocabulary);
  }

  const ModelFolder files = OpenModelFolder(folder);
  const TranslationSettings settings =
      ReadTranslationSettings(GenerationSettings(files), {}, limits, GenerationKind::translation);
  std::map<std::string, Json> tasks;
  if (const JsonView all = files.config["task_specific_params"]; all.present())
    for (const auto& [name, task] : all.Members()) tasks[name] = task.value();
  return Translator(
      std::make_shared<TranslatorState>(TranslatorState{std::move(model), std::move(tokenizer), std::move(shortlist),
                                                        settings, std::move(tasks), files.File("config.json")}));
}

const EncoderDecoder& Translator::model() const { return *state_->model; }
const Tokenizer& Translator::tokenizer() const { return *state_->tokenizer; }

std::string Translator::Translate(std::string_view text, const TranslateOptions& options) const {
  const std::string texts[] = {std::string(text)};
  return TranslateBatch(texts, options).front().front().text;
}

std::int32_t Translator::n_best(const TranslateOptions& options) const {
  return state_->DecodingFor(options).search.n_best;
}

std::vector<std::int32_t> Translator::SourceIds(std::string_view text, const TranslateOptions& options) const {
  auto [ids, after] = state_->Around(options);
  const std::vector<std::int32_t> tokens = tokenizer().Encode(state_->PrefixFor(options) + std::string(text));
  ids.insert(ids.end(), tokens.begin(), tokens.end());
  ids.insert(ids.end(), after.begin(), after.end());
  return ids;
}

std::int64_t Translator::CountTokens(std::string_view text, const TranslateOptions& options) const {
  return std::ssize(SourceIds(text, options));
}

AttentionRecord Translator::Attention(std::string_view source, std::optional<std::string_view> target,
                                      const TranslateOptions& options) const {
  const auto tokens_of = [&](std::string_view prefix, std::string_view text, Side side, const char* name,
                             std::size_t around) {
    CheckUtf8(text, fmt::format("the {}", name));
    Check(!tokenizer().Encode(text, side).empty(), "the {} has no words", name);
    std::vector<std::int32_t> tokens = tokenizer().Encode(std::string(prefix) + std::string(text), side);
    const std::int64_t most = state_->positions() - static_cast<std::int64_t>(around);
    Check(std::ssize(tokens) <= most, "the {} has {} tokens, and the model reads at most {}", name, tokens.size(),
          most);
    return tokens;
  };
  auto [source_ids, after] = state_->Around(options);
  const std::vector<std::int32_t> tokens =
      tokens_of(state_->PrefixFor(options), source, Side::source, "source", source_ids.size() + after.size());
  source_ids.insert(source_ids.end(), tokens.begin(), tokens.end());
  source_ids.insert(source_ids.end(), after.begin(), after.end());

  DecodingOptions decoding = state_->DecodingFor(options);
  if (decoding.search.sample) decoding.search.n_best = 1;
  const std::int32_t start = decoding.prefix.empty() ? model().limits().start_id : decoding.prefix.front();
  std::vector<std::int32_t> written;
  if (target) {
    if (decoding.search.first_token) written.push_back(*decoding.search.first_token);
    const std::vector<std::int32_t> own = tokens_of("", *target, Side::target, "target", written.size() + 1);
    written.insert(written.end(), own.begin(), own.end());
  } else {
    const Sequences sentence = {{0, static_cast<std::int32_t>(source_ids.size())}};
    decoding.sources = {{{}, SampleStream(options.first_stream)}};
    for (const std::vector<std::int32_t>& prefix : state_->TargetPrefixes(options, 1))
      decoding.sources.front().target_prefix = prefix;
    written = Decode(model(), source_ids, sentence, decoding)[0][0].ids;
  }
  return Attend(model(), tokenizer(), source_ids, start, written);
}

}  // namespace headlight
