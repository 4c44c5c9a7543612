#include "headlight/cli/bench_report.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <string>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/output.h"
#include "headlight/cli/profile_report.h"
#include "headlight/kernels/cpu.h"

namespace headlight {
namespace {

std::string ProcessorName() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "unknown";
}

std::string Processor() { return ProcessorName() + (kernels::MayUseAvx512() ? "" : " (no more than AVX2 of it)"); }

// Of this program alone: getrusage's begins with the peak of the process that started it.
std::int64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return 1024 * std::stoll(line.substr(6));  // in kilobytes
  return 0;
}

// Four digits are more than a measurement has.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double digits = 3 - std::floor(std::log10(std::abs(value)));  // after the decimal point
  const double unit = std::pow(10, std::abs(digits));
  return digits > 0 ? std::round(value * unit) / unit : std::round(value / unit) * unit;
}

// The value below which `share` of the values lie, by the nearest rank.
double Percentile(std::vector<double> values, double share) {
  Ensure(!values.empty(), "a percentile of nothing");
  std::ranges::sort(values);
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

void PrintBench(const BenchResult& result, bool json) {
  const std::int64_t peak = PeakMemory();  // before the machine is measured
  const MachineRates machine = MeasureMachine(result.compute);
  double operations = 0, bytes = 0;
  for (const ProfileEntry& entry : result.profile) {
    operations += entry.operations;
    bytes += entry.bytes;
  }
  const double seconds = std::accumulate(result.latencies.begin(), result.latencies.end(), 0.0);
  const double rate = static_cast<double>(result.counted_tokens) / seconds;
  const auto percentile = [&](double share) { return 1e3 * Percentile(result.latencies, share); };
  const double gemm_share = operations / result.profiled_seconds / machine.operations;
  const double bandwidth_share = bytes / result.profiled_seconds / machine.bytes;

  Json::Object all = result.settings;
  all.push_back({"compute", kernels::Name(result.compute)});
  all.push_back({"threads", Threads()});
  all.push_back({"repetitions", static_cast<std::int64_t>(result.latencies.size())});
  std::string key = result.tokens;
  std::ranges::replace(key, ' ', '_');
  all.push_back({key + "_per_second", Rounded(rate)});
  all.push_back({"latency_ms", Json::Object{{"p50", Rounded(percentile(0.5))},
                                            {"p90", Rounded(percentile(0.9))},
                                            {"p99", Rounded(percentile(0.99))}}});
  all.push_back({"peak_memory_bytes", peak});
  all.push_back({"gemm_share", Rounded(gemm_share)});
  all.push_back({"bandwidth_share", Rounded(bandwidth_share)});
  all.push_back({"machine", Json::Object{{"processor", Processor()},
                                         {"gemm_gflops", Rounded(machine.operations / 1e9)},
                                         {"copy_gbytes_per_second", Rounded(machine.bytes / 1e9)}}});
  if (json) return WriteResult(Json(all).Line() + "\n");

  for (const Json::Member& setting : result.settings) {
    const auto* text = setting.value.As<std::string>();
    WriteResult(fmt::format("{:18}{}\n", setting.name, text != nullptr ? *text : setting.value.Line()));
  }
  WriteResult(fmt::format("{:18}{}, {} threads\n", "computed in", kernels::Name(result.compute), Threads()));
  WriteResult(fmt::format("{:18}{:.0f} {} a second\n", "speed", rate, result.tokens));
  WriteResult(fmt::format("{:18}{:.1f} ms (median of {}), 9 of 10 within {:.1f}, 99 of 100 within {:.1f}\n",
                          result.unit, percentile(0.5), result.latencies.size(), percentile(0.9), percentile(0.99)));
  WriteResult(fmt::format("{:18}{:.0f} MB at the most\n", "memory", static_cast<double>(peak) / 1e6));
  WriteResult(
      fmt::format("{:18}{:.0f}% of the {:.0f} GFLOP/s that products reach here, {:.0f}% of the {:.1f} GB/s of "
                  "copies\n",
                  "machine", 100 * gemm_share, machine.operations / 1e9, 100 * bandwidth_share, machine.bytes / 1e9));
  WriteResult(fmt::format("{:18}{}\n", "processor", Processor()));
}

}  // namespace headlight
