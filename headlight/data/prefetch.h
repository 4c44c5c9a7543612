// Prepares items in background threads.
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

/// Calls produce() repeatedly on a separate thread, up to `depth` items ahead, and returns the items in order. The
/// first exception of produce() ends the thread. Next rethrows it after the items that precede it. The destructor waits
/// for running calls.
template <typename Item>
class Prefetch {
 public:
  using Make = std::function<Item()>;

  Prefetch(Make produce, std::size_t depth)
      : Prefetch([one = std::make_shared<Make>(std::move(produce))] { return Make([one] { return (*one)(); }); }, depth,
                 1) {}

  /// Uses several threads. plan() is called by one thread at a time, in the order of the items. plan() returns a
  /// function that makes the next item on any thread. Throws std::system_error if the first thread cannot be created,
  /// and uses fewer threads if another thread cannot be created.
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

  /// Waits for the next item and returns it. Must be called from one thread at a time.
  Item Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !places_.empty() && (places_.front().item || places_.front().failure); });
    if (places_.front().failure) std::rethrow_exception(places_.front().failure);  // the next call throws it again
    Item item = std::move(*places_.front().item);
    places_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return item;
  }

 private:
  /// An item that is ready or in preparation.
  struct Place {
    std::optional<Item> item;
    std::exception_ptr failure;
  };

  void Work() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return places_.size() < depth_ || stopping_; });
      if (stopping_) return;
      Place& place = places_.emplace_back();  // the address is stable while other places are added and removed
      try {
        const Make make = plan_();
        lock.unlock();
        Item item = make();
        lock.lock();
        place.item.emplace(std::move(item));
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        place.failure = std::current_exception();
        stopping_ = true;  // later items are never returned
      }
      changed_.notify_all();
    }
  }

  std::function<Make()> plan_;
  std::size_t depth_;
  std::mutex mutex_;
  std::condition_variable changed_;  // signals a new item, a removed item, a failure, or stopping
  std::deque<Place> places_;         // in the order of the items
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // last, so that all other members are initialized before the threads start
};

}  // namespace headlight
