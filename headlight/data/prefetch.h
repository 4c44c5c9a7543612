// Threads that make the next items while the last one is worked on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace headlight {

// Calls produce() again and again on a thread of its own, up to `depth` items ahead, and hands the items out in order.
// The first exception that produce() throws ends the thread and arrives at Next, after the items made before it.
// It may be destroyed at any moment, and then waits for the calls that run.
template <typename Item>
class Prefetch {
 public:
  using Make = std::function<Item()>;

  Prefetch(Make produce, std::size_t depth)
      : Prefetch([one = std::make_shared<Make>(std::move(produce))] { return Make([one] { return (*one)(); }); }, depth,
                 1) {}

  // Several threads: plan() is called by one at a time, in the order of the items, and gives what makes the next one,
  // on any thread. A thread that the system does not grant is done without, unless it is the first.
  Prefetch(std::function<Make()> plan, std::size_t depth, int threads) : plan_(std::move(plan)), depth_(depth) {
    for (int thread = 0; thread < threads; ++thread) {
      try {
        threads_.emplace_back([this] { Work(); });
      } catch (const std::system_error&) {
        if (threads_.empty()) throw;
        break;
      }
    }
  }
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  ~Prefetch() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // The next item; waits for it. From one thread at a time.
  Item Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !places_.empty() && (places_.front().item || places_.front().failure); });
    if (places_.front().failure) std::rethrow_exception(places_.front().failure);  // and again at the next call
    Item item = std::move(*places_.front().item);
    places_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return item;
  }

 private:
  // Of an item that is being made or is there.
  struct Place {
    std::optional<Item> item;
    std::exception_ptr failure;
  };

  void Work() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return places_.size() < depth_ || stopping_; });
      if (stopping_) return;
      Place& place = places_.emplace_back();  // stays where it is, while others come and go
      try {
        const Make make = plan_();
        lock.unlock();
        Item item = make();
        lock.lock();
        place.item.emplace(std::move(item));
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        place.failure = std::current_exception();
        stopping_ = true;  // what comes after it is never handed out
      }
      changed_.notify_all();
    }
  }

  std::function<Make()> plan_;
  std::size_t depth_;
  std::mutex mutex_;
  std::condition_variable changed_;  // an item more or less, a failure, or stopping_
  std::deque<Place> places_;         // in the order of the items
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // last, so that all they use is there when they start
};

}  // namespace headlight
