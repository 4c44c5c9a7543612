#include "headlight/serve/translator.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/batched.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/serve/split_text.h"
#include "headlight/text/utf8.h"

namespace headlight {

struct Translator::State {
  std::unique_ptr<const EncoderDecoder> model;
  Tokenizer tokenizer;
  std::optional<Shortlist> shortlist;
  std::int32_t beam_size;
  double length_penalty;

  std::int64_t positions() const { return model->limits().positions; }
  std::vector<std::int32_t> WithEnd(std::vector<std::int32_t> tokens) const {
    tokens.push_back(model->limits().end_id);
    return tokens;
  }
};

namespace {

// What every head looks at while the model reads `source`, which has its end, and writes `target`, which has none. The
// last token of a target that fills all positions is written and not read.
AttentionRecord Attend(const EncoderDecoder& model, const Tokenizer& tokenizer, std::span<const std::int32_t> source,
                       std::span<const std::int32_t> target) {
  const EncoderDecoder::Limits& limits = model.limits();
  std::vector<std::int32_t> inputs = {limits.start_id};
  inputs.insert(inputs.end(), target.begin(), target.end());
  inputs.resize(std::min(inputs.size(), static_cast<std::size_t>(limits.positions)));

  AttentionRecord record;
  for (const std::int32_t token : source) record.source_tokens.push_back(tokenizer.Piece(token));
  record.target_tokens.push_back("<s>");  // as the paper has it; MarianMT's is named <pad>
  for (std::size_t i = 1; i < inputs.size(); ++i) record.target_tokens.push_back(tokenizer.Piece(inputs[i]));

  Context context;
  context.sink = [&](const LayerAttention& seen) { record.maps.push_back(MapOf(seen)); };
  const Sequences sources = {{0, static_cast<std::int32_t>(source.size())}};
  const Sequences targets = {{0, static_cast<std::int32_t>(inputs.size())}};
  model.Decode(context, inputs, targets, {model.Encode(context, source, sources), sources});
  std::ranges::stable_sort(record.maps, {}, &AttentionMap::kind);
  return record;
}

// The word of `text` that each token of each of its parts belongs to; a space belongs to the word after it, and -1 says
// that there is none. One pass over the text.
std::vector<std::vector<std::int32_t>> SourceWords(std::string_view text, std::span<const TextPart> parts) {
  std::vector<std::vector<std::int32_t>> words(parts.size());
  const std::int32_t all = CountWords(text);
  std::int32_t begun = 0;   // words that begin before `counted`
  std::size_t counted = 0;  // bytes
  bool inside = false;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto offset = static_cast<std::size_t>(parts[part].text.data() - text.data());
    for (const TextSpan& span : parts[part].spans) {
      for (const std::size_t end = offset + static_cast<std::size_t>(span.end); counted < end; ++counted) {
        const bool in_word = CountWords(text.substr(counted, 1)) == 1;
        begun += in_word && !inside;
        inside = in_word;
      }
      const auto length = static_cast<std::size_t>(span.end - span.begin);
      const bool space = CountWords(parts[part].text.substr(static_cast<std::size_t>(span.begin), length)) == 0;
      const std::int32_t word = space ? begun : begun - 1;
      words[part].push_back(word < all ? word : -1);
    }
  }
  return words;
}

// The words of the decoded text that the tokens write; -1 for those that write nothing.
std::vector<std::int32_t> TargetWords(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens) {
  std::vector<std::int32_t> words;
  std::string before;
  for (std::size_t i = 1; i <= tokens.size(); ++i) {
    std::string text = tokenizer.Decode(tokens.first(i));
    words.push_back(text == before ? -1 : CountWords(text) - 1);
    before = std::move(text);
  }
  return words;
}

// A text, or a part of one that is too long.
struct Source {
  std::size_t text = 0;
  std::vector<std::int32_t> ids;    // with the end
  std::vector<std::int32_t> words;  // of each id but the end; only where words shall be aligned
};

void Append(Translation& translation, const EncoderDecoder& model, const Tokenizer& tokenizer, const Source& source,
            const Hypothesis& hypothesis, const TranslateOptions& options, bool keep_attention) {
  if (options.alignment || keep_attention) {
    AttentionRecord record = Attend(model, tokenizer, source.ids, hypothesis.ids);
    if (options.alignment) {
      const std::int32_t words_before = CountWords(translation.text);
      for (const WordPair& pair : AlignWords(record, {source.words, TargetWords(tokenizer, hypothesis.ids)}))
        translation.alignment.push_back({pair.source, pair.target + words_before});
    }
    if (keep_attention) translation.attention = std::move(record);
  }
  std::string words = tokenizer.Decode(hypothesis.ids);
  std::ranges::replace_if(
      words, [](char c) { return c >= '\t' && c <= '\r'; }, ' ');
  if (!translation.text.empty() && !words.empty()) translation.text += ' ';
  translation.text += words;
  translation.score += hypothesis.score;
  translation.tokens += static_cast<std::int64_t>(source.ids.size());
  translation.complete = translation.complete && hypothesis.ended;
}

}  // namespace

