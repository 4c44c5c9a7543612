#include "headlight/pipelines/engine.h"

#include <algorithm>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <utility>

#include "headlight/kinds/encoder_decoder.h"
#include "headlight/kinds/language_model.h"
#include "headlight/pipelines/engine_queue.h"
#include "headlight/pipelines/engine_worker.h"
#include "headlight/pipelines/generation_call.h"
#include "headlight/pipelines/translation_call.h"

namespace headlight {

namespace {

constexpr std::int64_t kCachedTokens = 16384;

struct TextJob final : EngineJobOf<GeneratedText> {
  TextJob(EngineQueue& queue, const TextGenerator& generator, GenerateOptions options)
      : call(generator, Buffered(queue, std::move(options))) {}
  void Finish() override { results = std::move(call.Results(found).front()); }

  // Replaces on_text by a function that collects the pieces for the thread that calls Ticket::Wait.
  GenerateOptions Buffered(EngineQueue& queue, GenerateOptions options) {
    if (options.on_text)
      options.on_text = [this, &queue](std::size_t text, std::string_view piece) {
        const std::lock_guard lock(queue.mutex);
        if (error == nullptr) pieces.emplace_back(text, piece);
        changed.notify_all();
      };
    return options;
  }

  GenerationCall call;
};

struct TranslationJob final : EngineJobOf<Translation> {
  TranslationJob(const Translator& translator, TranslateOptions options) : call(translator, std::move(options)) {}
  void Finish() override {
    for (std::size_t i = 0; i < found.size(); ++i) AddGiven(found[i], prompts[i]);
    results = std::move(call.Results(found).front());
  }

  TranslationCall call;
  std::vector<std::vector<std::int32_t>> prompts;  // prompt of each sequence of the job
};

std::int64_t BytesOf(std::initializer_list<const std::vector<std::string>*> lists) {
  std::size_t bytes = 0;
  for (const std::vector<std::string>* const list : lists)
    for (const std::string& one : *list) bytes += one.size() + sizeof(std::string);
  return static_cast<std::int64_t>(bytes);
}

std::int64_t BytesOf(const std::vector<std::int32_t>& ids) {
  return std::ssize(ids) * static_cast<std::int64_t>(sizeof(std::int32_t));
}

std::int64_t BytesOf(const DecodingRequest& request) {
  return static_cast<std::int64_t>(sizeof(DecodingRequest)) + BytesOf(request.prompt) + BytesOf(request.unguided) +
         BytesOf(request.source);
}

// Returns the largest number of tokens that a sequence may have in the cache.
std::int64_t MostCached(const DecodingRequest& request, std::int64_t positions) {
  const auto of = [&](std::int64_t prompt) {
    const std::int64_t longest = std::min(prompt + request.max_new_tokens - 1, positions);
    return prompt + request.options->beam_size * (longest - prompt);
  };
  const auto prompt = std::ssize(request.prompt);
  if (request.options->guidance == 1) return of(prompt);
  return of(prompt) + of(request.unguided.empty() ? prompt : std::ssize(request.unguided));
}

}  // namespace

struct Engine::State {
  State(std::optional<TextGenerator> with_generator, std::optional<Translator> with_translator,
        const EngineOptions& options)
      : generator(std::move(with_generator)),
        translator(std::move(with_translator)),
        queue(std::make_shared<EngineQueue>(options)),
        positions(generator ? generator->model().limits().positions : translator->model().limits().positions),
        cached_tokens(options.cached_tokens != 0 ? options.cached_tokens : std::max(kCachedTokens, positions)),
        worker(
            *queue, [this] { return MakeBatch(); }, translator ? &translator->model() : nullptr, cached_tokens) {}
  State(const State&) = delete;

  std::unique_ptr<DecodingBatch> MakeBatch() const {
    const DecodingBatchOptions options{.cached_tokens = cached_tokens};
    return generator ? std::make_unique<DecodingBatch>(generator->model(), options)
                     : std::make_unique<DecodingBatch>(translator->model(), options,
                                                       TranslationCall::ShortlistOf(*translator));
  }

