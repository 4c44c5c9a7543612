#include "headlight/cli/commands/shard.h"

#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/option_table.h"
#include "headlight/cli/program/mpi_ranks.h"
#include "headlight/cli/terminal/output.h"

namespace headlight {
namespace {

Shard Parse(const std::string& text) {
  Shard shard;
  const char *const begin = text.data(), *const end = begin + text.size();
  const auto [slash, bad_index] = std::from_chars(begin, end, shard.index);
  bool good = bad_index == std::errc() && slash != end && *slash == '/';
  if (good) {
    const auto [stop, bad_count] = std::from_chars(slash + 1, end, shard.count);
    good = bad_count == std::errc() && stop == end && shard.index >= 1 && shard.index <= shard.count &&
           shard.count <= 1'000'000;
  }
  Check(good, "--shard {}: must be I/N, such as 3/8 for the third of eight parts", text);
  return shard;
}

// Messages between ranks that process their shards. `kAlive` only shows that a rank is alive.
constexpr int kWords = 1;  // MPI tag
constexpr std::uint64_t kAlive = std::numeric_limits<std::uint64_t>::max();

void SendWord(Ranks& ranks, int peer, std::uint64_t word) {
  const Transfer one{peer, true, BytesOf(std::span(&word, 1)), kWords};
  ranks.Exchange({&one, 1});
}

std::uint64_t AwaitWord(Ranks& ranks, int peer) {
  std::uint64_t word = kAlive;
  const Transfer one{peer, false, BytesOf(std::span(&word, 1)), kWords};
  while (word == kAlive) ranks.Exchange({&one, 1});
  return word;
}

std::optional<Heartbeat>& TheSigns() {
  static std::optional<Heartbeat> signs;
  return signs;
}

}  // namespace

Option& AddShard(OptionTable& command, Shard& shard) {
  return command
      .AddFunction(
          "--shard", [&shard](const std::string& text) { shard = Parse(text); },
          "Process only part I of N parts of the input; concatenated outputs equal the full run; with "
          "mpirun each rank processes its own part")
      .Type("I/N");
}

Shard ShardOfRun(const Shard& given) {
  Ranks* const ranks = JoinedRanks();
  if (ranks == nullptr) return given;
  Check(given.count == 1, "--shard cannot be given with mpirun: each rank processes its own part");
  if (!TheSigns()) TheSigns().emplace(*ranks, RankTimeout() / 20);
  return {ranks->rank() + std::int64_t{1}, ranks->size()};
}

Heartbeat::Heartbeat(Ranks& ranks, double period) : ranks_(ranks), period_(period) {
  thread_ = std::thread([this] { Work(); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Heartbeat::Work() {
  std::uint64_t word = kAlive;
  std::vector<BegunTransfer> begun;
  const auto stops = [&] {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::duration<double>(period_), [this] { return stopping_; });
  };
  try {
    do {
      const std::vector<std::size_t> done = ranks_.Done(begun);
      for (auto index = done.rbegin(); index != done.rend(); ++index)
        begun.erase(begun.begin() + static_cast<std::ptrdiff_t>(*index));
      for (int peer = 0; peer < ranks_.size(); ++peer) {
        if ((ranks_.rank() != 0 && peer != 0) || peer == ranks_.rank()) continue;
        const Transfer sign{peer, true, BytesOf(std::span(&word, 1)), kWords};
        begun.push_back({sign, ranks_.Begin(sign)});
      }
    } while (!stops());
  } catch (const Error&) {  // a lost connection, which the other ranks also report
  }
  for (const BegunTransfer& sign : begun) ranks_.GiveUp(sign.handle);
}

void SendParts(Ranks& ranks, std::size_t count, const std::function<std::string(std::size_t index)>& part,
               const std::function<void(std::string part)>& take) {
  const auto exchange = [&](int peer, bool sends, std::string& text) {
    const Transfer one{peer, sends, BytesOf(std::span(text))};
    ranks.Exchange({&one, 1});
  };
  if (ranks.rank() != 0) {
    AwaitWord(ranks, 0);  // waits until the preceding ranks have sent their parts
    SendWord(ranks, 0, count);
    for (std::size_t i = 0; i < count; ++i) {
      std::string own = part(i);
      SendWord(ranks, 0, own.size());
      exchange(0, true, own);
    }
    return;
  }
  for (int rank = 1; rank < ranks.size(); ++rank) {
    SendWord(ranks, rank, 0);
    for (std::uint64_t left = AwaitWord(ranks, rank); left > 0; --left) {
      std::string text(AwaitWord(ranks, rank), '\0');
      exchange(rank, false, text);
      take(std::move(text));
    }
  }
}

std::int64_t SumOfShards(std::int64_t own) {
  Ranks* const ranks = JoinedRanks();
  if (ranks == nullptr) return own;
  SendParts(
      *ranks, 1, [&](std::size_t) { return fmt::format("{}", own); },
      [&](const std::string& other) { own += std::stoll(other); });
  if (ranks->rank() != 0) return static_cast<std::int64_t>(AwaitWord(*ranks, 0));
  for (int rank = 1; rank < ranks->size(); ++rank) SendWord(*ranks, rank, static_cast<std::uint64_t>(own));
  return own;
}

void GatherResults() {
  Ranks* const ranks = JoinedRanks();
  if (ranks == nullptr || !TheSigns()) return;
  SendParts(
      *ranks, 1, [](std::size_t) { return std::move(HeldResults()); },
      [](const std::string& results) { WriteResult(results); });
  TheSigns().reset();
}

}  // namespace headlight
