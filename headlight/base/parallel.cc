#include "headlight/base/parallel.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>

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

}  // namespace

int Threads() { return Bound().load(std::memory_order_relaxed); }

void SetThreads(int threads) {
  Check(threads >= 1 && threads <= 4096, "threads must be from 1 to 4096, not {}", threads);
  Bound().store(threads, std::memory_order_relaxed);
}

void ParallelFor(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  // The pool serves one caller at a time; the others meanwhile compute on their own thread, so that many callers
  // together never run more threads than there are callers and pool.
  static std::mutex pool;
  const int threads = static_cast<int>(std::min<std::int64_t>(Threads(), count));
  std::unique_lock<std::mutex> lock(pool, std::defer_lock);
  if (threads <= 1 || omp_in_parallel() || !lock.try_lock()) {
    for (std::int64_t index = 0; index < count; ++index) body(index);
    return;
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::int64_t index = 0; index < count; ++index) body(index);
}

}  // namespace headlight
