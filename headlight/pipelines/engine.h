// A queue of requests from many threads for one running batch, as a server needs it.
//   Engine engine(TextGenerator::Load("gpt2"));
//   Ticket<GeneratedText> ticket = engine.Submit({.prompt = "Once upon a time", .options = {.max_new_tokens = 50}});
//   std::string text = ticket.Wait().front().text;
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/cancelled.h"
#include "headlight/base/error.h"
#include "headlight/base/export.h"
#include "headlight/pipelines/text_generator.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

/// Thrown by Engine::Submit if there is no room for the request now. A server answers 503 or 429.
class HEADLIGHT_API QueueFull : public Error {
 public:
  using Error::Error;
};

/// Thrown by Ticket::Wait if the request's time is over. A server answers 504.
class HEADLIGHT_API TimedOut : public Error {
 public:
  TimedOut() : Error("`timeout`: the request's time is over") {}
};

struct EngineOptions {
  std::int64_t max_waiting = 1024;                         ///< requests that wait
  std::int64_t max_waiting_bytes = std::int64_t{1} << 26;  ///< of their texts and tokens
  /// Sequences in the batch. A request is one for each of its samples, and for each part of a text that is translated
  /// in parts.
  std::int64_t max_running = 64;
  /// Tokens in the cache, and as many of sources. A request that may need more than this alone is refused. 0: 16384, or
  /// the model's positions if they are more.
  std::int64_t cached_tokens = 0;
};

/// A prompt to be continued.
struct TextRequest {
  std::string prompt = {};
  std::vector<std::int32_t> ids = {};  ///< if not empty, the prompt's tokens, instead of `prompt`
  /// As for TextGenerator::Generate. `batch_tokens` has no effect, and `cancelled` is refused. `on_text` is called by
  /// Ticket::Wait.
  GenerateOptions options = {};
  std::optional<std::chrono::milliseconds> timeout = {};  ///< from Submit to the result; above 0
};

/// A text to be translated or summarized.
struct TranslationRequest {
  std::string text = {};
  /// If not empty, the encoder's input as Translator::SourceIds gives it, instead of `text`. The prefix and the
  /// source's language are part of it. It is not divided.
  std::vector<std::int32_t> ids = {};
  TranslateOptions options = {};  ///< as in TextRequest, for Translator::TranslateBatch
  std::optional<std::chrono::milliseconds> timeout = {};
};

/// Counts at one moment.
struct EngineStatistics {
  std::int64_t running = 0, waiting = 0;  ///< requests
  std::int64_t generated_tokens = 0;      ///< since the engine was made; of beams those of one
  std::int64_t cached_tokens = 0;         ///< in the cache
};

struct EngineQueue;  // engine.cc
struct EngineJob;

/// A request in an Engine. Its destructor cancels the request. It may outlive the engine.
///
/// Wait and WaitFor are for one thread at a time. Any thread may call Cancel meanwhile. `on_text` is called by Wait and
/// WaitFor, on the thread that calls them: it may take long, and may call whatever it likes.
template <typename Result>
class HEADLIGHT_API Ticket {
 public:
  Ticket(Ticket&& other) noexcept;
  Ticket& operator=(Ticket&& other) noexcept;
  ~Ticket();

  /// Waits for the n_best results, which are those of TextGenerator::Generate or Translator::TranslateBatch for this
  /// request alone, to the last bit. To be called once. Throws what those throw, Cancelled, TimedOut, or what on_text
  /// throws, which cancels the request.
  std::vector<Result> Wait();

  /// Waits for so long at most, and returns whether Wait would return at once.
  bool WaitFor(std::chrono::milliseconds time);

  /// Ends the request, at any point of it: Wait throws Cancelled, also one that is waiting. No effect after its end.
  void Cancel() const;

 private:
  friend class Engine;
  using OnText = std::function<void(std::size_t text, std::string_view piece)>;
  Ticket(std::shared_ptr<EngineQueue> queue, std::shared_ptr<EngineJob> job, OnText on_text);
  bool WaitUntil(std::optional<std::chrono::steady_clock::time_point> time);

  std::shared_ptr<EngineQueue> queue_;
  std::shared_ptr<EngineJob> job_;
  OnText on_text_;
};

/// Runs requests for one model in one batch, which they join and leave at any time: first come, first served. A result
/// has the bits that the request has alone, whatever else runs.
///
/// Any thread may call Submit and Statistics. One thread of the engine's own runs the model, with the process's compute
/// threads; it sleeps if there is no request. What is wrong with one request reaches its own ticket only. If the batch
/// fails as a whole, such as for lack of memory, the requests in it end with that error, and those that wait go on.
class HEADLIGHT_API Engine {
 public:
  /// Throws Error for impossible options.
  explicit Engine(TextGenerator generator, const EngineOptions& options = {});
  explicit Engine(Translator translator, const EngineOptions& options = {});
  /// Ends every request: its ticket throws Cancelled. Waits for the pass that is running.
  ~Engine();
  Engine(const Engine&) = delete;

  /// Tokenizes on the caller's thread, and returns without waiting for the model. Throws QueueFull if there are
  /// max_waiting requests or max_waiting_bytes already; Error for an impossible request, or if the engine's model is of
  /// the other kind.
  [[nodiscard]] Ticket<GeneratedText> Submit(TextRequest request);
  [[nodiscard]] Ticket<Translation> Submit(TranslationRequest request);

  EngineStatistics Statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class Ticket<GeneratedText>;
extern template class Ticket<Translation>;

}  // namespace headlight
