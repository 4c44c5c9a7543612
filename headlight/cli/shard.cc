#include "headlight/cli/shard.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/mpi_ranks.h"
#include "headlight/cli/output.h"

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
  Check(good, "--shard {}: expected I/N, such as 3/8, the third of eight parts", text);
  return shard;
}

}  // namespace

CLI::Option* AddShard(CLI::App& command, Shard& shard) {
  return command
      .add_option_function<std::string>(
          "--shard", [&shard](const std::string& text) { shard = Parse(text); },
          "Process part I of N parts of the input alone, whose outputs one after another are those of all; under "
          "mpirun each rank takes its own")
      ->type_name("I/N");
}

Shard ShardOfRun(const Shard& given) {
  const Ranks* const ranks = JoinedRanks();
  if (ranks == nullptr) return given;
  Check(given.count == 1, "--shard: under mpirun each rank takes its own part");
  SetRankTimeout(std::numeric_limits<double>::infinity());  // parts take as long as they take
  return {ranks->rank() + std::int64_t{1}, ranks->size()};
}

void GatherResults() {
  Ranks* const ranks = JoinedRanks();
  if (ranks == nullptr) return;
  for (int rank = 1; rank < ranks->size(); ++rank) {
    if (ranks->rank() != 0 && ranks->rank() != rank) continue;
    std::string& results = HeldResults();
    const int peer = ranks->rank() == 0 ? rank : 0;
    const bool sends = peer == 0;
    std::uint64_t size = results.size();
    const Transfer length{peer, sends, BytesOf(std::span(&size, 1))};
    ranks->Exchange({&length, 1});
    if (!sends) results.resize(size);
    const Transfer text{peer, sends, BytesOf(std::span(results))};
    ranks->Exchange({&text, 1});
    if (!sends) WriteResult(results);
  }
}

}  // namespace headlight
