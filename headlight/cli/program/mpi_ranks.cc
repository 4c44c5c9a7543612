#include "headlight/cli/program/mpi_ranks.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/cli/program/mpi/mpi_module.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/train/training_command.h"
#include "headlight/kernels/cpu.h"

namespace headlight {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

class MpiRanks : public Ranks {
 public:
  explicit MpiRanks(const MpiModule& mpi) : mpi_(mpi) {}

  int rank() const override { return mpi_.rank; }
  int size() const override { return mpi_.size; }

  void* Begin(const Transfer& transfer) override {
    const std::lock_guard lock(mutex_);
    void* const handle = mpi_.begin(transfer.peer, transfer.sends, transfer.tag, transfer.bytes.data(),
                                    static_cast<int>(transfer.bytes.size()));
    Check(handle != nullptr, "MPI cannot {} {}", transfer.sends ? "send to" : "receive from", Name(transfer.peer));
    return handle;
  }

  std::vector<std::size_t> Done(std::span<const BegunTransfer> begun) override {
    std::vector<void*> handles;
    for (const BegunTransfer& one : begun) handles.push_back(one.handle);
    std::vector<int> found(begun.size());
    int lost = 0;
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    stalled_ = stalled_ || std::chrono::duration<double>(now - std::exchange(looked_, now)).count() > RankTimeout();
    const int count = mpi_.done(handles.data(), static_cast<int>(handles.size()), found.data(), &lost);
    Check(count >= 0, "the connection to {} is lost",
          Name(count >= 0 ? 0 : begun[static_cast<std::size_t>(lost)].transfer.peer));
    std::vector<std::size_t> done(found.begin(), found.begin() + count);
    std::ranges::sort(done);
    return done;
  }

  void GiveUp(void* handle) override {
    const std::lock_guard lock(mutex_);
    mpi_.cancel(handle);
  }
  int Failed() override {
    const std::lock_guard lock(mutex_);
    return mpi_.failed_rank();
  }
  // Returns true if this rank has not checked its messages for so long that the other ranks treat it as failed.
  bool stalled() const { return stalled_; }

  void Finish() { mpi_.finish(); }
  void Abort(int exit_code) {
    const std::lock_guard lock(mutex_);
    mpi_.tell_failure();
    mpi_.abort(exit_code);
  }

 private:
  const MpiModule& mpi_;
  std::mutex mutex_;  // MPI must be called by one thread at a time
  Clock::time_point looked_ = Clock::now();
  std::atomic<bool> stalled_ = false;
};

std::unique_ptr<MpiRanks>& Joined() {
  static std::unique_ptr<MpiRanks> ranks;
  return ranks;
}

double& Timeout() {
  static double seconds = 600;
  return seconds;
}

std::string PeerNames(std::span<const int> peers) {
  std::string names;
  for (const int peer : peers) names += (names.empty() ? "" : ", ") + Joined()->Name(peer);
  return names + (peers.size() == 1 ? " has" : " have");
}

// Must be called repeatedly while this rank waits for `peers`. Throws Error after the time-out. If a rank dies, mpirun
// sends a signal to the other ranks. The lowest remaining rank then reports the ranks that it waits for, unless it has
// stalled.
void Wait(std::span<const int> peers, double seconds) {
  static Clock::time_point signalled;
  static bool told = false;
  if (InterruptedBy() != 0) {
    if (signalled == Clock::time_point()) signalled = Clock::now();
    bool lowest = true;
    for (int rank = 0; rank < Joined()->rank(); ++rank)
      lowest = lowest && std::ranges::find(peers, rank) != peers.end();
    if (lowest && !told && !Joined()->stalled() && SecondsSince(signalled) > 0.4 && seconds > 0.4) {
      told = true;
      WriteNote(fmt::format("headlight: step {}: {} not answered since the signal that stopped this run",
                            Joined()->step, PeerNames(peers)));
    }
  }
  if (seconds > Timeout()) Fail("{} not answered for {:.0f} seconds (--rank-timeout)", PeerNames(peers), Timeout());
}

// The rank of this process and the number of ranks, from the launcher's environment variables.
struct Launch {
  int rank = 0, size = 1;
};
Launch LaunchOf() {
  const auto number = [](const char* name, int otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
  };
  for (const auto& [rank, size] : {std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                                   std::pair("PMIX_RANK", "SLURM_STEP_NUM_TASKS"), std::pair("PMI_RANK", "PMI_SIZE")})
    if (const int count = number(size, 1); std::getenv(rank) != nullptr && count > 1) return {number(rank, 0), count};
  return {};
}

const MpiModule& OpenModule(const Launch& launch) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  void* library = nullptr;
  for (const char* place : {"headlight_mpi.so", "../lib/headlight/headlight_mpi.so"})
    if (library == nullptr && std::filesystem::exists(folder / place, error)) {
      library = dlopen((folder / place).c_str(), RTLD_NOW | RTLD_GLOBAL);  // Open MPI's plug-ins need its symbols
      Check(library != nullptr, "started as rank {} of {}: {}", launch.rank, launch.size, dlerror());
    }
  Check(
      library != nullptr,
      "started as rank {} of {}, but this headlight was built without MPI (its folder has no headlight_mpi.so): "
      "install Open MPI with scripts/setup mpi, configure and build again (docs/guides/many_machines.md), or start it "
      "without mpirun",
      launch.rank, launch.size);
  const auto begin = reinterpret_cast<BeginMpi>(dlsym(library, kBeginMpi));
  const MpiModule* const mpi = begin == nullptr ? nullptr : begin();
  Check(mpi != nullptr && mpi->size == launch.size, "started as rank {} of {}, but MPI joins {}", launch.rank,
        launch.size, mpi == nullptr ? 0 : mpi->size);
  return *mpi;
}

