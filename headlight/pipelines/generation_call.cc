#include "headlight/pipelines/generation_call.h"

#include <algorithm>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/pipelines/generation_settings.h"
#include "headlight/pipelines/stop_strings.h"
#include "headlight/pipelines/text_generator_state.h"
#include "headlight/text/utf8.h"

namespace headlight {
namespace {

// Returns the index of the first stop string, or npos. The first `searched` bytes must not contain a stop string.
std::size_t FindStop(std::string_view text, const std::vector<std::string>& stop, std::size_t searched = 0) {
  std::size_t first = std::string_view::npos;
  for (const std::string& one : stop)
    first = std::min(first, text.find(one, searched - std::min(searched, one.size())));
  return first;
}

// Returns the number of bytes that are final. An incomplete character and a possible beginning of a stop string at the
// end of the text are not final.
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

GenerationCall::GenerationCall(TextGenerator generator, GenerateOptions options)
    : generator_(std::move(generator)),
      options_(std::move(options)),
      generation_(generator_.state_->defaults.generation) {
  ApplyChoices(options_, generation_.search);
  generation_.seed = options_.seed.value_or(kDefaultSeed);
  CheckDraft(generator_.model(), generation_.search);
  if (options_.max_new_tokens) {  // may be below the folder's minimum
    generation_.max_new_tokens = *options_.max_new_tokens;
    generation_.min_new_tokens = std::min(generation_.min_new_tokens, std::max(0, *options_.max_new_tokens));
    generation_.max_length = 0;
  }
  if (options_.min_new_tokens) {
    generation_.min_new_tokens = *options_.min_new_tokens;
    generation_.min_length = 0;
  }
  Check(generation_.search.beam_size > 1 || !options_.length_penalty, "`length_penalty` is for a `beam_size` above 1");
  // When sampling, each sample is a separate text with a separate random stream. In beam search, the texts are
  // hypotheses of one search.
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

// Adds a token to a text. Returns false if the text has a stop string.
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
      // An end token that is not special is part of the text, as in Transformers.
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

}  // namespace headlight
