#include "headlight/cli/mpi_ranks.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "headlight/base/error.h"
#include "headlight/cli/mpi/mpi_module.h"
#include "headlight/cli/output.h"
#include "headlight/cli/training_run.h"
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
  const MpiModule& mpi() const { return mpi_; }

  void Exchange(std::span<const Transfer> transfers) override {
    const Clock::time_point begin = Clock::now();
    std::vector<Pending> pending;
    const auto give_up = [&] {
      for (const Pending& one : pending) mpi_.cancel(one.transfer);
    };
    constexpr std::size_t most = std::size_t{1} << 30;  // bytes of one message of MPI, which counts in int
    for (const auto& [peer, sends, bytes] : transfers) {
      if (sends) bytes_sent += std::ssize(bytes);
      for (std::size_t at = 0; at < bytes.size(); at += most) {
        void* const started =
            mpi_.start(peer, sends, bytes.data() + at, static_cast<int>(std::min(most, bytes.size() - at)));
        if (started == nullptr) give_up();
        Check(started != nullptr, "MPI cannot {} {}", sends ? "send to" : "receive from", Name(peer));
        pending.push_back({peer, started});
      }
    }
    Clock::time_point told = begin;
    while (!pending.empty()) {
      for (std::size_t i = 0; i < pending.size();) {
        const int done = mpi_.done(pending[i].transfer);
        if (done < 0) {
          const int peer = pending[i].peer;
          give_up();
          Fail("the connection to {} is lost", Name(peer));
        }
        if (done > 0)
          pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
        else
          ++i;
      }
      if (pending.empty()) break;
      // Busy for as long as a message within a machine takes; then others may have the processor.
      const double seconds = SecondsSince(begin);
      if (seconds < 0.02)
        sched_yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (SecondsSince(told) < 0.05) continue;
      told = Clock::now();
      if (const int failed = mpi_.failed_rank(); failed >= 0) {
        give_up();
        throw OtherRankFailed{failed};
      }
      std::vector<int> peers;
      for (const Pending& one : pending) peers.push_back(one.peer);
      std::ranges::sort(peers);
      peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
      try {
        waiting(peers, seconds);
      } catch (...) {
        give_up();
        throw;
      }
    }
    seconds_waited += SecondsSince(begin);
  }

 private:
  struct Pending {
    int peer = 0;
    void* transfer = nullptr;
  };

  const MpiModule& mpi_;
};

std::unique_ptr<MpiRanks>& Joined() {
  static std::unique_ptr<MpiRanks> ranks;
  return ranks;
}

double& Timeout() {
  static double seconds = 600;
  return seconds;
}

std::string NamesOf(std::span<const int> peers) {
  std::string names;
  for (const int peer : peers) names += (names.empty() ? "" : ", ") + Joined()->Name(peer);
  return names + (peers.size() == 1 ? " has" : " have");
}

// Who waits gives up after the time-out. After a signal that ends the run, as mpirun sends to those that are left when
// a rank has died, the lowest rank that is left tells for whom it waits.
void Wait(std::span<const int> peers, double seconds) {
  static Clock::time_point signalled;
  static bool told = false;
  if (InterruptedBy() != 0) {
    if (signalled == Clock::time_point()) signalled = Clock::now();
    bool lowest = true;
    for (int rank = 0; rank < Joined()->rank(); ++rank)
      lowest = lowest && std::ranges::find(peers, rank) != peers.end();
    if (lowest && !told && SecondsSince(signalled) > 0.4 && seconds > 0.4) {
      told = true;
      WriteNote(fmt::format("headlight: step {}: {} not answered since the signal that ends this run", Joined()->step,
                            NamesOf(peers)));
    }
  }
  if (seconds > Timeout()) Fail("{} not answered for {:.0f} seconds (--rank-timeout)", NamesOf(peers), Timeout());
}

// Which of how many ranks the launcher says that this is.
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
      library = dlopen((folder / place).c_str(), RTLD_NOW | RTLD_GLOBAL);  // Open MPI's own plug-ins need its symbols
      Check(library != nullptr, "started as rank {} of {}: {}", launch.rank, launch.size, dlerror());
    }
  Check(library != nullptr,
        "started as rank {} of {}, but this headlight was built without MPI (there is no headlight_mpi.so beside it): "
        "install Open MPI with scripts/setup mpi and build again, or start it without mpirun",
        launch.rank, launch.size);
  const auto begin = reinterpret_cast<BeginMpi>(dlsym(library, kBeginMpi));
  const MpiModule* const mpi = begin == nullptr ? nullptr : begin();
  Check(mpi != nullptr && mpi->size == launch.size, "started as rank {} of {}, but MPI joins {}", launch.rank,
        launch.size, mpi == nullptr ? 0 : mpi->size);
  return *mpi;
}

// Where the ranks' processors differ, all use AVX2, and no newer instructions.
void AgreeOnCpu(Ranks& ranks) {
  const std::vector<std::string> features = GatherToAll(ranks, kernels::CpuFeatures());
  for (int rank = 1; rank < ranks.size(); ++rank) {
    const std::string& other = features[static_cast<std::size_t>(rank)];
    if (other == features.front()) continue;
    for (int each = 0; each < ranks.size(); ++each)
      Check(features[static_cast<std::size_t>(each)].find("avx2") != std::string::npos,
            "the ranks' processors differ, and {} has no AVX2: their results would, too", ranks.Name(each));
    if (ranks.rank() == 0)
      Note("the ranks' processors differ: {} has {}, {} has {}; all use AVX2, and no newer instructions", ranks.Name(0),
           features.front(), ranks.Name(rank), other);
    return kernels::UseNoMoreThanAvx2();
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

void LeaveRanks() {
  if (Joined() != nullptr) Joined()->mpi().finish();
}

bool ReportsFailure() {
  if (Joined() == nullptr) return true;
  const MpiModule& mpi = Joined()->mpi();
  for (int turn = 0; mpi.rank > 0 && turn < 50; ++turn) {
    if (const int failed = mpi.failed_rank(); failed >= 0 && failed < mpi.rank) return false;
    usleep(10'000);
  }
  return true;
}

void AbortRanks(int exit_code) {
  std::fflush(stderr);
  if (Joined() != nullptr) {
    Joined()->mpi().tell_failure();
    Joined()->mpi().abort(exit_code);
  }
  std::_Exit(exit_code);
}

}  // namespace headlight