  // Reserves `bytes` of queue space, creates a job for the request, and queues it.
  template <typename Job, typename Request>
  std::shared_ptr<Job> Enter(const Request& request, std::int64_t bytes, const auto& make) {
    const auto begin = EngineClock::now();
    Check(!request.timeout || request.timeout->count() > 0, "`timeout` must be above 0 ms, not {}",
          request.timeout ? request.timeout->count() : 0);
    Check(!request.options.cancelled, "`cancelled` is for calls; a request of an Engine ends by its ticket's Cancel");
    EngineReservation reservation(*queue, bytes);
    const std::shared_ptr<Job> job = make();
    if (request.timeout) job->deadline = begin + std::min<std::chrono::milliseconds>(*request.timeout, kLongestTimeout);
    for (const DecodingRequest& sequence : job->sequences) {
      job->bytes += BytesOf(sequence);
      const std::int64_t most = MostCached(sequence, positions);
      Check(most <= cached_tokens,
            "a request that may have {} tokens in the cache (a prompt of {}, `max_new_tokens` {}, `beam_size` {}) does "
            "not fit into `cached_tokens`, {}",
            most, sequence.prompt.size(), sequence.max_new_tokens, sequence.options->beam_size, cached_tokens);
      Check(std::ssize(sequence.source) <= cached_tokens, "a source of {} tokens does not fit into `cached_tokens`, {}",
            sequence.source.size(), cached_tokens);
    }
    job->found.resize(job->sequences.size());
    reservation.Enter(job);
    return job;
  }

  const std::optional<TextGenerator> generator;  // either `generator` or `translator` is set
  const std::optional<Translator> translator;
  const std::shared_ptr<EngineQueue> queue;  // shared with tickets
  const std::int64_t positions, cached_tokens;
  EngineWorker worker;
};

Engine::Engine(TextGenerator generator, const EngineOptions& options)
    : state_(std::make_unique<State>(std::move(generator), std::nullopt, options)) {}
Engine::Engine(Translator translator, const EngineOptions& options)
    : state_(std::make_unique<State>(std::nullopt, std::move(translator), options)) {}
Engine::~Engine() = default;

Ticket<GeneratedText> Engine::Submit(TextRequest request) {
  Check(state_->generator.has_value(), "this engine translates texts, and does not continue prompts");
  const std::int64_t stops = BytesOf({&request.options.stop}),
                     bytes = stops + std::ssize(request.prompt) + BytesOf(request.ids);
  auto on_text = request.options.on_text;
  const auto job = state_->Enter<TextJob>(request, bytes, [&] {
    auto made = std::make_shared<TextJob>(*state_->queue, *state_->generator, std::move(request.options));
    made->sequences =
        request.ids.empty() ? made->call.Requests({&request.prompt, 1}) : made->call.Requests({std::move(request.ids)});
    made->bytes = stops;
    return made;
  });
  return {state_->queue, job, std::move(on_text)};
}

Ticket<Translation> Engine::Submit(TranslationRequest request) {
  Check(state_->translator.has_value(), "this engine continues prompts, and does not translate texts");
  const std::int64_t prefixes = std::ssize(request.options.prefix) + BytesOf({&request.options.target_prefix}),
                     bytes = prefixes + std::ssize(request.text) + BytesOf(request.ids);
  const auto job = state_->Enter<TranslationJob>(request, bytes, [&] {
    auto made = std::make_shared<TranslationJob>(*state_->translator, std::move(request.options));
    if (request.ids.empty())
      made->call.Read({&request.text, 1});
    else
      made->call.Read(std::move(request.ids));
    made->sequences = RequestsFor(state_->translator->model(), made->call.ids(), made->call.decoding());
    for (const DecodingRequest& sequence : made->sequences) made->prompts.push_back(sequence.prompt);
    made->bytes = prefixes;
    return made;
  });
  return {state_->queue, job, {}};
}

EngineStatistics Engine::Statistics() const {
  const EngineQueue& queue = *state_->queue;
  const std::lock_guard lock(state_->queue->mutex);
  return {.running = std::ranges::count_if(queue.running, [](const auto& job) { return !job->ended; }),
          .waiting = std::ssize(queue.waiting),
          .generated_tokens = queue.generated_tokens,
          .cached_tokens = queue.cached_tokens};
}

}  // namespace headlight
