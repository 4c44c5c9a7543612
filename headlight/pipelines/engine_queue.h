// The requests of an Engine: those that wait, and those in its batch.
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

// A request. Its ticket and the worker share it. The queue's mutex guards what changes.
struct EngineJob {
  EngineJob() = default;
  EngineJob(const EngineJob&) = delete;
  virtual ~EngineJob() = default;
  // Makes the results of what was found, on the waiter's thread.
  virtual void Finish() = 0;

  std::int64_t bytes = 0;  // while it waits
  std::optional<EngineClock::time_point> deadline = {};
  std::condition_variable changed;
  bool ended = false, taken = false;                         // whether Wait has been called
  std::exception_ptr error = nullptr;                        // of a request that has ended without results
  std::deque<std::pair<std::size_t, std::string>> pieces{};  // of texts, not yet given to on_text

  // The worker's, until the request has ended.
  std::vector<DecodingRequest> sequences{};
  std::size_t next = 0, decoded = 0;             // the next sequence to join the batch; how many have left it
  std::vector<std::vector<Hypothesis>> found{};  // of each sequence
};

// A request with its results after Finish.
template <typename Result>
struct EngineJobOf : EngineJob {
  std::vector<Result> results;
};

struct EngineQueue {
  // Throws Error for impossible options.
  explicit EngineQueue(const EngineOptions& given);

  // Ends a request: with results if there is no error. No effect after its end. With the mutex locked.
  void End(EngineJob& job, std::exception_ptr error);

  // Throws QueueFull unless so many more bytes fit. With the mutex locked.
  void CheckRoom(std::int64_t bytes) const;

  const EngineOptions options;
  std::mutex mutex;
  std::condition_variable work;  // for the worker
  bool stopping = false;
  std::deque<std::shared_ptr<EngineJob>> waiting;
  std::vector<std::shared_ptr<EngineJob>> running;  // have begun; with ended ones that the worker has not seen
  std::int64_t entering = 0;                        // requests that Submit prepares
  std::int64_t waiting_bytes = 0;                   // with those
  std::int64_t generated_tokens = 0, cached_tokens = 0;
};

// Room in the queue for a request of so many bytes, from before Submit does any work until the request is in the queue.
class EngineReservation {
 public:
  // Throws QueueFull without room, and Error for a request that is larger than the queue.
  EngineReservation(EngineQueue& queue, std::int64_t bytes);
  ~EngineReservation();
  EngineReservation(const EngineReservation&) = delete;

  // Queues the request. Throws as the constructor does, if the request became larger.
  void Enter(const std::shared_ptr<EngineJob>& job);

 private:
  void CheckSize(std::int64_t bytes) const;

  EngineQueue& queue_;
  std::int64_t bytes_;
  bool entered_ = false;
};

}  // namespace headlight
