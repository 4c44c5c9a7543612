#include "headlight/cli/terminal/line_queue.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {

namespace {

// Returns the next text, or sets `error`. Rethrows an error that repeats or that consumes no line, since the file
// cannot be read further.
std::optional<SourceText> NextOrError(TextReader& reader, bool keep_errors, std::string& error) {
  const std::int64_t before = reader.count();
  const std::string last = std::exchange(error, "");
  try {
    return reader.Next();
  } catch (const Error& bad) {
    if (!keep_errors || bad.cause() != ErrorCause::user || reader.count() == before || bad.what() == last) throw;
    error = bad.what();
    return SourceText();
  }
}

}  // namespace

struct LineQueue::State {
  std::mutex mutex;
  std::condition_variable changed;
  QueuedLines queued;
  std::size_t bytes = 0;  // total size of the lines
  bool ended = false;
  std::exception_ptr failure;
  bool stopping = false;

  void Read(TextReader reader, std::size_t most_bytes, bool keep_errors) {
    std::exception_ptr caught;
    try {
      std::string error;
      while (auto text = NextOrError(reader, keep_errors, error)) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return bytes <= most_bytes || stopping; });
        if (stopping) return;
        bytes += text->text.size() + (text->second ? text->second->size() : 0) + 1;
        queued.lines.push_back(std::move(text->text));
        queued.seconds.push_back(std::move(text->second));
        if (!error.empty()) {
          queued.errors.resize(queued.lines.size());
          queued.errors.back() = error;
        }
        queued.share = reader.share();
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

LineQueue::LineQueue(TextReader reader, std::size_t most_bytes, bool keep_errors) : state_(std::make_shared<State>()) {
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
