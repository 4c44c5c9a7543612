#include "headlight/pipelines/engine.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "headlight/base/blocked_signals.h"
#include "headlight/base/sequences.h"
#include "headlight/generate/decoding_batch.h"
#include "headlight/kinds/encoder_decoder.h"
#include "headlight/kinds/language_model.h"
#include "headlight/pipelines/generation_call.h"
#include "headlight/pipelines/translation_call.h"

namespace headlight {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kCachedTokens = 16384;
constexpr std::int64_t kSourceTokens = 512;  // that are encoded between two passes, so that these are not held up
constexpr auto kLongestTimeout = std::chrono::hours(24 * 365);

}  // namespace

// A request. Its ticket and the worker share it; the queue's mutex guards what changes.
struct EngineJob {
  EngineJob() = default;
  EngineJob(const EngineJob&) = delete;
  virtual ~EngineJob() = default;
  // What is left to do for the results, on the waiter's thread.
  virtual void Finish() = 0;

  std::int64_t bytes = 0;  // while it waits
  std::optional<Clock::time_point> deadline = {};
  std::condition_variable changed;
  bool ended = false, taken = false;                         // whether Wait has been called
  std::exception_ptr error = nullptr;                        // of a request that has ended without results
  std::deque<std::pair<std::size_t, std::string>> pieces{};  // of texts, not yet given to on_text

  // The worker's, until the request has ended.
  std::vector<DecodingRequest> sequences{};
  std::size_t next = 0, decoded = 0;             // the next sequence to join the batch; how many have left it
  std::vector<std::vector<Hypothesis>> found{};  // of each sequence
};

struct EngineQueue {
  explicit EngineQueue(const EngineOptions& given) : options(given) {}

  // With the mutex locked.
  void End(EngineJob& job, std::exception_ptr error) {
    if (job.ended) return;
    job.ended = true;
    job.error = std::move(error);
    if (job.error != nullptr) job.pieces.clear();
    const auto place = std::ranges::find(waiting, &job, [](const auto& one) { return one.get(); });
    if (place != waiting.end()) {
      waiting_bytes -= job.bytes;
      waiting.erase(place);  // the caller has another reference
    }
    job.changed.notify_all();
  }

  // Throws unless so many more bytes fit. With the mutex locked.
  void CheckRoom(std::int64_t bytes) const {
    if (bytes > options.max_waiting_bytes - waiting_bytes)
      throw QueueFull(fmt::format("`max_waiting_bytes`: {} bytes are waiting already", waiting_bytes));
  }

  const EngineOptions options;
  std::mutex mutex;
  std::condition_variable work;  // for the worker
  bool stopping = false;
  std::deque<std::shared_ptr<EngineJob>> waiting;
  std::vector<std::shared_ptr<EngineJob>>
      running;                     // those that have begun, also ended ones that the worker has not seen
  std::int64_t entering = 0;       // requests that Submit prepares
  std::int64_t waiting_bytes = 0;  // with those
  std::int64_t generated_tokens = 0, cached_tokens = 0;
};

namespace {

// Room in the queue for a request of so many bytes, from before Submit does any work until it is in the queue.
class Reservation {
 public:
  Reservation(EngineQueue& queue, std::int64_t bytes) : queue_(queue), bytes_(bytes) {
    CheckSize(bytes);
    const std::lock_guard lock(queue_.mutex);
    if (std::ssize(queue_.waiting) + queue_.entering >= queue_.options.max_waiting)
      throw QueueFull(fmt::format("`max_waiting`: {} requests are waiting already", queue_.options.max_waiting));
    queue_.CheckRoom(bytes);
    queue_.waiting_bytes += bytes;
    ++queue_.entering;
  }
  ~Reservation() {
    if (entered_) return;
    const std::lock_guard lock(queue_.mutex);
    queue_.waiting_bytes -= bytes_;
    --queue_.entering;
  }
  Reservation(const Reservation&) = delete;

  void Enter(const std::shared_ptr<EngineJob>& job) {
    CheckSize(job->bytes);
    const std::lock_guard lock(queue_.mutex);
    queue_.CheckRoom(job->bytes - bytes_);
    if (job->sequences.empty())  // a text without words
      job->ended = true;
    else
      queue_.waiting.push_back(job);
    queue_.waiting_bytes += (job->ended ? 0 : job->bytes) - bytes_;
    --queue_.entering;
    entered_ = true;
    queue_.work.notify_one();
  }

