// Ranks that are threads of one process, for tests.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "headlight/base/ranks.h"

namespace headlight {

// The messages on their way, by (from, to).
struct ThreadMail {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> boxes;
  int failed = -1;  // a rank that has ended with an exception
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(std::shared_ptr<ThreadMail> mail, int rank, int size)
      : mail_(std::move(mail)), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void Exchange(std::span<const Transfer> transfers) override {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mail_->mutex);
    for (const Transfer& transfer : transfers)
      if (transfer.sends) {
        mail_->boxes[{rank_, transfer.peer}].emplace_back(transfer.bytes.begin(), transfer.bytes.end());
        bytes_sent += std::ssize(transfer.bytes);
      }
    mail_->changed.notify_all();
    for (const Transfer& transfer : transfers) {
      if (transfer.sends) continue;
      auto& box = mail_->boxes[{transfer.peer, rank_}];
      while (box.empty()) {
        if (mail_->failed >= 0) throw OtherRankFailed{mail_->failed};
        mail_->changed.wait_for(lock, std::chrono::milliseconds(5));
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        if (box.empty() && waiting) waiting(std::span(&transfer.peer, 1), seconds.count());
      }
      if (box.front().size() != transfer.bytes.size()) throw std::logic_error("a message of another size");
      std::ranges::copy(box.front(), transfer.bytes.begin());
      box.pop_front();
    }
  }

 private:
  std::shared_ptr<ThreadMail> mail_;
  int rank_, size_;
};

// Runs body(ranks) as so many ranks. The first exception of a rank reaches the caller.
inline void RunRanks(int size, const std::function<void(Ranks&)>& body) {
  const auto mail = std::make_shared<ThreadMail>();
  std::vector<std::thread> threads;
  std::exception_ptr failure;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRanks ranks(mail, rank, size);
      try {
        body(ranks);
      } catch (...) {
        const std::lock_guard lock(mail->mutex);
        if (mail->failed < 0) {
          mail->failed = rank;
          failure = std::current_exception();
        }
        mail->changed.notify_all();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace headlight
