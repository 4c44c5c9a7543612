// A queue of requests from many threads to one running batch, as a server needs it.
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

/// Current counts.
struct EngineStatistics {
  std::int64_t running = 0, waiting = 0;  ///< requests
  std::int64_t generated_tokens = 0;      ///< since the engine was made; with beams, those of one beam
  std::int64_t cached_tokens = 0;         ///< in the cache
};

/// Runs the requests to one model in one batch, which they join and leave at any time: first come, first served. A
/// result is bit-identical to that of the request by itself, whatever else is in the batch.
///
/// Any thread may call Submit and Statistics. The engine's thread runs the model with the process's compute threads; it
/// sleeps if there is no request. An error in one request is reported only by its own ticket. If the batch fails as a
/// whole, such as for lack of memory, all requests in it end with that error. Waiting requests then continue.
class HEADLIGHT_API Engine {
 public:
  /// Throws Error for impossible options.
  explicit Engine(TextGenerator generator, const EngineOptions& options = {});
  explicit Engine(Translator translator, const EngineOptions& options = {});
  /// Ends every request; their tickets throw Cancelled. Waits for the current forward pass.
  ~Engine();
  Engine(const Engine&) = delete;

  /// Tokenizes on the caller's thread and returns without waiting for the model. Throws QueueFull if max_waiting
  /// requests or max_waiting_bytes are waiting already. Throws Error for an impossible request, and if the engine's
  /// model is of the other kind.
  [[nodiscard]] Ticket<GeneratedText> Submit(TextRequest request);
  [[nodiscard]] Ticket<Translation> Submit(TranslationRequest request);

  EngineStatistics Statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headlight