 private:
  void CheckSize(std::int64_t bytes) const {
    Check(bytes <= queue_.options.max_waiting_bytes, "a request of {} bytes is larger than `max_waiting_bytes`, {}",
          bytes, queue_.options.max_waiting_bytes);
  }

  EngineQueue& queue_;
  std::int64_t bytes_;
  bool entered_ = false;
};

struct TextJob final : EngineJob {
  using Result = GeneratedText;
  TextJob(EngineQueue& queue, const TextGenerator& generator, GenerateOptions options)
      : call(generator, Buffered(queue, std::move(options))) {}
  void Finish() override { results = std::move(call.Results(found).front()); }

  // on_text keeps its pieces for the waiter.
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
  std::vector<GeneratedText> results;
};

struct TranslationJob final : EngineJob {
  using Result = Translation;
  TranslationJob(const Translator& translator, TranslateOptions options) : call(translator, std::move(options)) {}
  void Finish() override {
    for (std::size_t i = 0; i < found.size(); ++i) AddGiven(found[i], prompts[i]);
    results = std::move(call.Results(found).front());
  }

  TranslationCall call;
  std::vector<std::vector<std::int32_t>> prompts;  // of each sequence
  std::vector<Translation> results;
};

template <typename Result>
struct JobOf {
  using Type = TextJob;
};
template <>
struct JobOf<Translation> {
  using Type = TranslationJob;
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

// The most tokens that a sequence may have in the cache.
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
        cached_tokens(options.cached_tokens != 0 ? options.cached_tokens : std::max(kCachedTokens, positions)) {
    Check(options.max_waiting >= 1, "`max_waiting` must be at least 1, not {}", options.max_waiting);
    Check(options.max_waiting_bytes >= 1, "`max_waiting_bytes` must be at least 1, not {}", options.max_waiting_bytes);
    Check(options.max_running >= 1, "`max_running` must be at least 1, not {}", options.max_running);
    Check(options.cached_tokens >= 0, "`cached_tokens` must be at least 0, not {}", options.cached_tokens);
    batch = MakeBatch();
    const BlockedSignals blocked;
    try {
      worker = std::thread([this] { Work(); });
    } catch (const std::system_error& error) {
      Fail("the engine's thread cannot be started: {}", error.what());
    }
  }

  ~State() {
    {
      const std::lock_guard lock(queue->mutex);
      queue->stopping = true;
      for (const auto& job : queue->running) queue->End(*job, std::make_exception_ptr(Cancelled()));
      while (!queue->waiting.empty()) {
        const std::shared_ptr<EngineJob> job = queue->waiting.front();
        queue->End(*job, std::make_exception_ptr(Cancelled()));
      }
      queue->work.notify_all();
    }
    worker.join();
  }
  State(const State&) = delete;

  std::unique_ptr<DecodingBatch> MakeBatch() const {
    const DecodingBatchOptions options{.cached_tokens = cached_tokens};
    return generator ? std::make_unique<DecodingBatch>(generator->model(), options)
                     : std::make_unique<DecodingBatch>(translator->model(), options,
                                                       TranslationCall::ShortlistOf(*translator));
  }

