#include "headlight/pipelines/engine_queue.h"

#include <algorithm>

namespace headlight {

EngineQueue::EngineQueue(const EngineOptions& given) : options(given) {
  Check(options.max_waiting >= 1, "`max_waiting` must be at least 1, not {}", options.max_waiting);
  Check(options.max_waiting_bytes >= 1, "`max_waiting_bytes` must be at least 1, not {}", options.max_waiting_bytes);
  Check(options.max_running >= 1, "`max_running` must be at least 1, not {}", options.max_running);
  Check(options.cached_tokens >= 0, "`cached_tokens` must be at least 0, not {}", options.cached_tokens);
}

void EngineQueue::End(EngineJob& job, std::exception_ptr error) {
  if (job.ended) return;
  job.ended = true;
  job.error = std::move(error);
  if (job.error != nullptr) job.pieces.clear();
  const auto found = std::ranges::find(waiting, &job, [](const auto& one) { return one.get(); });
  if (found != waiting.end()) {
    waiting_bytes -= job.bytes;
    waiting.erase(found);  // the caller keeps a reference
  }
  job.changed.notify_all();
}

void EngineQueue::CheckRoom(std::int64_t bytes) const {
  if (bytes > options.max_waiting_bytes - waiting_bytes)
    throw QueueFull(fmt::format("`max_waiting_bytes`: {} bytes are waiting already", waiting_bytes));
}

EngineReservation::EngineReservation(EngineQueue& queue, std::int64_t bytes) : queue_(queue), bytes_(bytes) {
  CheckSize(bytes);
  const std::lock_guard lock(queue_.mutex);
  if (std::ssize(queue_.waiting) + queue_.entering >= queue_.options.max_waiting)
    throw QueueFull(fmt::format("`max_waiting`: {} requests are waiting already", queue_.options.max_waiting));
  queue_.CheckRoom(bytes);
  queue_.waiting_bytes += bytes;
  ++queue_.entering;
}

EngineReservation::~EngineReservation() {
  if (entered_) return;
  const std::lock_guard lock(queue_.mutex);
  queue_.waiting_bytes -= bytes_;
  --queue_.entering;
}

void EngineReservation::Enter(const std::shared_ptr<EngineJob>& job) {
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

void EngineReservation::CheckSize(std::int64_t bytes) const {
  Check(bytes <= queue_.options.max_waiting_bytes, "a request of {} bytes is larger than `max_waiting_bytes`, {}",
        bytes, queue_.options.max_waiting_bytes);
}

}  // namespace headlight
