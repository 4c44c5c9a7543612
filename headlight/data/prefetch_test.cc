#include "headlight/data/prefetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>

namespace headlight::prefetch_test {
namespace {

TEST(Prefetch, ReturnsMoveOnlyItemsInOrder) {
  int made = 0;
  Prefetch<std::unique_ptr<int>> prefetch([&] { return std::make_unique<int>(made++); }, 3);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(*prefetch.Next(), i);
}

TEST(Prefetch, KeepsTheStateOfTheProducer) {
  Prefetch<int> prefetch([made = 0]() mutable { return made++; }, 3);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(prefetch.Next(), i);
}

TEST(Prefetch, WorksAheadUpToTheDepth) {
  std::atomic<int> made = 0;
  Prefetch<int> prefetch([&] { return made++; }, 4);
  while (made < 4) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(made, 4);
  EXPECT_EQ(prefetch.Next(), 0);
  while (made < 5) std::this_thread::yield();
}

TEST(Prefetch, ThrowsInTheConsumerAfterEarlierItems) {
  int made = 0;
  Prefetch<int> prefetch([&] { return made < 3 ? made++ : throw std::runtime_error("no more"); }, 10);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(prefetch.Next(), i);
  for (int i = 0; i < 2; ++i) EXPECT_THROW(prefetch.Next(), std::runtime_error);
}

TEST(Prefetch, KeepsTheOrderOfThePlanWithSeveralThreads) {
  int planned = 0;
  const auto plan = [&] {
    return [number = planned++] {
      std::this_thread::sleep_for(std::chrono::microseconds(number * 7919 % 300));  // later items can be ready sooner
      return number;
    };
  };
  Prefetch<int> prefetch(plan, 6, 4);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(prefetch.Next(), i);
}

TEST(Prefetch, SeveralThreadsWorkAtOnce) {
  std::atomic<int> at_work = 0;
  const auto plan = [&]() -> std::function<int()> {
    return [&] {
      ++at_work;
      while (at_work < 3) std::this_thread::yield();
      return 1;
    };
  };
  Prefetch<int> prefetch(plan, 3, 3);
  EXPECT_EQ(prefetch.Next(), 1);
}

TEST(Prefetch, ThrowsErrorsOfAnyThreadInOrder) {
  int planned = 0;
  const auto plan = [&]() -> std::function<int()> {
    return [number = planned++] { return number == 20 ? throw std::runtime_error("the twentieth") : number; };
  };
  Prefetch<int> prefetch(plan, 5, 3);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(prefetch.Next(), i);
  for (int i = 0; i < 2; ++i) EXPECT_THROW(prefetch.Next(), std::runtime_error);
}

TEST(Prefetch, CanBeDestroyedAtAnyTime) {
  for (int taken = 0; taken < 5; ++taken)
    for (const std::size_t depth : {1, 2, 100000}) {
      int made = 0;
      Prefetch<int> prefetch([&] { return made++; }, depth);
      for (int i = 0; i < taken; ++i) ASSERT_EQ(prefetch.Next(), i);
    }
  Prefetch<int> failed([]() -> int { throw std::runtime_error("unread"); }, 1);
}

}  // namespace
}  // namespace headlight::prefetch_test
