#include "headlight/pipelines/text_generator.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/generate/generate.h"
#include "headlight/kinds/language_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/generation_settings.h"
#include "headlight/pipelines/growing_text.h"
#include "headlight/pipelines/stop_strings.h"
#include "headlight/pipelines/tokenizer_fit.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/text/utf8.h"

namespace headlight {

namespace {

// Where the first of the stop strings begins, or npos. The first `searched` bytes are known to hold none.
std::size_t FindStop(std::string_view text, const std::vector<std::string>& stop, std::size_t searched = 0) {
  std::size_t first = std::string_view::npos;
  for (const std::string& one : stop)
    first = std::min(first, text.find(one, searched - std::min(searched, one.size())));
  return first;
}

// How much of the text is certain: no incomplete character stands at its end, and nothing that a stop string may begin
// with.
std::size_t Certain(const GrowingText& growing, const std::vector<std::string>& stop) {
  constexpr std::string_view incomplete = "\xEF\xBF\xBD";
  const std::string_view text = growing.text();
  std::size_t certain = growing.run();
  while (certain > growing.stable() && text.substr(0, certain).ends_with(incomplete)) certain -= incomplete.size();
  for (const std::string& one : stop)
    for (std::size_t length = std::min(one.size() - 1, text.size()); length > 0; --length)
      if (text.ends_with(std::string_view(one).substr(0, length))) {
        certain = std::min(certain, text.size() - length);
        break;
      }
  return certain;
}

}  // namespace

struct TextGenerator::State {
  std::unique_ptr<const LanguageModel> model;
  PipelineTokenizer tokenizer;
  TextSettings defaults;
  std::int32_t first_id = -1;  // put before every text; -1: none
};

double TextScore::perplexity() const { return std::exp(-log_probability / static_cast<double>(scored)); }
double TextScore::bits_per_byte() const { return -log_probability / std::numbers::ln2 / static_cast<double>(bytes); }

TextGenerator TextGenerator::Load(const std::string& folder, const LoadOptions& options) {
  Check(!options.shortlist, "{}: shortlist is for a Translator: a language model has none", folder);
  auto model = LoadModel<LanguageModel>(
      folder,
      {.compute = options.compute, .purpose = options.draft ? LoadFor::computing_with_draft : LoadFor::computing});
  PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  const LanguageModel::Limits& limits = model->limits();
  CheckRows(folder, tokenizer.size(), limits.vocabulary);
  const ModelFolder files = OpenModelFolder(folder);
  std::vector<std::int32_t> first = ReadTokenIds(files.generation_config["bos_token_id"], limits.vocabulary);
  if (first.empty()) first = ReadTokenIds(files.config["bos_token_id"], limits.vocabulary);
  TextSettings defaults = ReadTextSettings(GenerationSettings(files), limits);
  return TextGenerator(std::make_shared<State>(
      State{std::move(model), std::move(tokenizer), std::move(defaults), first.empty() ? -1 : first.front()}));
}

const LanguageModel& TextGenerator::model() const { return *state_->model; }
const PipelineTokenizer& TextGenerator::tokenizer() const { return state_->tokenizer; }

std::vector<GeneratedText> TextGenerator::Generate(std::span<const std::string> prompts,
                                                   const GenerateOptions& options) const {
  GenerationOptions generation = state_->defaults.generation;
  ApplyChoices(options, generation.search);
  generation.seed = options.seed.value_or(0);
  CheckDraft(model(), generation.search);
  if (options.max_new_tokens) {  // fewer than the folder's fewest
    generation.max_new_tokens = *options.max_new_tokens;
    generation.min_new_tokens = std::min(generation.min_new_tokens, std::max(0, *options.max_new_tokens));
    generation.max_length = 0;
  }
  if (options.min_new_tokens) {
    generation.min_new_tokens = *options.min_new_tokens;
    generation.min_length = 0;
  }
  generation.batch_tokens = options.batch_tokens;
  generation.cancelled = options.cancelled;
  Check(generation.search.beam_size > 1 || !options.length_penalty, "`length_penalty` is for a `beam_size` above 1");
  // Samples are texts of their own, each with a random stream; with beams they are the hypotheses of one.
  const auto n_best = static_cast<std::size_t>(generation.search.n_best),
             samples = generation.search.sample ? n_best : 1;
  if (generation.search.sample) generation.search.n_best = 1;
  generation.first_stream = options.first_stream * samples;
  for (const std::string& stop : options.stop) Check(!stop.empty(), "a stop string must not be empty");
  if (options.stop.empty()) generation.search.stops = StopsAt(state_->defaults.stop, tokenizer());

  const std::int64_t positions = model().limits().positions;
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<GrowingText> texts;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (ValidUtf8(prompts[i]) < prompts[i].size()) CheckUtf8(prompts[i], fmt::format("prompt {}", i + 1));
    std::vector<std::int32_t> prompt = tokenizer().Encode(prompts[i]).ids;
    if (prompt.empty()) {
      Check(state_->first_id >= 0, "prompt {}: it has no tokens, and the model has no first one to begin with", i + 1);
      prompt.push_back(state_->first_id);
    }
    Check(static_cast<std::int64_t>(prompt.size()) <= positions,
          "prompt {}: it has {} tokens, and the model reads at most {}", i + 1, prompt.size(), positions);
    for (std::size_t text = 0; text < n_best; ++text) texts.emplace_back(tokenizer(), prompt);
    for (std::size_t sample = 0; sample < samples; ++sample) ids.push_back(prompt);
  }

