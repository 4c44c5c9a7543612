// A thread that makes the next items while the last one is worked on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace headlight {

// Calls produce() again and again on a thread of its own, up to `depth` items ahead, and hands the items out in order.
// The first exception that produce() throws ends the thread and arrives at Next, after the items made before it.
// It may be destroyed at any moment, and then waits for the call of produce() that runs.
template <typename Item>
class Prefetch {
 public:
  Prefetch(std::function<Item()> produce, std::size_t depth)
      : produce_(std::move(produce)), depth_(depth), thread_([this] { Produce(); }) {}
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  ~Prefetch() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  // The next item; waits for it. From one thread at a time.
  Item Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !items_.empty() || failure_; });
    if (items_.empty()) std::rethrow_exception(failure_);
    Item item = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return item;
  }

 private:
  void Produce() {
    try {
      for (std::unique_lock lock(mutex_);;) {
        changed_.wait(lock, [this] { return items_.size() < depth_ || stopping_; });
        if (stopping_) return;
        lock.unlock();
        Item item = produce_();
        lock.lock();
        items_.push_back(std::move(item));
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  std::function<Item()> produce_;
  std::size_t depth_;
  std::mutex mutex_;
  std::condition_variable changed_;  // an item more or less, a failure, or stopping_
  std::deque<Item> items_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread thread_;  // last, so that all it uses is there when it starts
};

}  // namespace headlight
