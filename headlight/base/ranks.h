// Ranks: the processes of one run, as one of them sees them. Nothing here knows what carries the messages.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

// A message to or from another rank. Both sides know its size.
struct Transfer {
  int peer = 0;
  bool sends = false;
  std::span<std::byte> bytes;
  int tag = 0;  // messages from one rank to another arrive in the order in which those of their tag are begun
};

// A transfer under way, and what its carrier knows it by.
struct BegunTransfer {
  Transfer transfer;
  void* handle = nullptr;
};

class HEADLIGHT_API Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Sends and receives all of these at once, and returns when all have gone and come. Throws OtherRankFailed, and what
  // `waiting` throws.
  void Exchange(std::span<const Transfer> transfers);

  // For Transfers, by one thread at a time. Begin: of at most 1 GiB; the bytes stay where they are until it is done or
  // given up. Done: the indices of those that are done, ascending, whose handles are no more; throws Error where a
  // connection is lost. Failed: a rank that has told that it ends with an error, or -1.
  virtual void* Begin(const Transfer& transfer) = 0;
  virtual std::vector<std::size_t> Done(std::span<const BegunTransfer> begun) = 0;
  virtual void GiveUp(void* handle) = 0;
  virtual int Failed() = 0;

  // Called now and then where all wait for others, with the peers that have not answered, in ascending order, and the
  // seconds since the last answer; to give up it throws. May be empty.
  std::function<void(std::span<const int> peers, double seconds)> waiting;

  std::vector<std::string> hosts;  // of each rank, for messages; may be empty
  std::int64_t bytes_sent = 0;     // so far
  double seconds_waited = 0;       // without doing anything else
  double seconds_sending = 0;      // while something was on its way to another rank
  double seconds_hidden = 0;       // of these, those in which this rank computed
  std::int64_t step = 0;           // that the run is at, for messages

  // "rank 3 (host b)"
  std::string Name(int of) const;
};

// Thrown where another rank has ended with an error, which it reports itself.
struct OtherRankFailed {
  int rank = 0;
};

// Transfers under way, of one thread at a time.
class HEADLIGHT_API Transfers {
 public:
  explicit Transfers(Ranks& ranks) : ranks_(ranks) {}
  ~Transfers();  // gives up what is left
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  // `then` is called when it is done, by Poll or Wait, and may begin others.
  void Begin(const Transfer& transfer, std::function<void()> then = {});

  // False where nothing is done since the last call. Throws OtherRankFailed.
  bool Poll();

  // Until nothing is left. Throws OtherRankFailed, and what Ranks::waiting throws.
  void Wait();

  bool sending() const { return sends_ > 0; }

 private:
  using Clock = std::chrono::steady_clock;

  Ranks& ranks_;
  std::vector<BegunTransfer> begun_;
  std::vector<std::function<void()>> then_;  // of each
  std::int64_t sends_ = 0;                   // of these
  bool waits_ = false;
  Clock::time_point polled_, looked_;  // looked: for ranks that failed
};

// Numbers as the bytes that are sent.
template <typename T>
std::span<std::byte> BytesOf(std::span<T> values) {
  return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(values.data())), values.size_bytes()};
}

// The numbers whose bytes these are.
template <typename T>
std::vector<T> NumbersOf(std::string_view bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::copy_n(bytes.begin(), numbers.size() * sizeof(T), reinterpret_cast<char*>(numbers.data()));
  return numbers;
}

// Fills the others' parts of `all`, [size] parts of the same length, of which each rank has its own.
HEADLIGHT_API void GatherSame(Ranks& ranks, std::span<std::byte> all);

// The bytes of each rank, [size], of any lengths.
HEADLIGHT_API std::vector<std::string> GatherToAll(Ranks& ranks, std::string_view own);

// Rank 0's bytes, in the place of the others'.
HEADLIGHT_API void Broadcast(Ranks& ranks, std::span<std::byte> bytes);
HEADLIGHT_API std::string Broadcast(Ranks& ranks, std::string_view text);  // rank 0's, of any length

}  // namespace headlight
