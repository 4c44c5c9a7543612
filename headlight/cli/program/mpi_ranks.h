// The ranks of this run, where the program was started as one of several by mpirun or srun.
#pragma once

#include <string>

#include "headlight/base/ranks.h"

namespace headlight {

// Joins the other ranks, if there are any. All then compute with the instructions that each of them has. Throws Error
// where headlight_mpi.so is not there, or where the processors have too little in common. Before any kernel runs.
void JoinRanks();

// Null where the program runs alone.
Ranks* JoinedRanks();

// True on rank 0, and where the program runs alone: who reports and writes.
bool IsFirstRank();

// How long others may keep this rank waiting.
void SetRankTimeout(double seconds);
double RankTimeout();

// Leaves the others at the end of the program, which each rank reaches.
void LeaveRanks();

// For the end with an error. True where this rank reports it: the lowest one of those that have one at the same time.
bool ReportsFailure();
// Ends all ranks at once.
[[noreturn]] void AbortRanks(int exit_code);

}  // namespace headlight
