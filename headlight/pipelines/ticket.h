// A request in an Engine, as its caller sees it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "headlight/base/cancelled.h"
#include "headlight/base/error.h"
#include "headlight/base/export.h"
#include "headlight/pipelines/text_generator.h"
#include "headlight/pipelines/translator.h"

namespace headlight {

/// Thrown by Ticket::Wait if the request's time is over. A server answers 504.
class HEADLIGHT_API TimedOut : public Error {
 public:
  TimedOut() : Error("`timeout`: the request's time is over") {}
};

struct EngineQueue;  // engine_queue.h
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

extern template class Ticket<GeneratedText>;
extern template class Ticket<Translation>;

}  // namespace headlight