Translator Translator::Load(const std::string& folder, const LoadOptions& options) {
  std::unique_ptr<const EncoderDecoder> model =
      LoadEncoderDecoder(folder, {.compute = options.compute, .purpose = LoadFor::computing});
  Tokenizer tokenizer = Tokenizer::Load(folder);
  const EncoderDecoder::Limits& limits = model->limits();
  const auto same = [&](const char* what, std::int64_t of_tokenizer, std::int64_t of_model) {
    Check(of_tokenizer == of_model, "{}: {} is {} for the tokenizer and {} for the model: they are of different models",
          folder, what, of_tokenizer, of_model);
  };
  same("the source vocabulary's size", tokenizer.size(), limits.source_vocabulary);
  same("the target vocabulary's size", tokenizer.size(), limits.target_vocabulary);
  same("the end of a sentence", tokenizer.eos(), limits.end_id);
  same("the padding token", tokenizer.pad(), limits.pad_id);
  std::optional<Shortlist> shortlist;
  if (options.shortlist) {
    const std::string path = folder + "/" + kShortlistName;
    Check(std::filesystem::exists(path), "{}: there is no such file; `headlight shortlist` makes it", path);
    shortlist = LoadShortlist(path, tokenizer.hash(), limits.source_vocabulary, limits.target_vocabulary);
  }
  const JsonView generation = OpenModelFolder(folder).generation_config;
  const auto beam_size = static_cast<std::int32_t>(generation.Get("num_beams", 4).Integer(1, 1024));
  const double length_penalty = generation.Get("length_penalty", 1.0).Number();
  return Translator(std::make_shared<State>(
      State{std::move(model), std::move(tokenizer), std::move(shortlist), beam_size, length_penalty}));
}

const EncoderDecoder& Translator::model() const { return *state_->model; }
const Tokenizer& Translator::tokenizer() const { return state_->tokenizer; }

std::string Translator::Translate(std::string_view text) const {
  const std::string texts[] = {std::string(text)};
  return TranslateBatch(texts).front().front().text;
}

std::vector<std::vector<Translation>> Translator::TranslateBatch(std::span<const std::string> texts,
                                                                 const TranslateOptions& options) const {
  const DecodingOptions decoding{.beam_size = options.beam_size.value_or(state_->beam_size),
                                 .length_penalty = options.length_penalty.value_or(state_->length_penalty),
                                 .n_best = options.n_best,
                                 .max_length = options.max_length,
                                 .shortlist = state_->shortlist ? &*state_->shortlist : nullptr,
                                 .cancelled = options.cancelled};
  Decode(model(), {}, {}, decoding);  // refuses impossible options even where there is nothing to translate

  std::vector<Source> sources;
  std::vector<std::vector<std::int32_t>> ids;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (ValidUtf8(texts[i]) < texts[i].size()) CheckUtf8(texts[i], fmt::format("text {}", i));
    const std::vector<TextPart> parts = SplitText(tokenizer(), texts[i], state_->positions() - 1);
    const auto words = SourceWords(texts[i], options.alignment ? parts : std::vector<TextPart>());
    for (std::size_t part = 0; part < parts.size(); ++part) {
      ids.push_back(state_->WithEnd(parts[part].tokens));
      sources.push_back({i, ids.back(), options.alignment ? words[part] : std::vector<std::int32_t>()});
    }
  }
  const std::vector<std::vector<Hypothesis>> decoded = DecodeInBatches(model(), ids, decoding, options.batch_tokens);

  std::vector<std::vector<Translation>> results(texts.size());
  for (std::size_t begin = 0, end; begin < sources.size(); begin = end) {
    std::vector<Translation>& translations = results[sources[begin].text];
    for (end = begin + 1; end < sources.size() && sources[end].text == sources[begin].text; ++end) continue;
    std::size_t candidates = decoded[begin].size();
    for (std::size_t i = begin; i < end; ++i) candidates = std::min(candidates, decoded[i].size());
    for (std::size_t rank = 0; rank < candidates; ++rank) {
      Translation& translation = translations.emplace_back();
      translation.parts = static_cast<std::int32_t>(end - begin);
      const bool keep_attention = options.attention && rank == 0 && translation.parts == 1;
      for (std::size_t i = begin; i < end; ++i)
        Append(translation, model(), tokenizer(), sources[i], decoded[i][rank], options, keep_attention);
    }
  }
  for (std::vector<Translation>& translations : results)
    if (translations.empty()) translations.emplace_back();
  return results;
}

AttentionRecord Translator::Attention(std::string_view source, std::optional<std::string_view> target) const {
  const auto tokens_of = [&](std::string_view text, Side side, const char* name) {
    std::vector<std::int32_t> tokens = tokenizer().Encode(text, side);
    Check(!tokens.empty(), "the {} has no words", name);
    Check(static_cast<std::int64_t>(tokens.size()) < state_->positions(),
          "the {} has {} tokens, and the model reads at most {}", name, tokens.size(), state_->positions() - 1);
    return tokens;
  };
  CheckUtf8(source, "the source");
  const std::vector<std::int32_t> source_ids = state_->WithEnd(tokens_of(source, Side::source, "source"));
  if (target) {
    CheckUtf8(*target, "the target");
    return Attend(model(), tokenizer(), source_ids, tokens_of(*target, Side::target, "target"));
  }
  const DecodingOptions decoding{.beam_size = state_->beam_size,
                                 .length_penalty = state_->length_penalty,
                                 .shortlist = state_->shortlist ? &*state_->shortlist : nullptr};
  const Sequences sentence = {{0, static_cast<std::int32_t>(source_ids.size())}};
  return Attend(model(), tokenizer(), source_ids, Decode(model(), source_ids, sentence, decoding)[0][0].ids);
}

}  // namespace headlight
