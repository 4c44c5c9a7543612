// The ranks of this run, if mpirun or srun started the program as one of several.
#pragma once

#include <string>

#include "headlight/base/ranks.h"

namespace headlight {

// Joins the other ranks, if there are any. All then use only instructions that each of them has. Throws Error if
// headlight_mpi.so is missing, or if the processors have too few instructions in common. Must precede any kernel.
void JoinRanks();

// Null if there is one rank.
Ranks* JoinedRanks();

// True on rank 0, which reports and writes, and if there is one rank.
bool IsFirstRank();

// The longest time that this rank waits for others.
void SetRankTimeout(double seconds);
double RankTimeout();

// Leaves the other ranks. Each rank calls this at the end of the program.
void LeaveRanks();

// True if this rank reports its error: of the ranks that have one at the same time, only the lowest does.
bool ReportsFailure();
// Ends all ranks at once.
[[noreturn]] void AbortRanks(int exit_code);

}  // namespace headlight
