// The interface of headlight_mpi.so, the only library of headlight that links to MPI. If the program runs as one of
// several ranks, it opens this library from its own folder.
#pragma once

namespace headlight {

// The functions of the module. They must be called by one thread at a time.
struct MpiModule {
  int rank = 0, size = 1;
  // Starts to send or receive a message of `count` bytes with this tag. Returns null if MPI reports an error.
  void* (*begin)(int peer, bool sends, int tag, void* bytes, int count) = nullptr;
  // Returns the number of completed transfers, writes their indices to `indices`, and deletes the transfers. If a
  // transfer failed, returns -1 and writes its index to `lost`.
  int (*done)(void* const* transfers, int count, int* indices, int* lost) = nullptr;
  // Cancels and deletes a transfer.
  void (*cancel)(void* transfer) = nullptr;
  // tell_failure() notifies all other ranks that this rank has failed. failed_rank() returns a rank that has sent this
  // notification, or -1.
  void (*tell_failure)() = nullptr;
  int (*failed_rank)() = nullptr;
  // finish() finalizes MPI together with all other ranks. abort() aborts all ranks.
  void (*finish)() = nullptr;
  void (*abort)(int exit_code) = nullptr;
};

// The type of the module's only symbol. The function returns null if MPI cannot be initialized.
using BeginMpi = const MpiModule* (*)();
inline constexpr const char* kBeginMpi = "HeadlightBeginMpi";

}  // namespace headlight
