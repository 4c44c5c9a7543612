// A share of a command's inputs, for work that is divided among machines.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headlight {

// Part `index`, from 1, of `count` parts of neighbours, whose outputs one after another are those of all.
struct Shard {
  std::int64_t index = 1, count = 1;

  // Of so many inputs, those from `begin` to before `end`.
  std::int64_t begin(std::int64_t inputs) const { return inputs * (index - 1) / count; }
  std::int64_t end(std::int64_t inputs) const { return inputs * index / count; }
};

// Binds --shard to `shard`, which must outlive the program.
CLI::Option* AddShard(CLI::App& command, Shard& shard);

// `given`, or under mpirun the rank's. Throws Error where it is both.
Shard ShardOfRun(const Shard& given);

// The last thing that a command does: under mpirun the first rank prints the others' results after its own.
void GatherResults();

}  // namespace headlight
