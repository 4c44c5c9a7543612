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
#include "headlight/pipelines/translation_call.h"
#include "headlight/text/tokenizers/load_tokenizer.h"
#include "headlight/text/tokenizers/marian_tokenizer.h"
#include "headlight/text/utf8.h"

namespace headlight {

struct Translator::State {
  std::unique_ptr<const EncoderDecoder> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::optional<Shortlist> shortlist;
  TranslationSettings settings;
  std::map<std::string, Json> tasks;  // task_specific_params
  std::string config_path;

  std::int64_t positions() const { return model->limits().positions; }

  TranslationSettings SettingsFor(const TranslateOptions& options) const {
    if (options.task.empty()) return settings;
    const auto found = tasks.find(options.task);
    std::vector<std::string> names;
    for (const auto& [name, ignored] : tasks) names.push_back(name);
    Check(found != tasks.end(), "{}: there is no task {} in task_specific_params; there are: {}", config_path,
          Quoted(options.task), names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    const std::string place = fmt::format("{}: task_specific_params.{}", config_path, options.task);
    return ReadTranslationSettings(JsonView(found->second, place), settings, model->limits(),
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
    decoding.seed = options.seed.value_or(0);
    CheckDraft(*model, decoding.search);
    if (options.max_length != 0) {  // a shorter length than the folder's shortest
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

  // The tokens of options.target_prefix for each of so many texts, or of the one for all.
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

  // The special tokens before and after a source's.
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
    Check(replaced == 1, "this model is not told its source's language: {} tokens around it could be one", replaced);
    return around;
  }
};

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
  // T5's has fewer tokens than its model has rows.
  CheckRows(folder, tokenizer->size(), std::min(limits.source_vocabulary, limits.target_vocabulary));
  std::optional<Shortlist> shortlist;
  if (options.shortlist) {
    const std::string path = folder + "/" + kShortlistName;
    Check(marian != nullptr, "{}: a shortlist is for MarianMT's tokenizers", folder);
    Check(std::filesystem::exists(path), "{}: there is no such file; `headlight shortlist` makes it", path);
    shortlist = LoadShortlist(path, marian->hash(), limits.source_vocabulary, limits.target_vocabulary);
  }

  const ModelFolder files = OpenModelFolder(folder);
  const TranslationSettings settings =
      ReadTranslationSettings(GenerationSettings(files), {}, limits, GenerationKind::translation);
  std::map<std::string, Json> tasks;
  if (const JsonView all = files.config["task_specific_params"]; all.present())
    for (const auto& [name, task] : all.Members()) tasks[name] = task.value();
  return Translator(std::make_shared<State>(State{std::move(model), std::move(tokenizer), std::move(shortlist),
                                                  settings, std::move(tasks), files.File("config.json")}));
}

const EncoderDecoder& Translator::model() const { return *state_->model; }
const Tokenizer& Translator::tokenizer() const { return *state_->tokenizer; }

std::string Translator::Translate(std::string_view text, const TranslateOptions& options) const {
  const std::string texts[] = {std::string(text)};
  return TranslateBatch(texts, options).front().front().text;
}

TranslationCall::TranslationCall(Translator translator, TranslateOptions options)
    : translator_(std::move(translator)),
      options_(std::move(options)),
      decoding_(translator_.state_->DecodingFor(options_)) {
  // Samples are decoded as sources of their own, each with a random stream.
  if (decoding_.search.sample) samples_ = static_cast<std::size_t>(decoding_.search.n_best);
  if (decoding_.search.sample) decoding_.search.n_best = 1;
}

const Shortlist* TranslationCall::ShortlistOf(const Translator& translator) {
  const std::optional<Shortlist>& shortlist = translator.state_->shortlist;
  return shortlist ? &*shortlist : nullptr;
}

void TranslationCall::ReadPrefixes(std::size_t texts) {
  texts_ = texts;
  target_prefixes_ = translator_.state_->TargetPrefixes(options_, texts);
  if (target_prefixes_.size() == 1) decoding_.sources = {{target_prefixes_.front(), 0}};
  // Refuses impossible options even if there is nothing to translate.
  Decode(translator_.model(), {}, {}, decoding_);
  decoding_.sources.clear();
}

void TranslationCall::Add(SourcePart source, std::size_t part) {
  const std::size_t text = source.text;
  for (std::size_t sample = 0; sample < samples_; ++sample) {
    ids_.push_back(source.ids);
    decoding_.sources.push_back({{}, SampleStream(options_.first_stream + text, part, sample)});
    if (part == 0 && !target_prefixes_.empty())
      decoding_.sources.back().target_prefix = target_prefixes_[target_prefixes_.size() == 1 ? 0 : text];
  }
  sources_.push_back(std::move(source));
}

void TranslationCall::Read(std::span<const std::string> texts) {
  const Translator::State& state = *translator_.state_;
  const Tokenizer& tokenizer = *state.tokenizer;
  ReadPrefixes(texts.size());
  const auto [before, after] = state.Around(options_);
  const std::string prefix = state.PrefixFor(options_);
  const auto around = static_cast<std::int64_t>(before.size() + after.size() + tokenizer.Encode(prefix).size());
  Check(around < state.positions(), "the prefix has {} tokens, and the model reads at most {}", around,
        state.positions());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (ValidUtf8(texts[i]) < texts[i].size()) CheckUtf8(texts[i], fmt::format("text {}", i + 1));
    const std::vector<TextPart> parts = SplitText(tokenizer, texts[i], state.positions() - around);
    const auto words = SourceWords(texts[i], options_.alignment ? parts : std::vector<TextPart>());
    for (std::size_t part = 0; part < parts.size(); ++part) {
      // Encoded together, since the prefix's last word and the part's first may share a token.
      const std::vector<std::int32_t> tokens =
          prefix.empty() ? parts[part].tokens : tokenizer.Encode(prefix + std::string(parts[part].text));
      SourcePart source{i, before, {}};
      source.ids.insert(source.ids.end(), tokens.begin(), tokens.end());
      if (options_.alignment) {
        const std::size_t own = std::min(words[part].size(), tokens.size());
        source.words.assign(before.size() + tokens.size() - own, -1);
        source.words.insert(source.words.end(), words[part].end() - static_cast<std::ptrdiff_t>(own),
                            words[part].end());
      }
      source.ids.insert(source.ids.end(), after.begin(), after.end());
      Add(std::move(source), part);
    }
  }
}

void TranslationCall::Read(std::vector<std::int32_t> source) {
  Check(!options_.alignment, "`alignment` is for a text: tokens have no words");
  const std::int64_t vocabulary = translator_.model().limits().source_vocabulary;
  for (const std::int32_t id : source)
    Check(id >= 0 && id < vocabulary, "the token {} is outside the source's vocabulary of {}", id, vocabulary);
  ReadPrefixes(1);
  Add({0, std::move(source), {}}, 0);
}

std::vector<std::vector<Translation>> TranslationCall::Results(
    const std::vector<std::vector<Hypothesis>>& decoded) const {
  const EncoderDecoder& model = translator_.model();
  std::vector<std::vector<Translation>> results(texts_);
  for (std::size_t begin = 0, end; begin < sources_.size(); begin = end) {
    std::vector<Translation>& translations = results[sources_[begin].text];
    for (end = begin + 1; end < sources_.size() && sources_[end].text == sources_[begin].text; ++end) continue;
    const auto hypothesis = [&](std::size_t i, std::size_t rank) -> const Hypothesis& {
      return decoding_.search.sample ? decoded[i * samples_ + rank].front() : decoded[i][rank];
    };
    std::size_t candidates = decoding_.search.sample ? samples_ : decoded[begin].size();
    for (std::size_t i = begin; i < end && !decoding_.search.sample; ++i)
      candidates = std::min(candidates, decoded[i].size());
    for (std::size_t rank = 0; rank < candidates; ++rank) {
      Translation& translation = translations.emplace_back();
      translation.parts = static_cast<std::int32_t>(end - begin);
      const bool keep_attention = options_.attention && rank == 0 && translation.parts == 1;
      for (std::size_t i = begin; i < end; ++i)
        AppendPart(translation, model, translator_.tokenizer(), sources_[i],
                   decoding_.prefix.empty() ? model.limits().start_id : decoding_.prefix.front(), hypothesis(i, rank),
                   options_, keep_attention);
    }
  }
  for (std::vector<Translation>& translations : results)
    if (translations.empty()) translations.emplace_back();
  return results;
}

std::vector<std::vector<Translation>> Translator::TranslateBatch(std::span<const std::string> texts,
                                                                 const TranslateOptions& options) const {
  TranslationCall call(*this, options);
  call.Read(texts);
  return call.Results(DecodeInBatches(model(), call.ids(), call.decoding(), options.batch_tokens));
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
