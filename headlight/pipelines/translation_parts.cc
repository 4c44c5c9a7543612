#include "headlight/pipelines/translation_parts.h"

#include <algorithm>
#include <string>

#include "headlight/base/error.h"
#include "headlight/pipelines/token_words.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight {
namespace {

// Returns the indices of the special tokens of a source: its end token and the special tokens around the text.
std::vector<int> SpecialTokens(std::span<const std::int32_t> ids, const Tokenizer& tokenizer, std::int32_t end) {
  std::vector<int> special;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == end ||
        std::ranges::count(tokenizer.before(), ids[i]) + std::ranges::count(tokenizer.after(), ids[i]) > 0)
      special.push_back(static_cast<int>(i));
  return special;
}

// Appends the score of each token. `words` maps each id of the hypothesis to the index of its word.
void AppendScores(Translation& translation, const EncoderDecoder& model, const Tokenizer& tokenizer,
                  const Hypothesis& hypothesis, std::span<const std::int32_t> words, std::int32_t words_before) {
  const std::size_t all = hypothesis.ids.size() + (hypothesis.end >= 0 ? 1 : 0);
  const std::size_t given = all - hypothesis.token_scores.size();
  for (std::size_t i = 0; i < all; ++i) {
    TranslatedToken& token = translation.token_scores.emplace_back();
    token.piece = tokenizer.Piece(i < words.size()      ? hypothesis.ids[i]
                                  : hypothesis.end >= 0 ? hypothesis.end
                                                        : model.limits().end_id);
    const auto word = std::find_if(words.begin() + static_cast<std::ptrdiff_t>(i), words.end(),
                                   [](std::int32_t its_word) { return its_word >= 0; });
    if (word != words.end()) token.word = *word + words_before;
    if (i >= given) token.log_probability = hypothesis.token_scores[i - given];
  }
}

}  // namespace

AttentionRecord Attend(const EncoderDecoder& model, const Tokenizer& tokenizer, std::span<const std::int32_t> source,
                       std::int32_t start, std::span<const std::int32_t> target) {
  const EncoderDecoder::Limits& limits = model.limits();
  std::vector<std::int32_t> inputs = {start};
  inputs.insert(inputs.end(), target.begin(), target.end());
  inputs.resize(std::min(inputs.size(), static_cast<std::size_t>(limits.positions)));

  AttentionRecord record;
  record.source_tokens = tokenizer.Labels(source);
  record.target_tokens = tokenizer.Labels(inputs);
  record.source_special = SpecialTokens(source, tokenizer, limits.end_id);
  record.target_special = SpecialTokens(inputs, tokenizer, limits.end_id);
  if (record.target_special.empty() || record.target_special.front() != 0)
    record.target_special.insert(record.target_special.begin(), 0);  // the start token
  // This is the paper's name for the start token. MarianMT and T5 use <pad>, and BART uses </s>.
  if (start == limits.start_id) record.target_tokens.front() = "<s>";

  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) { record.maps.push_back(MapOf(seen)); };
  const Sequences sources = {{0, static_cast<std::int32_t>(source.size())}};
  const Sequences targets = {{0, static_cast<std::int32_t>(inputs.size())}};
  model.Decode(context, inputs, targets, {model.Encode(context, source, sources), sources});
  std::ranges::stable_sort(record.maps, {}, &AttentionMap::kind);
  return record;
}

void AppendPart(Translation& translation, const EncoderDecoder& model, const Tokenizer& tokenizer,
                const SourcePart& source, std::int32_t start, const Hypothesis& hypothesis,
                const TranslateOptions& options, bool keep_attention) {
  if (keep_attention) translation.attention = Attend(model, tokenizer, source.ids, start, hypothesis.ids);
  if (options.alignment || options.token_scores) {
    const std::int32_t words_before = CountWords(translation.text);
    const std::vector<std::int32_t> words = TargetWords(tokenizer, hypothesis.ids);
    if (options.alignment)
      for (const WordPair& pair : AlignWords(hypothesis.attention, {source.words, words}))
        translation.alignment.push_back({pair.source, pair.target + words_before});
    if (options.token_scores) AppendScores(translation, model, tokenizer, hypothesis, words, words_before);
  }
  std::vector<std::int32_t> ids = hypothesis.ids;
  // A start or end token that is not special is part of the text, as in Transformers. MarianMT's tokens are always
  // special.
  const bool knows_special = dynamic_cast<const PipelineTokenizer*>(&tokenizer) != nullptr;
  if (knows_special || start != model.limits().start_id) ids.insert(ids.begin(), start);
  if (hypothesis.end >= 0 && (knows_special || hypothesis.end != model.limits().end_id)) ids.push_back(hypothesis.end);
  const std::string words = tokenizer.Decode(ids);
  if (!translation.text.empty() && !words.empty()) translation.text += ' ';
  translation.text += words;
  translation.score += hypothesis.score;
  translation.tokens += static_cast<std::int64_t>(source.ids.size());
  translation.complete = translation.complete && hypothesis.ended;
}

}  // namespace headlight