  std::vector<std::size_t> told(texts.size());  // bytes reported of each text
  const auto tell = [&](std::size_t i, std::string_view text, std::size_t certain) {
    if (options.on_text && certain > told[i]) options.on_text(i, text.substr(told[i], certain - told[i]));
    told[i] = std::max(told[i], certain);
  };
  if (generation.search.beam_size == 1 && (options.on_text || !options.stop.empty()))
    generation.on_token = [&](std::size_t i, std::int32_t id) {
      texts[i].Add({&id, 1});
      const std::string_view text = texts[i].text();
      if (FindStop(text, options.stop, texts[i].stable()) != std::string::npos) return false;
      tell(i, text, Certain(texts[i], options.stop));
      return true;
    };
  const std::vector<std::vector<Hypothesis>> found = headlight::Generate(model(), ids, generation);

  std::vector<GeneratedText> results;
  for (std::size_t prompt = 0; prompt < ids.size(); ++prompt)
    for (std::size_t rank = 0; rank < found[prompt].size(); ++rank) {
      const Hypothesis& hypothesis = found[prompt][rank];
      const std::size_t i = results.size();
      GrowingText& text = texts[prompt * (n_best / samples) + rank];
      if (!generation.on_token) text.Add(hypothesis.ids);
      // An end that is no special token is text, as in Transformers.
      if (hypothesis.end >= 0 && !tokenizer().IsSpecial(hypothesis.end)) text.Add({&hypothesis.end, 1});
      GeneratedText& result = results.emplace_back();
      result.text = text.text();
      result.prompt = prompt / samples;
      result.prompt_tokens = std::ssize(ids[prompt]);
      result.tokens = std::ssize(hypothesis.ids);
      const bool full = result.tokens < generation.max_new_tokens && result.prompt_tokens + result.tokens > positions;
      result.end = hypothesis.end >= 0 && hypothesis.ended ? TextEnd::end_token
                   : hypothesis.ended                      ? TextEnd::stop
                   : full                                  ? TextEnd::positions
                                                           : TextEnd::length;
      if (const std::size_t stop = FindStop(result.text, options.stop); stop != std::string::npos) {
        result.text.resize(stop);
        result.end = TextEnd::stop;
      }
      result.log_probability = hypothesis.log_probability;
      tell(i, result.text, result.text.size());
    }
  return results;
}

std::int32_t TextGenerator::n_best(const GenerateOptions& options) const {
  return options.n_best.value_or(state_->defaults.generation.search.n_best);
}

GeneratedText TextGenerator::Generate(std::string_view prompt, const GenerateOptions& options) const {
  const std::string prompts[] = {std::string(prompt)};
  return Generate(prompts, options).front();
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

std::vector<TextScore> TextGenerator::Score(std::span<const std::string> texts, std::int64_t batch_tokens,
                                            bool with_end) const {
  const std::int32_t end_id = model().limits().end_id;
  Check(!with_end || end_id >= 0, "the model has no token that ends a text");
  Check(batch_tokens >= 1, "a batch needs room for at least one token, not {}", batch_tokens);
  const auto positions = static_cast<std::size_t>(model().limits().positions);
  Check(positions >= 2, "a model that reads one token at once tells nothing of the next");
  struct ScoredWindow {
    std::size_t text, begin, scored, end;  // tokens [begin, end), of which those from `scored` on are reported
  };
  std::vector<TextScore> results(texts.size());
  std::vector<std::vector<std::int32_t>> ids(texts.size());
  std::vector<ScoredWindow> windows;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (ValidUtf8(texts[i]) < texts[i].size()) CheckUtf8(texts[i], fmt::format("text {}", i + 1));
    const Encoding encoding = tokenizer().Encode(texts[i]);
    ids[i] = encoding.ids;
    for (std::size_t token = 0; token < encoding.ids.size(); ++token)
      results[i].tokens.push_back({encoding.ids[token], encoding.spans[token], {}});
    if (ids[i].empty()) continue;
    if (with_end) {
      const auto size = static_cast<std::int32_t>(texts[i].size());
      ids[i].push_back(end_id);
      results[i].tokens.push_back({end_id, {size, size}, {}});
    }
    if (state_->first_id >= 0 && ids[i].front() != state_->first_id) ids[i].insert(ids[i].begin(), state_->first_id);
    for (std::size_t begin = 0, scored = 1; scored < ids[i].size(); begin += positions / 2) {
      const std::size_t end = std::min(begin + positions, ids[i].size());
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
    std::size_t at = 0;
    for (std::size_t index = first; index < last; ++index) {
      const ScoredWindow& window = windows[index];
      TextScore& result = results[window.text];
      const std::size_t added = ids[window.text].size() - result.tokens.size();
      for (std::size_t token = window.scored; token < window.end; ++token) {
        TokenScore& score = result.tokens[token - added];
        score.log_probability = given[at + token - window.begin];
        result.log_probability += *score.log_probability;
        ++result.scored;
      }
      at += window.end - window.begin;
    }
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<TokenScore>& tokens = results[i].tokens;
    results[i].bytes = std::ssize(texts[i]) + (with_end && !tokens.empty() ? 1 : 0);
    if (!tokens.empty() && !tokens.front().log_probability)
      results[i].bytes -= tokens.front().span.end - tokens.front().span.begin;
  }
  return results;
}

}  // namespace headlight
