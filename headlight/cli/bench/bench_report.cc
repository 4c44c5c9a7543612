#include "headlight/cli/bench/bench_report.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <string>

#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/kernels/cpu.h"
#include "headlight/train/profile_report.h"

namespace headlight {
namespace {

std::string ProcessorName() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "unknown";
}

// Returns the peak memory of this process in bytes. getrusage is not used, because it also counts the parent process.
std::int64_t PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return 1024 * std::stoll(line.substr(6));  // the value is in kilobytes
  return 0;
}

// Returns the quantile `share` of the values by the nearest-rank method.
double Percentile(std::vector<double> values, double share) {
  Ensure(!values.empty(), "a quantile of no values");
  std::ranges::sort(values);
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

double Operations(const std::vector<ProfileEntry>& profile) {
  double operations = 0;
  for (const ProfileEntry& entry : profile) operations += entry.operations;
  return operations;
}

double Sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double digits = 3 - std::floor(std::log10(std::abs(value)));  // number of digits after the decimal point
  const double unit = std::pow(10, std::abs(digits));
  return digits > 0 ? std::round(value * unit) / unit : std::round(value / unit) * unit;
}

std::string Processor() { return ProcessorName() + (kernels::MayUseAvx512() ? "" : " (restricted to AVX2)"); }

void PrintBench(const BenchResult& result, bool json) {
  const std::int64_t peak = PeakMemory();  // called first, to exclude the memory that MeasureMachine uses
  const MachineRates machine = MeasureMachine(result.compute);
  double bytes = 0;
  for (const ProfileEntry& entry : result.profile) bytes += entry.bytes;
  const double seconds = Sum(result.latencies);
  const double rate = static_cast<double>(result.counted_tokens) / seconds;
  const auto percentile = [&](double share) { return 1e3 * Percentile(result.latencies, share); };
  const double gemm_share = Operations(result.profile) / result.profiled_seconds / machine.operations;
  const double bandwidth_share = bytes / result.profiled_seconds / machine.bytes;

  Json::Object all = result.settings;
  all.push_back({"compute", Name(result.compute)});
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
  Json::Object rates = {{"processor", Processor()},
                        {"gemm_gflops", Rounded(machine.operations / 1e9)},
                        {"copy_gbytes_per_second", Rounded(machine.bytes / 1e9)}};
  double prompt_rate = 0, prompt_share = 0, read_rate = 0, weights_share = 0, read_share = 0;
  if (result.reading) {
    const BenchReading& reading = *result.reading;
    read_rate = MeasureReads();
    prompt_rate = static_cast<double>(reading.tokens) / Sum(reading.latencies);
    prompt_share = Operations(reading.profile) / reading.profiled_seconds / machine.operations;
    const double steps_rate = static_cast<double>(result.latencies.size()) / seconds / read_rate;
    weights_share = static_cast<double>(reading.weight_bytes) * steps_rate;
    read_share = weights_share + reading.cache_bytes * steps_rate;
    all.push_back({"prompt_tokens_per_second", Rounded(prompt_rate)});
    all.push_back({"prompt_latency_ms", Rounded(1e3 * Percentile(reading.latencies, 0.5))});
    all.push_back({"prompt_gemm_share", Rounded(prompt_share)});
    all.push_back({"weight_bytes", reading.weight_bytes});
    all.push_back({"weights_read_share", Rounded(weights_share)});
    all.push_back({"cache_bytes", Rounded(reading.cache_bytes)});
    all.push_back({"read_share", Rounded(read_share)});
    rates.push_back({"read_gbytes_per_second", Rounded(read_rate / 1e9)});
  }
  all.push_back({"machine", rates});
  if (json) return WriteResult(Json(all).Line() + "\n");

  for (const Json::Member& setting : result.settings) {
    const auto* text = setting.value.As<std::string>();
    WriteResult(fmt::format("{:18}{}\n", setting.name, text != nullptr ? *text : setting.value.Line()));
  }
  WriteResult(fmt::format("{:18}{}, {} threads\n", "computed in", Name(result.compute), Threads()));
  if (result.reading)
    WriteResult(fmt::format("{:18}{:.0f} tokens per second, {:.1f} ms per batch, {:.0f}% of the GEMM throughput\n",
                            "prompts", prompt_rate, 1e3 * Percentile(result.reading->latencies, 0.5),
                            100 * prompt_share));
  WriteResult(fmt::format("{:18}{} {} per second\n", "speed", Rounded(rate), result.tokens));
  WriteResult(fmt::format("{:18}{:.1f} ms (median of {}), 90% within {:.1f}, 99% within {:.1f}\n", result.unit,
                          percentile(0.5), result.latencies.size(), percentile(0.9), percentile(0.99)));
  WriteResult(fmt::format("{:18}{:.0f} MB at the peak\n", "memory", static_cast<double>(peak) / 1e6));
  WriteResult(
      fmt::format("{:18}{:.0f}% of its {:.0f} GFLOP/s in matrix products, {:.0f}% of its {:.1f} GB/s in "
                  "copies\n",
                  "machine", 100 * gemm_share, machine.operations / 1e9, 100 * bandwidth_share, machine.bytes / 1e9));
  if (result.reading)
    WriteResult(
        fmt::format("{:18}{:.1f} MB of weights and {:.1f} MB of cache per step, {:.0f}% of the {:.1f} GB/s of reads\n",
                    "reads", static_cast<double>(result.reading->weight_bytes) / 1e6, result.reading->cache_bytes / 1e6,
                    100 * read_share, read_rate / 1e9));
  WriteResult(fmt::format("{:18}{}\n", "processor", Processor()));
  WriteResult("\n" + ProfileReport(result.profile, result.profiled_steps, result.profiled_seconds, machine) + "\n");
}

}  // namespace headlight
