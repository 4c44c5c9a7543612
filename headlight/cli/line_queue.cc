#include "headlight/cli/line_queue.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace headlight {

struct LineQueue::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> lines;
  std::size_t bytes = 0;  // of the lines
  bool ended = false;
  std::exception_ptr failure;
  bool stopping = false;

  void Read(LineReader reader, std::size_t most_bytes) {
    std::exception_ptr caught;
    try {
      while (const auto line = reader.Next()) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return bytes <= most_bytes || stopping; });
        if (stopping) return;
        lines.emplace_back(*line);
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

LineQueue::LineQueue(LineReader reader, std::size_t most_bytes) : state_(std::make_shared<State>()) {
  std::thread([state = state_, reader = std::move(reader), most_bytes]() mutable {
    state->Read(std::move(reader), most_bytes);
  }).detach();
}

LineQueue::~LineQueue() {
  const std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
}

std::vector<std::string> LineQueue::Next() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->lines.empty() || state_->ended; });
  if (state_->lines.empty() && state_->failure) std::rethrow_exception(state_->failure);
  state_->bytes = 0;
  state_->changed.notify_all();
  return std::exchange(state_->lines, {});
}

}  // namespace headlight
