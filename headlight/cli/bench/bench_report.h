// Results of a benchmark, which are printed as a table or as one JSON object.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/profile.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"

namespace headlight {

// The pass over the prompts of generated texts.
struct BenchReading {
  std::int64_t tokens = 0;            // of all prompts
  std::vector<double> latencies;      // seconds of each batch of prompts
  std::vector<ProfileEntry> profile;  // of one more batch
  double profiled_seconds = 0;
  std::int64_t weight_bytes = 0;  // read by each decoding step
  double cache_bytes = 0;         // read by a decoding step on average, if every layer attends to all tokens
};

struct BenchResult {
  const char* unit = "per batch";        // of a repetition
  const char* tokens = "target tokens";  // the kind of tokens counted
  Json::Object settings;                 // of the benchmark
  Compute compute = Compute::float32;
  std::vector<double> latencies;      // seconds of each repetition
  std::int64_t counted_tokens = 0;    // of all repetitions
  std::vector<ProfileEntry> profile;  // of further repetitions
  std::int64_t profiled_steps = 1;    // how many steps `profile` covers
  double profiled_seconds = 0;
  std::optional<BenchReading> reading;
};

// Measures run(batch) for `repetitions` batches from make(), after a warm-up batch, and profiles one more.
// count(batch, output) is called after each and is not measured.
template <class Make, class Run, class Count>
void MeasureBatches(BenchResult& result, std::int32_t repetitions, const Make& make, const Run& run,
                    const Count& count) {
  Check(repetitions >= 1, "--repetitions must be at least 1, not {}", repetitions);
  const auto warm_up = make();
  run(warm_up);
  Progress progress("batches");
  for (std::int32_t i = 0; i < repetitions; ++i) {
    const auto batch = make();
    const auto begin = std::chrono::steady_clock::now();
    const auto output = run(batch);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    result.latencies.push_back(seconds.count());
    count(batch, output);
    progress.Show(i + 1, repetitions);
  }
  StartProfile();
  const auto begin = std::chrono::steady_clock::now();
  run(warm_up);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  result.profiled_seconds = seconds.count();
  result.profile = TakeProfile();
}

// The name of the processor, and whether it is restricted to an older instruction set.
std::string Processor();

// Rounds to four digits, which exceeds the accuracy of a measurement; 0 if the value is not finite.
double Rounded(double value);

// Prints the result, the peak memory of the process, and shares of the machine's peak rates over a repetition:
//   gemm_share          of the GEMM throughput in FLOP/s
//   bandwidth_share     of the bandwidth of copies
// For generation a repetition is a decoding step:
//   prompt_gemm_share   gemm_share of the pass over the prompts
//   weights_read_share  the rate at which steps read the weights, of the bandwidth of reads; with a draft, each token
//                       counts as a step
//   read_share          the same for weights and cache
void PrintBench(const BenchResult& result, bool json);

}  // namespace headlight
