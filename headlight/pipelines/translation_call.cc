#include "headlight/pipelines/translation_call.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/batched.h"
#include "headlight/pipelines/sample_stream.h"
#include "headlight/pipelines/split_text.h"
#include "headlight/pipelines/token_words.h"
#include "headlight/pipelines/translator_state.h"
#include "headlight/text/utf8.h"

namespace headlight {

TranslationCall::TranslationCall(Translator translator, TranslateOptions options)
    : translator_(std::move(translator)),
      options_(std::move(options)),
      decoding_(translator_.state_->DecodingFor(options_)) {
  // Each sample is decoded as a separate source with a separate random stream.
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
  // Rejects invalid options even if there is nothing to translate.
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
  const TranslatorState& state = *translator_.state_;
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
      // The prefix and the part are encoded together, since the prefix's last word and the part's first word may share
      // a token.
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

}  // namespace headlight
