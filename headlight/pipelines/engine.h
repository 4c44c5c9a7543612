// A request queue for servers: requests from many threads join one running batch.
//   Engine engine(TextGenerator::Load("gpt2"));
//   Ticket<GeneratedText> ticket = engine.Submit({.prompt = "Once upon a time", .options = {.max_new_tokens = 50}});
//   std::string text = ticket.Wait().front().text;
#pragma once

#include <cstdint>
#include <memory>

#include "headlight/base/export.h"
#include "headlight/pipelines/engine_options.h"
#include "headlight/pipelines/text_generator.h"
#include "headlight/pipelines/ticket.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

/// The current state of an Engine.
struct EngineStatistics {
  std::int64_t running = 0, waiting = 0;  ///< number of requests
  std::int64_t generated_tokens = 0;  ///< since the engine was constructed; with beam search, the tokens of one beam
  std::int64_t cached_tokens = 0;     ///< tokens that the cache holds now, of all sequences in the batch
};

/// Runs requests to one model by continuous batching: requests join and leave the batch at any step, first come, first
/// served. The result of a request does not depend on the other requests: it is bit-identical to the result of the
/// request without an Engine.
///
/// Any thread may call Submit and Statistics. The engine's thread runs the model on the process's compute threads, and
/// sleeps if there is no request. An error in one request is reported only by the ticket of that request. If a forward
/// pass fails, for example for lack of memory, all requests in the batch end with that error. Requests in the queue are
/// not affected.
class HEADLIGHT_API Engine {
 public:
  /// Throws Error for invalid options.
  explicit Engine(TextGenerator generator, const EngineOptions& options = {});
  explicit Engine(Translator translator, const EngineOptions& options = {});
  /// Ends every request. The tickets throw Cancelled. Waits for the current forward pass.
  ~Engine();
  Engine(const Engine&) = delete;

  /// Tokenizes on the caller's thread and returns without waiting for the model. Throws QueueFull if the request would
  /// exceed max_waiting or max_waiting_bytes. Throws Error for an invalid request, for a request that can never fit in
  /// the cache, and for a request type that the model does not handle.
  [[nodiscard]] Ticket<GeneratedText> Submit(TextRequest request);
  [[nodiscard]] Ticket<Translation> Submit(TranslationRequest request);

  EngineStatistics Statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headlight
