#include "headlight/base/ranks.h"

#include <fmt/format.h>
#include <sched.h>

#include <thread>
#include <utility>

namespace headlight {
namespace {

double SecondsBetween(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

// Sends `own` to all other ranks, and receives the bytes of each other rank into others(rank).
void ExchangeWithAll(Ranks& ranks, std::span<std::byte> own, const std::function<std::span<std::byte>(int)>& others) {
  std::vector<Transfer> transfers;
  for (int peer = 0; peer < ranks.size(); ++peer) {
    if (peer == ranks.rank()) continue;
    transfers.push_back({peer, true, own});
    transfers.push_back({peer, false, others(peer)});
  }
  ranks.Exchange(transfers);
}

}  // namespace

std::string Ranks::Name(int of) const {
  if (hosts.empty()) return fmt::format("rank {}", of);
  return fmt::format("rank {} (host {})", of, hosts[static_cast<std::size_t>(of)]);
}

void Ranks::Exchange(std::span<const Transfer> transfers) {
  constexpr std::size_t most = std::size_t{1} << 30;  // bytes per message
  Transfers all(*this);
  for (const Transfer& whole : transfers)
    for (std::size_t at = 0; at < whole.bytes.size(); at += most) {
      Transfer part = whole;
      part.bytes = whole.bytes.subspan(at, std::min(most, whole.bytes.size() - at));
      all.Begin(part);
    }
  all.Wait();
}

Transfers::~Transfers() {
  for (const BegunTransfer& one : begun_) ranks_.GiveUp(one.handle);
}

void Transfers::Begin(const Transfer& transfer, std::function<void()> then) {
  begun_.push_back({transfer, ranks_.Begin(transfer)});
  then_.push_back(std::move(then));
  if (!transfer.sends) return;
  ranks_.bytes_sent += std::ssize(transfer.bytes);
  if (sends_++ == 0) polled_ = Clock::now();
}

bool Transfers::Poll() {
  if (begun_.empty()) return false;
  const std::vector<std::size_t> done = ranks_.Done(begun_);
  const Clock::time_point now = Clock::now();
  if (sends_ > 0) {
    const double seconds = SecondsBetween(std::exchange(polled_, now), now);
    ranks_.seconds_sending += seconds;
    if (!waits_) ranks_.seconds_hidden += seconds;
  }
  std::vector<std::function<void()>> callbacks;
  for (auto index = done.rbegin(); index != done.rend(); ++index) {
    const auto at = static_cast<std::ptrdiff_t>(*index);
    if (begun_[*index].transfer.sends) --sends_;
    callbacks.push_back(std::move(then_[*index]));
    begun_.erase(begun_.begin() + at);
    then_.erase(then_.begin() + at);
  }
  for (auto then = callbacks.rbegin(); then != callbacks.rend();
       ++then)  // in the order in which the transfers were begun
    if (*then) (*then)();
  if (SecondsBetween(looked_, now) > 0.05) {
    looked_ = now;
    if (const int failed = ranks_.Failed(); failed >= 0) throw OtherRankFailed{failed};
  }
  return !done.empty();
}

void Transfers::Wait() {
  const Clock::time_point begin = Clock::now();
  Clock::time_point answered = begin, told = begin;
  waits_ = true;
  looked_ = begin;
  while (!begun_.empty()) {
    if (Poll()) {
      answered = Clock::now();
      continue;
    }
    // Only yields the processor during the first 20 ms, which cover a message within a machine. Then sleeps.
    const Clock::time_point now = Clock::now();
    if (SecondsBetween(answered, now) < 0.02)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (SecondsBetween(told, now) < 0.05 || !ranks_.waiting) continue;
    told = now;
    std::vector<int> peers;
    for (const BegunTransfer& one : begun_) peers.push_back(one.transfer.peer);
    std::ranges::sort(peers);
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    ranks_.waiting(peers, SecondsBetween(answered, now));
  }
  waits_ = false;
  ranks_.seconds_waited += SecondsBetween(begin, Clock::now());
}

void GatherSame(Ranks& ranks, std::span<std::byte> all) {
  const std::size_t length = all.size() / static_cast<std::size_t>(ranks.size());
  const auto part = [&](int rank) { return all.subspan(static_cast<std::size_t>(rank) * length, length); };
  ExchangeWithAll(ranks, part(ranks.rank()), part);
}

std::vector<std::string> GatherToAll(Ranks& ranks, std::string_view own) {
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<std::uint64_t> lengths(size, own.size());
  GatherSame(ranks, BytesOf(std::span(lengths)));
  std::vector<std::string> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i].resize(lengths[i]);
  std::string& mine = all[static_cast<std::size_t>(ranks.rank())];
  mine = own;
  ExchangeWithAll(ranks, BytesOf(std::span(mine)),
                  [&](int peer) { return BytesOf(std::span(all[static_cast<std::size_t>(peer)])); });
  return all;
}

void Broadcast(Ranks& ranks, std::span<std::byte> bytes) {
  std::vector<Transfer> transfers;
  if (ranks.rank() != 0) transfers.push_back({0, false, bytes});
  for (int peer = 1; ranks.rank() == 0 && peer < ranks.size(); ++peer) transfers.push_back({peer, true, bytes});
  ranks.Exchange(transfers);
}

std::string Broadcast(Ranks& ranks, std::string_view text) {
  std::uint64_t length = text.size();
  Broadcast(ranks, BytesOf(std::span(&length, 1)));
  std::string all(text);
  all.resize(length);
  Broadcast(ranks, BytesOf(std::span(all)));
  return all;
}

}  // namespace headlight