  // Queues the job that `make` makes of a request of so many bytes.
  template <typename Job, typename Request>
  std::shared_ptr<Job> Enter(const Request& request, std::int64_t bytes, const auto& make) {
    const auto begin = Clock::now();
    Check(!request.timeout || request.timeout->count() > 0, "`timeout` must be above 0 ms, not {}",
          request.timeout ? request.timeout->count() : 0);
    Check(!request.options.cancelled, "`cancelled` is for calls; a request of an Engine ends by its ticket's Cancel");
    Reservation reservation(*queue, bytes);
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

  // A sequence that joins the batch, or is in it.
  struct Place {
    std::shared_ptr<EngineJob> job;
    std::size_t sequence = 0;
    std::int64_t source_tokens = 0;
  };

  void Work() {
    for (bool goes_on = true; goes_on;) {
      try {
        goes_on = Round();
      } catch (...) {  // such as for lack of memory: the batch is lost, and with it all that runs
        const std::lock_guard lock(queue->mutex);
        for (const auto& job : queue->running) queue->End(*job, std::current_exception());
        queue->running.clear();
        queue->cached_tokens = 0;
        places.clear();
        encoded = {};
        batch.reset();
      }
    }
  }

  // Waits for work and runs one pass. Returns false if the engine stops.
  bool Round() {
    std::vector<std::int64_t> left;  // ids of the batch whose requests have ended
    std::vector<Place> joining;
    {
      std::unique_lock lock(queue->mutex);
      queue->work.wait(lock, [&] { return queue->stopping || !queue->waiting.empty() || !queue->running.empty(); });
      if (queue->stopping) return false;
      EndLate();
      for (const auto& [id, place] : places)
        if (place.job->ended) left.push_back(id);
      joining = Joining(std::ssize(places) - std::ssize(left));
      std::erase_if(queue->running, [](const auto& job) { return job->ended; });
    }
    if (batch == nullptr) batch = MakeBatch();
    for (const std::int64_t id : left) {
      batch->Remove(id);
      places.erase(id);
    }
    Join(joining);
    const std::int64_t before = batch->tokens();
    std::vector<Decoded> decoded = batch->Step();

    const std::lock_guard lock(queue->mutex);
    queue->generated_tokens += batch->tokens() - before;
    queue->cached_tokens = batch->cached_tokens();
    for (Decoded& text : decoded) {
      const Place place = std::move(places.extract(text.id).mapped());
      EngineJob& job = *place.job;
      if (job.ended) continue;
      job.found[place.sequence] = std::move(text.hypotheses);
      if (text.error != nullptr || ++job.decoded == job.sequences.size()) queue->End(job, text.error);
    }
    return true;
  }

  // Ends requests whose time is over. With the mutex locked.
  void EndLate() {
    const auto now = Clock::now();
    const auto end = [&](const std::shared_ptr<EngineJob>& job) {
      if (!job->deadline || now < *job->deadline) return false;
      queue->End(*job, std::make_exception_ptr(TimedOut()));
      return true;
    };
    for (const auto& job : queue->running) end(job);
    for (std::size_t i = 0; i < queue->waiting.size();)
      if (const std::shared_ptr<EngineJob> job = queue->waiting[i]; !end(job)) ++i;
  }

  // The next sequences for which the batch has room. With the mutex locked.
  std::vector<Place> Joining(std::int64_t in_batch) {
    std::int64_t sources = 0, tokens = 0;  // tokens of sources in the batch, and of new ones
    for (const auto& [id, place] : places)
      if (!place.job->ended) sources += place.source_tokens;
    std::vector<Place> joining;
    while (in_batch < queue->options.max_running) {
      const bool begins = queue->running.empty() || queue->running.back()->ended ||
                          queue->running.back()->next == queue->running.back()->sequences.size();
      if (begins && queue->waiting.empty()) break;
      const std::shared_ptr<EngineJob> job = begins ? queue->waiting.front() : queue->running.back();
      const std::int64_t source = std::ssize(job->sequences[job->next].source);
      if (in_batch > 0 && sources + source > cached_tokens) break;
      if (!joining.empty() && tokens + source > kSourceTokens) break;
      joining.push_back({job, job->next, source});
      if (begins) {
        queue->running.push_back(job);
        queue->waiting.pop_front();
        queue->waiting_bytes -= job->bytes;
      }
      ++job->next;
      ++in_batch;
      sources += source;
      tokens += source;
    }
    return joining;
  }

  // Encodes the sources of the sequences, and takes these into the batch.
  void Join(const std::vector<Place>& joining) {
    if (translator) Encode(joining);
    for (const Place& place : joining) {
      DecodingRequest& request = place.job->sequences[place.sequence];
      if (translator && request.memory.empty()) continue;  // its source has failed
      try {
        places.emplace(batch->Add(std::move(request)), place);
      } catch (const Error&) {
        Fails(*place.job);
      }
    }
  }

  // With the exception that is being handled.
  void Fails(EngineJob& job) {
    const std::lock_guard lock(queue->mutex);
    queue->End(job, std::current_exception());
  }

  // Gives each sequence its source's states; those with the source of the one before share them.
  void Encode(std::span<const Place> joining) {
    std::vector<std::span<const Place>> sources;
    for (std::size_t begin = 0, end; begin < joining.size(); begin = end) {
      const auto source = [&](std::size_t i) -> const std::vector<std::int32_t>& {
        return joining[i].job->sequences[joining[i].sequence].source;
      };
      for (end = begin + 1; end < joining.size() && source(end) == source(begin); ++end) continue;
      const auto same = joining.subspan(begin, end - begin);
      if (encoded.ids == source(begin))
        SetMemory(same, encoded.states);
      else
        sources.push_back(same);
    }
    try {
      EncodeTogether(sources);
    } catch (const Error&) {
      for (const std::span<const Place> same : sources) try {
          EncodeTogether({same});
        } catch (const Error&) {
          for (const Place& place : same) Fails(*place.job);
        }
    }
  }

  static void SetMemory(std::span<const Place> same, const Tensor& states) {
    for (const Place& place : same) place.job->sequences[place.sequence].memory = states;
  }

  // Encodes the common source of each group in one pass.
  void EncodeTogether(const std::vector<std::span<const Place>>& sources) {
    if (sources.empty()) return;
    std::vector<std::int32_t> ids, lengths;
    const auto source = [](std::span<const Place> same) -> const std::vector<std::int32_t>& {
      return same.front().job->sequences[same.front().sequence].source;
    };
    for (const std::span<const Place> same : sources) {
      ids.insert(ids.end(), source(same).begin(), source(same).end());
      lengths.push_back(static_cast<std::int32_t>(source(same).size()));
    }
    Context context;
    const Tensor states = translator->model().Encode(context, ids, PackedSequences(lengths));
    std::int64_t row = 0;
    for (const std::span<const Place> same : sources) {
      const std::int64_t rows = std::ssize(source(same));
      encoded = {source(same), states.ViewRows(row, rows).Clone()};  // which does not keep the others' states
      SetMemory(same, encoded.states);
      row += rows;
    }
  }

  const std::optional<TextGenerator> generator;  // one of the two
  const std::optional<Translator> translator;
  const std::shared_ptr<EngineQueue> queue;
  const std::int64_t positions, cached_tokens;

  // The worker's.
  std::unique_ptr<DecodingBatch> batch;  // null after it has failed
  std::map<std::int64_t, Place> places;  // by the batch's id
  struct {
    std::vector<std::int32_t> ids;
    Tensor states;
  } encoded;  // the last source
  std::thread worker;
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

template <typename Result>
Ticket<Result>::Ticket(std::shared_ptr<EngineQueue> queue, std::shared_ptr<EngineJob> job, OnText on_text)
    : queue_(std::move(queue)), job_(std::move(job)), on_text_(std::move(on_text)) {}

template <typename Result>
Ticket<Result>::Ticket(Ticket&&) noexcept = default;

template <typename Result>
Ticket<Result>& Ticket<Result>::operator=(Ticket&& other) noexcept {
  std::swap(queue_, other.queue_);
  std::swap(job_, other.job_);
  std::swap(on_text_, other.on_text_);
  return *this;
}

template <typename Result>
Ticket<Result>::~Ticket() {
  Cancel();
}

template <typename Result>
void Ticket<Result>::Cancel() const {
  if (job_ == nullptr) return;
  const std::lock_guard lock(queue_->mutex);
  queue_->End(*job_, std::make_exception_ptr(Cancelled()));
}

template <typename Result>
bool Ticket<Result>::WaitFor(std::chrono::milliseconds time) {
  return WaitUntil(Clock::now() + std::clamp<std::chrono::milliseconds>(time, {}, kLongestTimeout));
}

template <typename Result>
bool Ticket<Result>::WaitUntil(std::optional<Clock::time_point> time) {
  Check(job_ != nullptr, "a ticket that was moved from has no request");
  EngineJob& job = *job_;
  std::unique_lock lock(queue_->mutex);
  while (true) {
    if (!job.pieces.empty()) {
      const auto [text, piece] = std::move(job.pieces.front());
      job.pieces.pop_front();
      lock.unlock();
      try {
        on_text_(text, piece);
      } catch (...) {
        Cancel();
        throw;
      }
      lock.lock();
      continue;
    }
    if (job.ended) return true;
    const auto now = Clock::now();
    if (job.deadline && now >= *job.deadline) {
      queue_->End(job, std::make_exception_ptr(TimedOut()));
      continue;
    }
    if (time && now >= *time) return false;
    if (time || job.deadline)
      job.changed.wait_until(
          lock, std::min(time.value_or(Clock::time_point::max()), job.deadline.value_or(Clock::time_point::max())));
    else
      job.changed.wait(lock);
  }
}

template <typename Result>
std::vector<Result> Ticket<Result>::Wait() {
  WaitUntil({});
  {
    const std::lock_guard lock(queue_->mutex);
    Check(!std::exchange(job_->taken, true), "Wait was called before, and has taken the result");
  }
  if (job_->error != nullptr) std::rethrow_exception(job_->error);  // it has ended, and changes no more
  job_->Finish();
  WaitUntil({});  // for the ends of the texts
  return std::move(static_cast<typename JobOf<Result>::Type&>(*job_).results);
}

template class Ticket<GeneratedText>;
template class Ticket<Translation>;

}  // namespace headlight