// Restricts all ranks to AVX2 if their processors differ.
void AgreeOnCpu(Ranks& ranks) {
  const std::vector<std::string> features = GatherToAll(ranks, kernels::CpuFeatures());
  for (int rank = 1; rank < ranks.size(); ++rank) {
    const std::string& other = features[static_cast<std::size_t>(rank)];
    if (other == features.front()) continue;
    for (int each = 0; each < ranks.size(); ++each)
      Check(features[static_cast<std::size_t>(each)].find("avx2") != std::string::npos,
            "the ranks' processors differ, and {} has no AVX2: results would differ", ranks.Name(each));
    if (ranks.rank() == 0)
      Note("the ranks' processors differ: {} has {}, {} has {}; all use AVX2, and no newer instructions", ranks.Name(0),
           features.front(), ranks.Name(rank), other);
    kernels::LimitCpu("avx2");
    return;
  }
}

}  // namespace

void JoinRanks() {
  const Launch launch = LaunchOf();
  if (launch.size == 1) return;
  Joined() = std::make_unique<MpiRanks>(OpenModule(launch));
  MpiRanks& ranks = *Joined();
  ranks.waiting = Wait;
  if (ranks.rank() != 0) {
    SetQuiet(true);
    HoldResults();
  }
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  ranks.hosts = GatherToAll(ranks, host.data());
  AgreeOnCpu(ranks);
}

Ranks* JoinedRanks() { return Joined().get(); }
bool IsFirstRank() { return Joined() == nullptr || Joined()->rank() == 0; }
void SetRankTimeout(double seconds) { Timeout() = seconds; }
double RankTimeout() { return Timeout(); }

void LeaveRanks() {
  if (Joined() != nullptr) Joined()->Finish();
}

bool ReportsFailure() {
  if (Joined() == nullptr) return true;
  MpiRanks& ranks = *Joined();
  for (int turn = 0; ranks.rank() > 0 && turn < 50; ++turn) {
    if (const int failed = ranks.Failed(); failed >= 0 && failed < ranks.rank()) return false;
    usleep(10'000);
  }
  return true;
}

void AbortRanks(int exit_code) {
  std::fflush(stderr);
  if (Joined() != nullptr) Joined()->Abort(exit_code);
  std::_Exit(exit_code);
}

}  // namespace headlight
