#include "headlight/pipelines/text_generator.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/kinds/language_model.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/generation_call.h"
#include "headlight/pipelines/generation_settings.h"
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

GenerationCall::GenerationCall(TextGenerator generator, GenerateOptions options)
    : generator_(std::move(generator)),
      options_(std::move(options)),
      generation_(generator_.state_->defaults.generation) {
  ApplyChoices(options_, generation_.search);
  generation_.seed = options_.seed.value_or(0);
  CheckDraft(generator_.model(), generation_.search);
  if (options_.max_new_tokens) {  // fewer than the folder's fewest
    generation_.max_new_tokens = *options_.max_new_tokens;
    generation_.min_new_tokens = std::min(generation_.min_new_tokens, std::max(0, *options_.max_new_tokens));
    generation_.max_length = 0;
  }
  if (options_.min_new_tokens) {
    generation_.min_new_tokens = *options_.min_new_tokens;
    generation_.min_length = 0;
  }
  Check(generation_.search.beam_size > 1 || !options_.length_penalty, "`length_penalty` is for a `beam_size` above 1");
  // Samples are texts of their own, each with a random stream; with beams they are the hypotheses of one.
  n_best_ = static_cast<std::size_t>(generation_.search.n_best);
  samples_ = generation_.search.sample ? n_best_ : 1;
  if (generation_.search.sample) generation_.search.n_best = 1;
  generation_.first_stream = options_.first_stream * samples_;
  for (const std::string& stop : options_.stop) Check(!stop.empty(), "a stop string must not be empty");
  if (options_.stop.empty())
    generation_.search.stops = StopsAt(generator_.state_->defaults.stop, generator_.tokenizer());
  if (generation_.search.beam_size == 1 && (options_.on_text || !options_.stop.empty()))
    generation_.on_token = [this](std::size_t text, std::int32_t id) { return Add(text, id); };
}

std::vector<DecodingRequest> GenerationCall::Requests(std::span<const std::string> prompts) {
  std::vector<std::vector<std::int32_t>> ids;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (ValidUtf8(prompts[i]) < prompts[i].size()) CheckUtf8(prompts[i], fmt::format("prompt {}", i + 1));
    ids.push_back(generator_.tokenizer().Encode(prompts[i]).ids);
    if (!ids.back().empty()) continue;
    const std::int32_t first = generator_.state_->first_id;
    Check(first >= 0, "prompt {}: it has no tokens, and the model has no first one to begin with", i + 1);
    ids.back().push_back(first);
  }
  return Requests(std::move(ids));
}

std::vector<DecodingRequest> GenerationCall::Requests(std::vector<std::vector<std::int32_t>> prompts) {
  const auto [vocabulary, positions] =
      std::pair(generator_.model().limits().vocabulary, generator_.model().limits().positions);
  std::vector<std::vector<std::int32_t>> ids;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Check(std::ssize(prompts[i]) <= positions, "prompt {}: it has {} tokens, and the model reads at most {}", i + 1,
          prompts[i].size(), positions);
    for (const std::int32_t id : prompts[i])
      Check(id >= 0 && id < vocabulary, "prompt {}: the token {} is outside the vocabulary of {}", i + 1, id,
            vocabulary);
    prompt_tokens_.push_back(std::ssize(prompts[i]));
    for (std::size_t text = 0; text < n_best_; ++text) texts_.emplace_back(generator_.tokenizer(), prompts[i]);
    for (std::size_t sample = 0; sample < samples_; ++sample) ids.push_back(prompts[i]);
  }
  told_.resize(texts_.size());
  return RequestsFor(generator_.model(), std::move(ids), generation_);
}

void GenerationCall::Tell(std::size_t text, std::string_view written, std::size_t certain) {
  std::size_t& told = told_[text];
  if (options_.on_text && certain > told) options_.on_text(text, written.substr(told, certain - told));
  told = std::max(told, certain);
}

// Returns whether the text goes on.
bool GenerationCall::Add(std::size_t text, std::int32_t id) {
  texts_[text].Add({&id, 1});
  const std::string_view written = texts_[text].text();
  if (FindStop(written, options_.stop, texts_[text].stable()) != std::string::npos) return false;
  Tell(text, written, Certain(texts_[text], options_.stop));
  return true;
}

std::vector<std::vector<GeneratedText>> GenerationCall::Results(const std::vector<std::vector<Hypothesis>>& found) {
  const PipelineTokenizer& tokenizer = generator_.tokenizer();
  std::vector<std::vector<GeneratedText>> results(prompt_tokens_.size());
  for (std::size_t request = 0; request < found.size(); ++request)
    for (std::size_t rank = 0; rank < found[request].size(); ++rank) {
      const Hypothesis& hypothesis = found[request][rank];
      const std::size_t i = request * (n_best_ / samples_) + rank, prompt = request / samples_;
      GrowingText& text = texts_[i];
      if (!generation_.on_token) text.Add(hypothesis.ids);
      // An end that is no special token is text, as in Transformers.
      if (hypothesis.end >= 0 && !tokenizer.IsSpecial(hypothesis.end)) text.Add({&hypothesis.end, 1});
      GeneratedText& result = results[prompt].emplace_back();
      result.text = text.text();
      result.prompt_tokens = prompt_tokens_[prompt];
      result.tokens = std::ssize(hypothesis.ids);
      const bool full = result.tokens < generation_.max_new_tokens &&
                        result.prompt_tokens + result.tokens > generator_.model().limits().positions;
      result.finish_reason = hypothesis.end >= 0 && hypothesis.ended ? FinishReason::end
                             : hypothesis.ended                      ? FinishReason::stop
                             : full                                  ? FinishReason::positions
                                                                     : FinishReason::length;
      if (const std::size_t stop = FindStop(result.text, options_.stop); stop != std::string::npos) {
        result.text.resize(stop);
        result.finish_reason = FinishReason::stop;
      }
      result.log_probability = hypothesis.log_probability;
      Tell(i, result.text, result.text.size());
    }
  return results;
}

std::vector<std::vector<GeneratedText>> TextGenerator::Generate(std::span<const std::string> prompts,
                                                                const GenerateOptions& options) const {
  GenerationCall call(*this, options);
  return call.Results(headlight::Generate(model(), call.Requests(prompts), options.batch_tokens, options.cancelled));
}

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
