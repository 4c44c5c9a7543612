#include "headlight/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "headlight/base/blocked_signals.h"
#include "headlight/base/error.h"

namespace headlight {
namespace {

int Processors() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? std::max(1, CPU_COUNT(&allowed)) : 1;
}

std::atomic<int>& Bound() {
  static std::atomic<int> bound{Processors()};
  return bound;
}

// Hints to the processor that this is a spin loop.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

thread_local bool inside_a_body = false;

// A pool of threads. Each thread is assigned a contiguous range of the indices, which is the same in each round. An
// operation therefore finds the data of the previous operation in a core's caches. After its own range, a thread
// processes indices of other ranges. The caller never waits for a worker that has not begun. On a busy machine, the
// caller does all the work itself, while an OpenMP barrier would wait until every thread has been scheduled.
class Pool {
 public:
  // Runs body on at most `threads` threads, including the caller.
  void Run(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body) {
    while (workers_ < threads - 1 && StartWorker()) continue;
    body_ = &body;
    failed_.store(false, std::memory_order_relaxed);
    if (std::ssize(shares_) < threads) shares_ = std::vector<Share>(static_cast<std::size_t>(threads));
    used_ = static_cast<std::size_t>(threads);
    for (std::size_t i = 0; i < used_; ++i) {
      shares_[i].next.store(count * static_cast<std::int64_t>(i) / threads, std::memory_order_relaxed);
      shares_[i].end = count * static_cast<std::int64_t>(i + 1) / threads;
    }
    places_ = threads - 1;
    // Opens a new, empty round. This publishes the fields that were set above.
    const std::uint64_t round = (state_.load(std::memory_order_relaxed) >> kRoundShift) + 1;
    state_.store(round << kRoundShift | kOpen);
    if (sleeping_.load() > 0) state_.notify_all();
    TakeIndices(0);
    state_.fetch_and(~kOpen);
    for (int spins = 0; (state_.load(std::memory_order_acquire) & kInside) != 0; ++spins) {
      Pause();
      if (spins > 2000) std::this_thread::yield();
    }
    if (failed_.load(std::memory_order_relaxed)) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  // The bits of the state: the number of the round, a flag for an open round, and the number of workers in the round.
  static constexpr std::uint64_t kInside = 0xffff, kOpen = 0x10000;
  static constexpr int kRoundShift = 17;

  // Starts a worker. Returns false if the system has no thread or no memory for it. The existing threads then do the
  // work.
  bool StartWorker() {
    const BlockedSignals blocked;
    try {
      std::thread([this, worker = static_cast<std::size_t>(workers_) + 1] { Work(worker); }).detach();
    } catch (const std::exception&) {
      return false;
    }
    ++workers_;
    return true;
  }

  void TakeIndices(std::size_t own) noexcept {
    inside_a_body = true;
    try {
      for (std::size_t turn = 0; turn < used_; ++turn) {
        Share& share = shares_[(own + turn) % used_];
        for (std::int64_t index; (index = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;)
          (*body_)(index);
      }
    } catch (...) {
      for (std::size_t i = 0; i < used_; ++i)
        shares_[i].next.store(shares_[i].end, std::memory_order_relaxed);  // no thread takes more indices
      if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
    inside_a_body = false;
  }

  void Work(std::size_t worker) {
    std::uint64_t seen = 0;  // the last round that this worker has left
    for (;;) {
      std::uint64_t state = AwaitRoundAfter(seen);
      const std::uint64_t round = state >> kRoundShift;
      seen = round;
      for (;;) {
        const bool enter = (state >> kRoundShift) == round && (state & kOpen) != 0 &&
                           static_cast<int>(state & kInside) < places_.load(std::memory_order_relaxed);
        if (!enter) break;
        if (state_.compare_exchange_weak(state, state + 1)) {
          TakeIndices(worker);
          state_.fetch_sub(1, std::memory_order_release);
          break;
        }
      }
    }
  }

  // Waits for a new round. Spins for about 100 microseconds, which covers the time between the operations of a step,
  // then sleeps.
  std::uint64_t AwaitRoundAfter(std::uint64_t seen) {
    const auto is_new = [&](std::uint64_t state) { return (state >> kRoundShift) != seen && (state & kOpen) != 0; };
    const auto begin = std::chrono::steady_clock::now();
    do {
      for (int i = 0; i < 64; ++i) {
        const std::uint64_t state = state_.load(std::memory_order_acquire);
        if (is_new(state)) return state;
        Pause();
      }
    } while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(100));
    sleeping_.fetch_add(1);
    std::uint64_t state = state_.load();
    while (!is_new(state)) {
      state_.wait(state);
      state = state_.load();
    }
    sleeping_.fetch_sub(1);
    return state;
  }

  std::atomic<std::uint64_t> state_{0};
  std::atomic<int> sleeping_{0}, places_{0};
  struct alignas(64) Share {  // a range of a round's indices, in one cache line
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };
  std::vector<Share> shares_;
  std::size_t used_ = 0;             // number of ranges in this round
  std::atomic<bool> failed_{false};  // true if a body has thrown in this round
  std::exception_ptr failure_;       // the first exception
  const std::function<void(std::int64_t)>* body_ = nullptr;
  int workers_ = 0;
};

}  // namespace

int Threads() { return inside_a_body ? 1 : Bound().load(std::memory_order_relaxed); }

void SetThreads(int threads) {
  Check(threads >= 1 && threads <= 4096, "threads must be from 1 to 4096, not {}", threads);
  Bound().store(threads, std::memory_order_relaxed);
}

OneThread::OneThread() { inside_a_body = true; }
OneThread::~OneThread() { inside_a_body = false; }

void ParallelFor(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  // The pool serves one caller at a time. Other callers compute on their own threads, so that there are never more
  // threads than callers and workers.
  static std::mutex busy;
  static Pool* pool = new Pool;  // never destroyed: its threads sleep until the process ends
  const int threads = static_cast<int>(std::min<std::int64_t>(Threads(), count));
  std::unique_lock<std::mutex> lock(busy, std::defer_lock);
  if (threads <= 1 || !lock.try_lock()) {
    for (std::int64_t index = 0; index < count; ++index) body(index);
    return;
  }
  pool->Run(count, threads, body);
}

}  // namespace headlight
