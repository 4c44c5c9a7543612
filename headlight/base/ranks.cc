#include "headlight/base/ranks.h"

#include <fmt/format.h>

namespace headlight {
namespace {

// The same bytes to every other rank; theirs come into `others`, [size] of which the own place is left out.
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
