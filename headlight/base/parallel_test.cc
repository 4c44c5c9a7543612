#include "headlight/base/parallel.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "headlight/base/error.h"

namespace {
std::atomic<bool> threads_are_refused = false;
}  // namespace

// Replaces pthread_create of the system, and calls it unless the test simulates that no threads are left.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
  if (threads_are_refused) return EAGAIN;
  // clang links the interceptor of its sanitizers into the program, so RTLD_NEXT would skip it.
  static void* const sanitizers = dlsym(RTLD_DEFAULT, "__interceptor_pthread_create");
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(
      sanitizers != nullptr ? sanitizers : dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, start, argument);
}

namespace headlight::parallel_test {
namespace {

// Sets the number of threads for one test.
class WithThreads {
 public:
  explicit WithThreads(int threads) : before_(Threads()) { SetThreads(threads); }
  ~WithThreads() { SetThreads(before_); }

 private:
  int before_;
};

TEST(ParallelFor, ContinuesWithoutThreadsThatCannotBeCreated) {
  const WithThreads with(3);
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  threads_are_refused = true;
  std::atomic<int> visits{0};
  ParallelFor(100, [&](std::int64_t) { ++visits; });
  threads_are_refused = false;
  EXPECT_EQ(visits, 100);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
}

TEST(ParallelFor, RethrowsAnExceptionAndIsUsableAfterwards) {
  for (const int threads : {1, 2, 8}) {
    const WithThreads with(threads);
    for (const std::int64_t thrower : {0, 1, 57, 99}) {
      EXPECT_THROW(ParallelFor(100,
                               [&](std::int64_t index) {
                                 if (index == thrower) throw std::out_of_range("it");
                               }),
                   std::out_of_range);
      EXPECT_THROW(ParallelFor(100, [&](std::int64_t) { throw Error("each"); }), Error);
      std::atomic<int> visits{0};
      ParallelFor(100, [&](std::int64_t) { visits += Threads() == 1 ? 1 : 1000; });
      EXPECT_EQ(visits, 100) << "each index once, inside of a body";
      EXPECT_EQ(Threads(), threads) << "outside of a body again";
    }
  }
}

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const WithThreads with(threads);
    for (const int count : {0, 1, 2, 3, 7, 100, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      ParallelFor(count, [&](std::int64_t index) { ++visits[static_cast<std::size_t>(index)]; });
      for (const auto& visit : visits) ASSERT_EQ(visit, 1);
    }
  }
}

// Two threads each start with half of the indices. While the first thread waits in its first index, the second thread
// reaches index 50 before any other index.
TEST(ParallelFor, AssignsContiguousRanges) {
  const WithThreads with(2);
  std::latch both(2);
  std::atomic<int> others{0};
  ParallelFor(100, [&](std::int64_t index) {
    if (index != 0 && index != 50) {
      ++others;
      return;
    }
    EXPECT_EQ(others, 0) << index;
    both.count_down();
    for (int turn = 0; turn < 3000 && !both.try_wait(); ++turn)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(both.try_wait()) << index;
  });
}

TEST(ParallelFor, RunsManyShortRounds) {
  const WithThreads with(4);
  std::atomic<std::int64_t> sum{0};
  for (int round = 0; round < 20000; ++round) ParallelFor(3, [&](std::int64_t index) { sum += index; });
  EXPECT_EQ(sum, 3 * 20000);
}

TEST(ParallelFor, NestedCallsRunInLine) {
  const WithThreads with(2);
  std::atomic<int> visits{0};
  ParallelFor(4, [&](std::int64_t) { ParallelFor(5, [&](std::int64_t) { ++visits; }); });
  EXPECT_EQ(visits, 20);
}

TEST(ParallelFor, ServesCallersOnManyThreads) {
  const WithThreads with(2);
  std::atomic<int> visits{0};
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) ParallelFor(10, [&](std::int64_t) { ++visits; });
    });
  callers.clear();
  EXPECT_EQ(visits, 4 * 500 * 10);
}

// Counts the largest number of bodies that ran at the same time.
class Gauge {
 public:
  void Visit() {
    const int now = ++running_;
    int most = most_;
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    --running_;
  }
  int most() const { return most_; }

 private:
  std::atomic<int> running_{0}, most_{0};
};

TEST(ParallelFor, RunsNoMoreAtOnceThanAllowed) {
  const WithThreads with(3);
  Gauge one, nested, callers;
  ParallelFor(60, [&](std::int64_t) { one.Visit(); });
  EXPECT_LE(one.most(), 3);
  EXPECT_GT(one.most(), 1);
  ParallelFor(6, [&](std::int64_t) { ParallelFor(5, [&](std::int64_t) { nested.Visit(); }); });
  EXPECT_LE(nested.most(), 3);

  std::vector<std::jthread> threads;
  for (int caller = 0; caller < 4; ++caller)
    threads.emplace_back([&] { ParallelFor(20, [&](std::int64_t) { callers.Visit(); }); });
  threads.clear();
  EXPECT_LE(callers.most(), 4 + 2);
}

TEST(SetThreads, RejectsValuesOutOfRange) {
  const int before = Threads();
  EXPECT_GE(before, 1);
  for (const int threads : {0, -1, 4097}) {
    try {
      SetThreads(threads);
      ADD_FAILURE() << threads;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::EndsWith("not " + std::to_string(threads)));
    }
  }
  EXPECT_EQ(Threads(), before);
}

}  // namespace
}  // namespace headlight::parallel_test
