// Selects the part of a command's inputs that one process works on.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "headlight/base/option_table.h"
#include "headlight/base/ranks.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headlight {

// One of `count` contiguous parts of the inputs. `index` is counted from 1. The concatenated outputs of all parts equal
// the output of the full run.
struct Shard {
  std::int64_t index = 1, count = 1;

  // Returns the bounds of the range [begin, end) of inputs in this part.
  std::int64_t begin(std::int64_t inputs) const { return inputs * (index - 1) / count; }
  std::int64_t end(std::int64_t inputs) const { return inputs * index / count; }
};

// Adds --shard, which sets `shard`. The shard must outlive the program.
Option& AddShard(OptionTable& command, Shard& shard);

// Returns `given`, or this rank's shard in a run with mpirun. Throws Error if --shard is given with mpirun.
Shard ShardOfRun(const Shard& given);

// Notifies the other ranks on a separate thread every `period` seconds that this rank is alive. The other ranks wait
// for this rank's part, which may take hours. If the notifications stop, the other ranks time out.
class Heartbeat {
 public:
  Heartbeat(Ranks& ranks, double period);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void Work();

  Ranks& ranks_;
  double period_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

// Sends part(i) for all i below `count` to the first rank. The first rank calls take(part) for each part of the other
// ranks, in order.
void SendParts(Ranks& ranks, std::size_t count, const std::function<std::string(std::size_t index)>& part,
               const std::function<void(std::string part)>& take);

// Returns the sum of `own` over all ranks, on each rank. With one rank, returns `own`.
std::int64_t SumOfShards(std::int64_t own);

// Collects the results of all ranks in a run with mpirun. The first rank prints the results of the other ranks after
// its own. Must be the last action of a command.
void GatherResults();

}  // namespace headlight
