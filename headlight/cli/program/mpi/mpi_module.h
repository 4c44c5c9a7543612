// The interface of headlight_mpi.so, the only part of headlight that links MPI. The program opens this library, which
// is in its own folder, if it is one of several ranks.
#pragma once

namespace headlight {

// All functions are called by one thread at a time.
struct MpiModule {
  int rank = 0, size = 1;
  // Begins to send or to receive `count` bytes, as a message with this tag. Null if MPI refuses.
  void* (*begin)(int peer, bool sends, int tag, void* bytes, int count) = nullptr;
  // Returns how many transfers are done, and their indices, and deletes them. -1: the transfer `lost` failed.
  int (*done)(void* const* transfers, int count, int* indices, int* lost) = nullptr;
  // Cancels a transfer.
  void (*cancel)(void* transfer) = nullptr;
  // Tells all others that this rank fails; returns a rank that has told so, or -1.
  void (*tell_failure)() = nullptr;
  int (*failed_rank)() = nullptr;
  // Ends MPI: together with all others, or by aborting all ranks.
  void (*finish)() = nullptr;
  void (*abort)(int exit_code) = nullptr;
};

// The only symbol of the module. Null if MPI cannot begin.
using BeginMpi = const MpiModule* (*)();
inline constexpr const char* kBeginMpi = "HeadlightBeginMpi";

}  // namespace headlight
