// The caller's handle of a request in an Engine.
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

/// Thrown by Ticket::Wait if the request has timed out. A server answers 504.
class HEADLIGHT_API TimedOut : public Error {
 public:
  TimedOut() : Error("`timeout`: the request has timed out") {}
};

struct EngineQueue;  // engine_queue.h
struct EngineJob;

/// A request in an Engine. Its destructor cancels the request. It may outlive the engine.
///
/// One thread at a time may call Wait and WaitFor. Any thread may call Cancel meanwhile. Wait and WaitFor call
/// `on_text` on their own thread: it may take long and call anything.
template <typename Result>
class HEADLIGHT_API Ticket {
 public:
  Ticket(Ticket&& other) noexcept;
  Ticket& operator=(Ticket&& other) noexcept;
  ~Ticket();

  /// Waits for the n_best results. They are bit-identical to those of TextGenerator::Generate or
  /// Translator::TranslateBatch for this request only. Must be called once. Throws what those throw, Cancelled,
  /// TimedOut, or an exception from on_text, which cancels the request.
  std::vector<Result> Wait();

  /// Waits for at most `time`, and returns whether Wait would return at once.
  bool WaitFor(std::chrono::milliseconds time);

  /// Ends the request at any point; Wait throws Cancelled, also in a thread that is waiting. No effect after its end.
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
