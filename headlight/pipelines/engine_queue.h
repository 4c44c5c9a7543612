// The requests of an Engine that are in its queue or in its batch.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/generate/decoding_request.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/pipelines/engine_options.h"

namespace headlight {

using EngineClock = std::chrono::steady_clock;
constexpr auto kLongestTimeout = std::chrono::hours(24 * 365);

/// A request, shared by its ticket and the worker. The queue's mutex guards the mutable members.
struct EngineJob {
  EngineJob() = default;
  EngineJob(const EngineJob&) = delete;
  virtual ~EngineJob() = default;
  /// Makes the results from the hypotheses, on the thread that calls Ticket::Wait.
  virtual void Finish() = 0;

  std::int64_t bytes = 0;  ///< part of waiting_bytes while the request waits
  std::optional<EngineClock::time_point> deadline = {};
  std::condition_variable changed;
  bool ended = false, taken = false;                         ///< `taken` is true if Wait has been called
  std::exception_ptr error = nullptr;                        ///< set if the request ended without results
  std::deque<std::pair<std::size_t, std::string>> pieces{};  ///< pieces of text that on_text has not received yet

  /// Used only by the worker, until the request has ended.
  std::vector<DecodingRequest> sequences{};
  /// Index of the next sequence to join the batch, and number of sequences that have left the batch.
  std::size_t next = 0, decoded = 0;
  std::vector<std::vector<Hypothesis>> found{};  ///< hypotheses of each sequence
};

/// A request and, after Finish, its results.
template <typename Result>
struct EngineJobOf : EngineJob {
  std::vector<Result> results;
};

struct EngineQueue {
  /// Throws Error for invalid options.
  explicit EngineQueue(const EngineOptions& given);

  /// Ends a request, with results if `error` is null. Has no effect if the request has already ended. The mutex must be
  /// locked.
  void End(EngineJob& job, std::exception_ptr error);

  /// Throws QueueFull unless a request of `bytes` more bytes fits. The mutex must be locked.
  void CheckRoom(std::int64_t bytes) const;

  const EngineOptions options;
  std::mutex mutex;
  std::condition_variable work;  ///< wakes the worker
  bool stopping = false;
  std::deque<std::shared_ptr<EngineJob>> waiting;
  std::vector<std::shared_ptr<EngineJob>>
      running;                ///< requests that have begun, including ended requests that the worker has not removed
  std::int64_t entering = 0;  ///< requests that Submit is preparing
  std::int64_t waiting_bytes = 0;  ///< including requests that Submit is preparing
  std::int64_t generated_tokens = 0, cached_tokens = 0;
};

/// Reserves space in the queue for a request while Submit prepares it.
class EngineReservation {
 public:
  /// Throws QueueFull if there is no space, and Error for a request that is larger than max_waiting_bytes.
  EngineReservation(EngineQueue& queue, std::int64_t bytes);
  ~EngineReservation();
  EngineReservation(const EngineReservation&) = delete;

  /// Queues the request. Throws the same errors as the constructor if the request has become larger.
  void Enter(const std::shared_ptr<EngineJob>& job);

 private:
  void CheckSize(std::int64_t bytes) const;

  EngineQueue& queue_;
  std::int64_t bytes_;
  bool entered_ = false;
};

}  // namespace headlight
