// The caller's handle for a request in an Engine.
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

/// Thrown by Ticket::Wait if the request has timed out. A server responds with HTTP status 504.
class HEADLIGHT_API TimedOut : public Error {
 public:
  TimedOut() : Error("`timeout`: the request has timed out") {}
};

struct EngineQueue;  // engine_queue.h
struct EngineJob;

/// A request in an Engine. The destructor cancels the request. A ticket may outlive the engine.
///
/// One thread at a time may call Wait and WaitFor. Any thread may call Cancel at the same time. Wait and WaitFor call
/// `on_text` on the calling thread. `on_text` may block.
template <typename Result>
class HEADLIGHT_API Ticket {
 public:
  Ticket(Ticket&& other) noexcept;
  Ticket& operator=(Ticket&& other) noexcept;
  ~Ticket();

  /// Waits for the n_best results, which are bit-identical to the results of TextGenerator::Generate or
  /// Translator::TranslateBatch for only this request. Throws the same errors as these functions, and Cancelled or
  /// TimedOut. Throws Error if Wait was called before. An exception from on_text cancels the request and is rethrown.
  std::vector<Result> Wait();

  /// Waits for at most `time`, unless calls of on_text take longer. Returns true if the request has ended. An exception
  /// from on_text cancels the request and is rethrown.
  bool WaitFor(std::chrono::milliseconds time);

  /// Cancels the request. Wait throws Cancelled, also in a thread that is already waiting. Has no effect if the request
  /// has ended.
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
