// A share of a command's inputs, for work that is divided among machines.
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

// Part `index`, from 1, of `count` parts of neighbours. Their concatenated outputs equal the full run's.
struct Shard {
  std::int64_t index = 1, count = 1;

  // Of so many inputs, those from `begin` to before `end`.
  std::int64_t begin(std::int64_t inputs) const { return inputs * (index - 1) / count; }
  std::int64_t end(std::int64_t inputs) const { return inputs * index / count; }
};

// Binds --shard to `shard`, which must outlive the program.
Option& AddShard(OptionTable& command, Shard& shard);

// `given`, or under mpirun the rank's. Throws Error where it is both.
Shard ShardOfRun(const Shard& given);

// Tells the other ranks every `period` seconds, on a thread of its own, that this one is there: those that wait for its
// part, which may take hours, give up where they do not hear from it.
class SignsOfLife {
 public:
  SignsOfLife(Ranks& ranks, double period);
  ~SignsOfLife();
  SignsOfLife(const SignsOfLife&) = delete;
  SignsOfLife& operator=(const SignsOfLife&) = delete;

 private:
  void Work();

  Ranks& ranks_;
  double period_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

// Calls take(part) on the first rank with the parts of the others, rank by rank: part(i) for i below `count` there.
void SendParts(Ranks& ranks, std::size_t count, const std::function<std::string(std::size_t index)>& part,
               const std::function<void(std::string part)>& take);

// The sum of a number over all ranks, on each of them; alone it is `own`.
std::int64_t SumOfShards(std::int64_t own);

// The last thing that a command does: under mpirun the first rank prints the others' results after its own.
void GatherResults();

}  // namespace headlight
