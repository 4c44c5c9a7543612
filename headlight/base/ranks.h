// Communication between the ranks, which are the processes of a run. This interface is independent of the transport.
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

/// A message to or from another rank. Both ranks must pass the size of the message.
struct Transfer {
  int peer = 0;
  bool sends = false;
  std::span<std::byte> bytes;
  int tag = 0;  ///< messages between two ranks with the same tag arrive in the order in which they are begun
};

/// A pending transfer, and its handle in the transport.
struct BegunTransfer {
  Transfer transfer;
  void* handle = nullptr;
};

class HEADLIGHT_API Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sends and receives all transfers concurrently, and returns when they are complete. Throws OtherRankFailed, and
  /// exceptions thrown by `waiting`.
  void Exchange(std::span<const Transfer> transfers);

  /// Used by Transfers, from one thread at a time. Begin starts a transfer of at most 1 GiB. Its bytes must stay valid
  /// until the transfer is done or given up. Done returns the sorted indices of completed transfers, whose handles
  /// become invalid. It throws Error if a connection is lost. Failed returns a rank that has reported an error, or -1.
  virtual void* Begin(const Transfer& transfer) = 0;
  virtual std::vector<std::size_t> Done(std::span<const BegunTransfer> begun) = 0;
  virtual void GiveUp(void* handle) = 0;
  virtual int Failed() = 0;

  /// Called occasionally while this rank waits, with the sorted peers that have not answered and the seconds since the
  /// last answer. The function may throw to give up. It may be empty.
  std::function<void(std::span<const int> peers, double seconds)> waiting;

  std::vector<std::string> hosts;  ///< host name of each rank, for messages; may be empty
  std::int64_t bytes_sent = 0;     ///< bytes sent so far
  double seconds_waited = 0;       ///< seconds that this rank was idle
  double seconds_sending = 0;      ///< seconds while a message to another rank was pending
  double seconds_hidden = 0;       ///< the part of seconds_sending in which this rank computed
  std::int64_t step = 0;           ///< the run's current step, for messages

  /// Returns the name of a rank for messages: "rank 3 (host b)".
  std::string Name(int of) const;
};

/// Thrown if another rank has ended with an error. The other rank reports the error itself.
struct OtherRankFailed {
  int rank = 0;
};

/// Pending transfers, used from one thread at a time.
class HEADLIGHT_API Transfers {
 public:
  explicit Transfers(Ranks& ranks) : ranks_(ranks) {}
  ~Transfers();  ///< gives up pending transfers
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  /// Starts a transfer. When it is complete, Poll or Wait calls `then`, which may begin other transfers.
  void Begin(const Transfer& transfer, std::function<void()> then = {});

  /// Returns false if no transfer has completed since the last call. Throws OtherRankFailed.
  bool Poll();

  /// Waits until all transfers are complete. Throws OtherRankFailed, and exceptions thrown by Ranks::waiting.
  void Wait();

  bool sending() const { return sends_ > 0; }

 private:
  using Clock = std::chrono::steady_clock;

  Ranks& ranks_;
  std::vector<BegunTransfer> begun_;
  std::vector<std::function<void()>> then_;  // the callback `then` of each transfer
  std::int64_t sends_ = 0;                   // number of sends among the pending transfers
  bool waits_ = false;
  Clock::time_point polled_, looked_;  // looked_: time of the last check for failed ranks
};

/// Returns values as bytes to send.
template <typename T>
std::span<std::byte> BytesOf(std::span<T> values) {
  return {reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(values.data())), values.size_bytes()};
}

/// Converts received bytes to values.
template <typename T>
std::vector<T> NumbersOf(std::string_view bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::copy_n(bytes.begin(), numbers.size() * sizeof(T), reinterpret_cast<char*>(numbers.data()));
  return numbers;
}

/// Gathers parts of equal length from all ranks (all-gather). `all` has [size] parts. Each rank must provide its own
/// part, and receives the other parts.
HEADLIGHT_API void GatherSame(Ranks& ranks, std::span<std::byte> all);

/// Gathers bytes of any length from all ranks. Returns the bytes of each rank, [size].
HEADLIGHT_API std::vector<std::string> GatherToAll(Ranks& ranks, std::string_view own);

/// Overwrites `bytes` on the other ranks with the bytes of rank 0.
HEADLIGHT_API void Broadcast(Ranks& ranks, std::span<std::byte> bytes);
HEADLIGHT_API std::string Broadcast(Ranks& ranks, std::string_view text);  ///< returns the text of rank 0

}  // namespace headlight
