#include "headlight/cli/program/mpi/mpi_module.h"

#include <mpi.h>
#include <unistd.h>

#include <vector>

namespace headlight {
namespace {

constexpr int kFailures = 0, kMessages = 1;  // MPI tags; messages use tags from kMessages on

void* Begin(int peer, bool sends, int tag, void* bytes, int count) {
  auto* const request = new MPI_Request;
  const int result = sends ? MPI_Isend(bytes, count, MPI_BYTE, peer, kMessages + tag, MPI_COMM_WORLD, request)
                           : MPI_Irecv(bytes, count, MPI_BYTE, peer, kMessages + tag, MPI_COMM_WORLD, request);
  if (result == MPI_SUCCESS) return request;
  delete request;
  return nullptr;
}

// Tests all transfers in one call, because each call lets MPI poll all connections.
int Done(void* const* transfers, int count, int* indices, int* lost) {
  std::vector<MPI_Request> requests;
  for (int i = 0; i < count; ++i) requests.push_back(*static_cast<MPI_Request*>(transfers[i]));
  std::vector<MPI_Status> statuses(requests.size());
  int done = 0;
  const int result = MPI_Testsome(count, requests.data(), &done, indices, statuses.data());
  for (int i = 0; i < count; ++i) *static_cast<MPI_Request*>(transfers[i]) = requests[static_cast<std::size_t>(i)];
  if (done == MPI_UNDEFINED) done = 0;
  for (int i = 0; result != MPI_SUCCESS && i < done; ++i)
    if (statuses[static_cast<std::size_t>(i)].MPI_ERROR != MPI_SUCCESS) {
      *lost = indices[i];
      return -1;
    }
  if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) {
    *lost = 0;
    return -1;
  }
  for (int i = 0; i < done; ++i) delete static_cast<MPI_Request*>(transfers[indices[i]]);
  return done;
}

void Cancel(void* transfer) {
  auto* const request = static_cast<MPI_Request*>(transfer);
  if (*request != MPI_REQUEST_NULL) {
    MPI_Cancel(request);
    MPI_Request_free(request);
  }
  delete request;
}

int FailedRank() {
  int there = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kFailures, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || there == 0) return -1;
  return status.MPI_SOURCE;  // the message is only probed, so that the next call finds it again
}

void TellFailure() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int peer = 0; peer < size; ++peer) {
    MPI_Request request;
    if (peer != rank) MPI_Isend(nullptr, 0, MPI_BYTE, peer, kFailures, MPI_COMM_WORLD, &request);
  }
  for (int i = 0; i < 20; ++i) {  // polls MPI until the messages are sent
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
  module.begin = headlight::Begin;
  module.done = headlight::Done;
  module.cancel = headlight::Cancel;
  module.tell_failure = headlight::TellFailure;
  module.failed_rank = headlight::FailedRank;
  module.finish = headlight::Finish;
  module.abort = headlight::Abort;
  return &module;
}
