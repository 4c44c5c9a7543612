// Manages the ranks of a run that mpirun or srun started.
#pragma once

#include <string>

#include "headlight/base/ranks.h"

namespace headlight {

// Connects to the other ranks, if there are any. All ranks then use only instructions that every processor supports.
// Throws Error if headlight_mpi.so is missing, or if the processors have too few instructions in common. Must be called
// before any kernel runs.
void JoinRanks();

// Returns the ranks, or null if there is only one rank.
Ranks* JoinedRanks();

// Returns true on rank 0, which prints results and writes files, and in a run without other ranks.
bool IsFirstRank();

// Sets the time in seconds that this rank waits for other ranks.
void SetRankTimeout(double seconds);
double RankTimeout();

// Disconnects from the other ranks. Every rank calls this at the end of the program.
void LeaveRanks();

// Returns true if this rank must report its error. If several ranks fail at the same time, only the lowest rank
// reports.
bool ReportsFailure();
// Ends all ranks immediately.
[[noreturn]] void AbortRanks(int exit_code);

}  // namespace headlight
