#include "headlight/cli/terminal/line_queue.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {

namespace {

std::optional<std::string_view> NextOrError(LineReader& reader, bool keep_errors, std::string& error) {
  error.clear();
  const std::int64_t before = reader.line_number();
  try {
    return reader.Next();
  } catch (const Error& bad) {
    if (!keep_errors || reader.line_number() == before) throw;
    error = bad.what();
    return "";
  }
}

}  // namespace

struct LineQueue::State {
  std::mutex mutex;
  std::condition_variable changed;
  QueuedLines queued;
  std::size_t bytes = 0;  // of the lines
  bool ended = false;
  std::exception_ptr failure;
  bool stopping = false;

  void Read(LineReader reader, std::size_t most_bytes, bool keep_errors) {
    std::exception_ptr caught;
    try {
      std::string error;
      while (const auto line = NextOrError(reader, keep_errors, error)) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return bytes <= most_bytes || stopping; });
        if (stopping) return;
        queued.lines.emplace_back(*line);
        if (!error.empty()) {
          queued.errors.resize(queued.lines.size());
          queued.errors.back() = error;
        }
        queued.share = reader.share();
        bytes += line->size() + 1;
        changed.notify_all();
      }
    } catch (...) {
      caught = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    ended = true;
    failure = caught;
    changed.notify_all();
  }
};

LineQueue::LineQueue(LineReader reader, std::size_t most_bytes, bool keep_errors) : state_(std::make_shared<State>()) {
  std::thread([state = state_, reader = std::move(reader), most_bytes, keep_errors]() mutable {
    state->Read(std::move(reader), most_bytes, keep_errors);
  }).detach();
}

LineQueue::~LineQueue() {
  const std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
}

QueuedLines LineQueue::Next() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->queued.lines.empty() || state_->ended; });
  if (state_->queued.lines.empty() && state_->failure) std::rethrow_exception(state_->failure);
  state_->bytes = 0;
  state_->changed.notify_all();
  QueuedLines queued = std::exchange(state_->queued, {});
  if (!queued.errors.empty()) queued.errors.resize(queued.lines.size());
  return queued;
}

}  // namespace headlight
