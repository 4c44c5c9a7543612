// The part of headlight that links MPI: a library apart, headlight_mpi.so beside the program, which opens it where it
// is one of several ranks.
#pragma once

namespace headlight {

// All functions are called by one thread at a time.
struct MpiModule {
  int rank = 0, size = 1;
  // Begins to send or to receive `count` bytes, as a message of this tag. Null where MPI refuses.
  void* (*begin)(int peer, bool sends, int tag, void* bytes, int count) = nullptr;
  // How many of these are done, and their indices; they are no more. -1: that of index `lost` failed.
  int (*done)(void* const* transfers, int count, int* indices, int* lost) = nullptr;
  // Gives up a transfer.
  void (*cancel)(void* transfer) = nullptr;
  // Tells all others that this rank fails, and the rank of one that has told so, or -1.
  void (*tell_failure)() = nullptr;
  int (*failed_rank)() = nullptr;
  // Ends MPI: in agreement with all others, or all of them at once.
  void (*finish)() = nullptr;
  void (*abort)(int exit_code) = nullptr;
};

// The module's one symbol. Null where MPI cannot begin.
using BeginMpi = const MpiModule* (*)();
inline constexpr const char* kBeginMpi = "HeadlightBeginMpi";

}  // namespace headlight
