#include "headlight/train/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/gemm.h"
#include "headlight/tensor/tensor.h"

namespace headlight {
namespace {

// Returns the time of the shortest of several runs, in seconds. Long runs are repeated less often.
template <typename Body>
double Fastest(int runs, const Body& body) {
  constexpr double long_enough = 2;
  double best = std::numeric_limits<double>::infinity(), all = 0;
  for (int run = 0; run < runs && (run < 2 || all < long_enough); ++run) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::min(best, seconds);
    all += seconds;
  }
  return best;
}

std::string Rate(const ProfileEntry& entry, const MachineRates& machine) {
  if (entry.operations > 0)
    return fmt::format("{:8.1f} GFLOP/s {:4.0f}%", entry.operations / entry.seconds / 1e9,
                       100 * entry.operations / entry.seconds / machine.operations);
  if (entry.bytes > 0)
    return fmt::format("{:8.1f} GB/s    {:4.0f}%", entry.bytes / entry.seconds / 1e9,
                       100 * entry.bytes / entry.seconds / machine.bytes);
  return "";
}

}  // namespace

MachineRates MeasureMachine(Compute compute) {
  constexpr std::int64_t size = 1024;
  const Tensor a = Tensor::Zeros({4 * size, size}), b = Tensor::Zeros({size, size}),
               c = Tensor::Empty({4 * size, size});
  // Products with quantized blocks also use 8-bit integers.
  kernels::PackedMatrix<float> packed(size, size, compute == Compute::blocks ? Compute::int8 : compute);
  packed.Pack(b.matrix<float>(), false);
  const double product = Fastest(8, [&] { kernels::Gemm<float>(a.matrix<float>(), packed, c.matrix<float>()); });
  return {.operations = 2.0 * 4 * size * size * size / product, .bytes = MeasureCopies()};
}

double MeasureCopies() {
  constexpr std::int64_t block = std::int64_t{1} << 20;  // elements per block
  const Tensor from = Tensor::Zeros({32, block}), to = Tensor::Zeros({32, block});
  const double copy = Fastest(5, [&] {
    ParallelFor(32, [&](std::int64_t index) {
      std::copy_n(from.matrix<float>().row(index), block, to.matrix<float>().row(index));
    });
  });
  return 2.0 * 32 * block * sizeof(float) / copy;
}

double MeasureReads() {
  using Numbers [[gnu::vector_size(16)]] = std::uint64_t;
  constexpr std::int64_t block = std::int64_t{1} << 22, blocks = 64;  // bytes per block, and the number of blocks
  const Tensor from = Tensor::Zeros({blocks, block / std::int64_t{sizeof(float)}});
  std::vector<std::uint64_t> sums(blocks);
  const double seconds = Fastest(10, [&] {
    ParallelFor(blocks, [&](std::int64_t index) {
      const auto* numbers = reinterpret_cast<const Numbers*>(from.matrix<float>().row(index));
      Numbers a = {}, b = {}, c = {}, d = {};  // independent sums, so that the additions overlap
      for (std::int64_t i = 0; i < block / std::int64_t{sizeof(Numbers)}; i += 4) {
        a += numbers[i];
        b += numbers[i + 1];
        c += numbers[i + 2];
        d += numbers[i + 3];
      }
      sums[static_cast<std::size_t>(index)] = (a + b + c + d)[0];
    });
  });
  Ensure(std::ranges::all_of(sums, [](std::uint64_t sum) { return sum == 0; }), "zeros have a sum");
  return static_cast<double>(blocks * block) / seconds;
}

std::string ProfileReport(const std::vector<ProfileEntry>& entries, std::int64_t steps, double seconds,
                          const MachineRates& machine) {
  std::string report = fmt::format(
      "{} of {:.1f} ms on {} threads; this machine reaches {:.0f} GFLOP/s in matrix products and {:.1f} GB/s in "
      "copies\n"
      "{:36} {:>8} {:>8} {:>6}  {}\n",
      steps == 1 ? "1 step" : fmt::format("{} steps", steps), 1e3 * seconds / static_cast<double>(steps), Threads(),
      machine.operations / 1e9, machine.bytes / 1e9, "operation", "calls", "ms", "share",
      "   rate, and its share of the machine's");
  const auto row = [&](const std::string& name, double calls, double ms, const std::string& rate) {
    report += fmt::format("{:36} {:8.4g} {:8.2f} {:5.1f}%  {}\n", name, calls, ms,
                          100 * ms / (1e3 * seconds / static_cast<double>(steps)), rate);
  };
  double rest = seconds;
  for (const ProfileEntry& entry : entries) {
    row(entry.operation, static_cast<double>(entry.calls) / static_cast<double>(steps),
        1e3 * entry.seconds / static_cast<double>(steps), Rate(entry, machine));
    rest -= entry.seconds;
  }
  row("everything else", 1, 1e3 * rest / static_cast<double>(steps), "");
  report.pop_back();
  return report;
}

}  // namespace headlight
