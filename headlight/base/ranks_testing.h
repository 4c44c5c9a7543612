// Runs ranks as threads of one process, for tests.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "headlight/base/ranks.h"

namespace headlight {

// Pending messages by (from, to, tag).
struct ThreadMail {
  std::mutex mutex;
  std::map<std::tuple<int, int, int>, std::map<std::int64_t, std::vector<std::byte>>> boxes;  // by message number
  int failed = -1;  // a rank that has ended with an exception
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(std::shared_ptr<ThreadMail> mail, int rank, int size)
      : mail_(std::move(mail)), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void* Begin(const Transfer& transfer) override {
    const std::lock_guard lock(mail_->mutex);
    const std::int64_t number = numbers_[{transfer.peer, transfer.sends, transfer.tag}]++;
    if (transfer.sends)
      mail_->boxes[{rank_, transfer.peer, transfer.tag}][number].assign(transfer.bytes.begin(), transfer.bytes.end());
    return new std::int64_t(number);
  }

  std::vector<std::size_t> Done(std::span<const BegunTransfer> begun) override {
    const std::lock_guard lock(mail_->mutex);
    std::vector<std::size_t> done;
    for (std::size_t i = 0; i < begun.size(); ++i) {
      const auto& [transfer, handle] = begun[i];
      if (!transfer.sends) {
        auto& box = mail_->boxes[{transfer.peer, rank_, transfer.tag}];
        const auto found = box.find(*static_cast<std::int64_t*>(handle));
        if (found == box.end()) continue;
        if (found->second.size() != transfer.bytes.size()) throw std::logic_error("a message of another size");
        std::ranges::copy(found->second, transfer.bytes.begin());
        box.erase(found);
      }
      GiveUp(handle);
      done.push_back(i);
    }
    return done;
  }

  void GiveUp(void* handle) override { delete static_cast<std::int64_t*>(handle); }

  int Failed() override {
    const std::lock_guard lock(mail_->mutex);
    return mail_->failed;
  }

 private:
  std::shared_ptr<ThreadMail> mail_;
  int rank_, size_;
  std::map<std::tuple<int, bool, int>, std::int64_t> numbers_;  // number of the next message by (peer, sends, tag)
};

// Runs body(ranks) on `size` ranks. Rethrows the first exception of a rank.
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
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace headlight
