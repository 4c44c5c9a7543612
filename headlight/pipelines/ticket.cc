#include "headlight/pipelines/ticket.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "headlight/pipelines/engine_queue.h"

namespace headlight {

template <typename Result>
Ticket<Result>::Ticket(std::shared_ptr<EngineQueue> queue, std::shared_ptr<EngineJob> job, OnText on_text)
    : queue_(std::move(queue)), job_(std::move(job)), on_text_(std::move(on_text)) {}

template <typename Result>
Ticket<Result>::Ticket(Ticket&&) noexcept = default;

template <typename Result>
Ticket<Result>& Ticket<Result>::operator=(Ticket&& other) noexcept {
  std::swap(queue_, other.queue_);
  std::swap(job_, other.job_);
  std::swap(on_text_, other.on_text_);
  return *this;
}

template <typename Result>
Ticket<Result>::~Ticket() {
  Cancel();
}

template <typename Result>
void Ticket<Result>::Cancel() const {
  if (job_ == nullptr) return;
  const std::lock_guard lock(queue_->mutex);
  queue_->End(*job_, std::make_exception_ptr(Cancelled()));
}

template <typename Result>
bool Ticket<Result>::WaitFor(std::chrono::milliseconds time) {
  return WaitUntil(EngineClock::now() + std::clamp<std::chrono::milliseconds>(time, {}, kLongestTimeout));
}

template <typename Result>
bool Ticket<Result>::WaitUntil(std::optional<EngineClock::time_point> time) {
  Check(job_ != nullptr, "a ticket that was moved from has no request");
  EngineJob& job = *job_;
  std::unique_lock lock(queue_->mutex);
  while (true) {
    if (!job.pieces.empty()) {
      const auto [text, piece] = std::move(job.pieces.front());
      job.pieces.pop_front();
      lock.unlock();
      try {
        on_text_(text, piece);
      } catch (...) {
        Cancel();
        throw;
      }
      lock.lock();
      continue;
    }
    if (job.ended) return true;
    const auto now = EngineClock::now();
    if (job.deadline && now >= *job.deadline) {
      queue_->End(job, std::make_exception_ptr(TimedOut()));
      continue;
    }
    if (time && now >= *time) return false;
    if (time || job.deadline)
      job.changed.wait_until(lock, std::min(time.value_or(EngineClock::time_point::max()),
                                            job.deadline.value_or(EngineClock::time_point::max())));
    else
      job.changed.wait(lock);
  }
}

template <typename Result>
std::vector<Result> Ticket<Result>::Wait() {
  WaitUntil({});
  {
    const std::lock_guard lock(queue_->mutex);
    Check(!std::exchange(job_->taken, true), "Wait was called before, and can be called only once");
  }
  if (job_->error != nullptr) std::rethrow_exception(job_->error);  // the job has ended, so `error` no longer changes
  job_->Finish();
  WaitUntil({});  // calls on_text with the last pieces of the texts
  return std::move(static_cast<EngineJobOf<Result>&>(*job_).results);
}

template class Ticket<GeneratedText>;
template class Ticket<Translation>;

}  // namespace headlight
