#include "headlight/pipelines/text_generator.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/storage.h"
#include "headlight/generate/generate.h"
#include "headlight/kinds/language_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/generation_settings.h"
#include "headlight/pipelines/stop_strings.h"
#include "headlight/pipelines/text_generator_state.h"
#include "headlight/pipelines/tokenizer_fit.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/utf8.h"

namespace headlight {

double TextScore::perplexity() const { return std::exp(-log_probability / static_cast<double>(tokens)); }
double TextScore::kl_divergence() const { return divergence / static_cast<double>(tokens); }
double TextScore::bits_per_byte() const { return -log_probability / std::numbers::ln2 / static_cast<double>(bytes); }

TextGenerator TextGenerator::Load(const std::string& folder, const LoadOptions& options) {
  Check(!options.shortlist, "{}: shortlist is for a Translator: a language model has none", folder);
  const ModelFolder files = OpenModelFolder(folder);
  FamilyOf(files, LanguageModel::kKind, nullptr);
  PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  ReleaseUnusedStorage();  // frees memory used for reading, so that it is available for the weights
  auto model = LoadModel<LanguageModel>(
      files,
      {.compute = options.compute, .purpose = options.draft ? LoadFor::computing_with_draft : LoadFor::computing});
  const LanguageModel::Limits& limits = model->limits();
  CheckRows(folder, tokenizer.size(), limits.vocabulary);
  std::vector<std::int32_t> first = ReadTokenIds(files.generation_config["bos_token_id"], limits.vocabulary);
  if (first.empty()) first = ReadTokenIds(files.config["bos_token_id"], limits.vocabulary);
  TextSettings defaults = ReadTextSettings(GenerationSettings(files), limits);
  return TextGenerator(std::make_shared<TextGeneratorState>(TextGeneratorState{
      std::move(model), std::move(tokenizer), std::move(defaults), first.empty() ? -1 : first.front()}));
}

const LanguageModel& TextGenerator::model() const { return *state_->model; }
const PipelineTokenizer& TextGenerator::tokenizer() const { return state_->tokenizer; }

std::int32_t TextGenerator::n_best(const GenerateOptions& options) const {
  return options.n_best.value_or(state_->defaults.generation.search.n_best);
}

GeneratedText TextGenerator::Generate(std::string_view prompt, const GenerateOptions& options) const {
  const std::string prompts[] = {std::string(prompt)};
  return Generate(prompts, options).front().front();
}

AttentionRecord TextGenerator::Attention(std::string_view text) const {
  CheckUtf8(text, "the text");
  const std::vector<std::int32_t> ids = tokenizer().Encode(text).ids;
  Check(!ids.empty(), "the text has no tokens");
  const auto length = static_cast<std::int32_t>(ids.size());
  Check(length <= model().limits().positions, "the text has {} tokens, and the model reads at most {}", length,
        model().limits().positions);
  AttentionRecord record;
  record.target_tokens = tokenizer().Labels(ids);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (tokenizer().IsSpecial(ids[i])) record.target_special.push_back(static_cast<int>(i));
  Context context;
  context.hooks.attention = [&](const LayerAttention& seen) { record.maps.push_back(MapOf(seen)); };
  model().Decode(context, ids, {{0, length}});
  return record;
}

std::vector<TextScore> TextGenerator::Score(std::span<const std::string> texts, const ScoreOptions& options) const {
  const std::int64_t batch_tokens = options.batch_tokens;
  const bool with_end = options.with_end;
  const std::int32_t end_id = model().limits().end_id, first_id = state_->first_id;
  Check(!with_end || end_id >= 0, "the model has no token that ends a text");
  Check(batch_tokens >= 1, "a batch must have at least one token, not {}", batch_tokens);
  std::int64_t positions = model().limits().positions;
  if (options.baseline != nullptr) positions = std::min(positions, options.baseline->limits().positions);
  const std::int64_t most = options.max_input_length.value_or(positions);
  Check(positions >= 2, "a model with a single position cannot score the next token");
  Check(most >= 2 && most <= positions, "`max_input_length` must be from 2 to the model's positions, {}, not {}",
        positions, most);
  const std::int64_t step = options.window_step.value_or(most / 2);
  Check(step >= 1 && step < most, "`window_step` must be from 1 to {}, which is less than the window, not {}", most - 1,
        step);
  const bool with_start = options.start_token.value_or(first_id >= 0);
  Check(!with_start || first_id >= 0, "`start_token`: the model has no first token (bos_token_id)");
  const auto window_size = static_cast<std::size_t>(most), stride = static_cast<std::size_t>(step);
  struct ScoredWindow {
    std::size_t text, begin, scored, end;  // tokens [begin, end); the scores from `scored` on are reported
  };
  std::vector<TextScore> results(texts.size());
  std::vector<std::vector<std::int32_t>> ids(texts.size());
  std::vector<ScoredWindow> windows;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (ValidUtf8(texts[i]) < texts[i].size()) CheckUtf8(texts[i], fmt::format("text {}", i + 1));
    const Encoding encoding = tokenizer().Encode(texts[i]);
    ids[i] = encoding.ids;
    for (std::size_t token = 0; token < encoding.ids.size(); ++token)
      results[i].token_scores.push_back({encoding.ids[token], encoding.spans[token], {}});
    if (ids[i].empty()) continue;
    if (with_end) {
      const auto size = static_cast<std::int32_t>(texts[i].size());
      ids[i].push_back(end_id);
      results[i].token_scores.push_back({end_id, {size, size}, {}});
    }
    if (with_start && ids[i].front() != first_id) ids[i].insert(ids[i].begin(), first_id);
    for (std::size_t begin = 0, scored = 1; scored < ids[i].size(); begin += stride) {
      const std::size_t end = std::min(begin + window_size, ids[i].size());
      windows.push_back({i, begin, scored, end});
      scored = std::max(scored, end);
    }
  }
  for (std::size_t first = 0, last; first < windows.size(); first = last) {
    std::vector<std::int32_t> packed, lengths;
    for (last = first; last < windows.size(); ++last) {
      const ScoredWindow& window = windows[last];
      if (last > first && packed.size() + window.end - window.begin > static_cast<std::size_t>(batch_tokens)) break;
      packed.insert(packed.end(), ids[window.text].begin() + static_cast<std::ptrdiff_t>(window.begin),
                    ids[window.text].begin() + static_cast<std::ptrdiff_t>(window.end));
      lengths.push_back(static_cast<std::int32_t>(window.end - window.begin));
    }
    const std::vector<double> given = TokenLogProbabilities(model(), packed, PackedSequences(lengths));
    std::vector<double> divergences;
    if (options.baseline != nullptr)
      divergences = TokenDivergences(*options.baseline, model(), packed, PackedSequences(lengths));
    std::size_t at = 0;
    for (std::size_t index = first; index < last; ++index) {
      const ScoredWindow& window = windows[index];
      TextScore& result = results[window.text];
      const std::size_t added = ids[window.text].size() - result.token_scores.size();
      for (std::size_t token = window.scored; token < window.end; ++token) {
        TokenScore& score = result.token_scores[token - added];
        score.log_probability = given[at + token - window.begin];
        result.log_probability += *score.log_probability;
        if (!divergences.empty()) result.divergence += divergences[at + token - window.begin];
        ++result.tokens;
      }
      at += window.end - window.begin;
    }
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<TokenScore>& tokens = results[i].token_scores;
    results[i].bytes = std::ssize(texts[i]) + (with_end && !tokens.empty() ? 1 : 0);
    if (!tokens.empty() && !tokens.front().log_probability)
      results[i].bytes -= tokens.front().span.end - tokens.front().span.begin;
  }
  return results;
}

}  // namespace headlight
