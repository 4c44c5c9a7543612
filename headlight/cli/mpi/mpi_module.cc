#include "headlight/cli/mpi/mpi_module.h"

#include <mpi.h>
#include <unistd.h>

namespace headlight {
namespace {

constexpr int kMessages = 0, kFailures = 1;  // tags

void* Start(int peer, bool sends, void* bytes, int count) {
  auto* const request = new MPI_Request;
  const int result = sends ? MPI_Isend(bytes, count, MPI_BYTE, peer, kMessages, MPI_COMM_WORLD, request)
                           : MPI_Irecv(bytes, count, MPI_BYTE, peer, kMessages, MPI_COMM_WORLD, request);
  if (result == MPI_SUCCESS) return request;
  delete request;
  return nullptr;
}

int Done(void* transfer) {
  auto* const request = static_cast<MPI_Request*>(transfer);
  int done = 0;
  if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return -1;
  if (done != 0) delete request;
  return done;
}

void Cancel(void* transfer) {
  auto* const request = static_cast<MPI_Request*>(transfer);
  MPI_Cancel(request);
  MPI_Request_free(request);
  delete request;
}

int FailedRank() {
  int there = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kFailures, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || there == 0) return -1;
  return status.MPI_SOURCE;  // the message stays, for the next call
}

void TellFailure() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int peer = 0; peer < size; ++peer) {
    MPI_Request request;
    if (peer != rank) MPI_Isend(nullptr, 0, MPI_BYTE, peer, kFailures, MPI_COMM_WORLD, &request);
  }
  for (int turn = 0; turn < 20; ++turn) {  // so that the messages get away
    FailedRank();
    usleep(5000);
  }
}

void Finish() { MPI_Finalize(); }
void Abort(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

}  // namespace
}  // namespace headlight

extern "C" __attribute__((visibility("default"))) const headlight::MpiModule* HeadlightBeginMpi() {
  static headlight::MpiModule module;
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_SERIALIZED)
    return nullptr;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &module.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &module.size);
  module.start = headlight::Start;
  module.done = headlight::Done;
  module.cancel = headlight::Cancel;
  module.tell_failure = headlight::TellFailure;
  module.failed_rank = headlight::FailedRank;
  module.finish = headlight::Finish;
  module.abort = headlight::Abort;
  return &module;
}
