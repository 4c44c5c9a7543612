// Ranks: the processes of one run, as one of them sees them. Nothing here knows what carries the messages.
#pragma once

#include <algorithm>
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
};

class HEADLIGHT_API Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Sends and receives all of these at once, and returns when all have gone and come. Messages from one rank to another
  // arrive in the order in which they are listed. Throws OtherRankFailed, and what `waiting` throws.
  virtual void Exchange(std::span<const Transfer> transfers) = 0;

  // Called now and then while an Exchange waits, with the peers that it waits for, in ascending order, and for how many
  // seconds; to give up it throws. May be empty.
  std::function<void(std::span<const int> peers, double seconds)> waiting;

  std::vector<std::string> hosts;  // of each rank, for messages; may be empty
  std::int64_t bytes_sent = 0;     // so far
  double seconds_waited = 0;       // in Exchange
  std::int64_t step = 0;           // that the run is at, for messages

  // "rank 3 (host b)"
  std::string Name(int of) const;
};

// Thrown where another rank has ended with an error, which it reports itself.
struct OtherRankFailed {
  int rank = 0;
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
