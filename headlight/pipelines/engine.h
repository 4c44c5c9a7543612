// A queue of requests from many threads for one running batch, as a server needs it.
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

/// Counts at one moment.
struct EngineStatistics {
  std::int64_t running = 0, waiting = 0;  ///< requests
  std::int64_t generated_tokens = 0;      ///< since the engine was made; of beams those of one
  std::int64_t cached_tokens = 0;         ///< in the cache
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

}  // namespace headlight
