#include "headlight/train/shared_pass.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>

#include "headlight/generate/hypothesis.h"

namespace headlight {
namespace {

constexpr int kSigns = 2;  // message tag

// Sends heartbeats to the ranks that wait for this rank's part. A rank without a heartbeat for some time counts as
// lost.
class Signs {
 public:
  explicit Signs(Ranks& ranks) : ranks_(ranks), sent_(ranks) {}

  // Sends a heartbeat, at most once per second. Thread-safe.
  void Working() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    const auto now = std::chrono::steady_clock::now();
    if (!lock || now - told_ < std::chrono::seconds(1)) return;
    told_ = now;
    Tell(kWorking);
    sent_.Poll();
  }

  // Waits until all other ranks are done.
  void Done() {
    const std::lock_guard lock(mutex_);
    Tell(kDone);
    for (int peer = 0; peer < ranks_.size(); ++peer) {
      std::array<std::byte, 1> sign = {peer == ranks_.rank() ? kDone : kWorking};
      const Transfer receipt{peer, false, sign, kSigns};
      while (sign[0] != kDone) ranks_.Exchange({&receipt, 1});
    }
    sent_.Wait();
  }

 private:
  static constexpr std::byte kWorking{0}, kDone{1};

  void Tell(const std::byte& sign) {
    for (int peer = 0; peer < ranks_.size(); ++peer)
      if (peer != ranks_.rank()) sent_.Begin({peer, true, BytesOf(std::span(&sign, 1)), kSigns});
  }

  Ranks& ranks_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
  Transfers sent_;
};

}  // namespace

std::vector<std::string> SharedPass(
    const PassWatch& watch, const std::function<std::string(int part, int parts, const CancelCheck& cancelled)>& body) {
  if (watch.ranks == nullptr) return {body(0, 1, watch.cancelled)};
  Ranks& ranks = *watch.ranks;
  Signs signs(ranks);
  std::string own(1, '-');  // '-' if cancelled; otherwise '+' and the result
  try {
    const std::string found = body(ranks.rank(), ranks.size(), [&] {
      signs.Working();
      return watch.cancelled && watch.cancelled();
    });
    own.front() = '+';
    own.append(found);
  } catch (const Cancelled&) {
  }
  signs.Done();
  std::vector<std::string> all = GatherToAll(ranks, own);
  for (std::string& found : all) {
    if (found.front() == '-') throw Cancelled();
    found.erase(0, 1);
  }
  return all;
}

std::vector<std::vector<double>> SharedBlocks(
    const PassWatch& watch, std::int64_t examples, std::int64_t at_once,
    const std::function<std::vector<double>(std::int64_t begin, std::int64_t end)>& numbers_of) {
  const std::int64_t count = (examples + at_once - 1) / at_once;
  // The result is the number of values of each block, followed by the values.
  const auto found = SharedPass(watch, [&](int part, int parts, const CancelCheck& cancelled) {
    std::vector<double> own;
    for (std::int64_t block = part; block < count; block += parts) {
      if (cancelled && cancelled()) throw Cancelled();
      const std::int64_t begin = block * at_once, end = std::min(examples, begin + at_once);
      const std::vector<double> numbers = numbers_of(begin, end);
      own.push_back(static_cast<double>(numbers.size()));
      own.insert(own.end(), numbers.begin(), numbers.end());
      if (watch.progress) watch.progress(end, examples);
    }
    return std::string(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double));
  });
  std::vector<std::vector<double>> blocks(static_cast<std::size_t>(count));
  for (std::size_t part = 0; part < found.size(); ++part) {
    const std::vector<double> numbers = NumbersOf<double>(found[part]);
    auto at = numbers.begin();
    for (std::size_t block = part; block < blocks.size(); block += found.size()) {
      const auto length = static_cast<std::ptrdiff_t>(*at++);
      blocks[block].assign(at, at + length);
      at += length;
    }
  }
  return blocks;
}

}  // namespace headlight
