// Prints the results of a benchmark as a table or as one JSON object.
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

// Measurements of the prefill and of the memory that decoding reads.
struct BenchReading {
  std::int64_t tokens = 0;            // number of tokens in all prompts
  std::vector<double> latencies;      // seconds for each batch of prompts
  std::vector<ProfileEntry> profile;  // profile of one additional batch
  double profiled_seconds = 0;
  std::int64_t weight_bytes = 0;  // bytes of weights that each decoding step reads
  // The mean size in bytes of the keys and values that a decoding step reads if every layer attends to all tokens.
  double cache_bytes = 0;
};

struct BenchResult {
  const char* unit = "per batch";        // unit of a repetition in the report
  const char* tokens = "target tokens";  // the kind of tokens counted
  Json::Object settings;
  Compute compute = Compute::float32;
  std::vector<double> latencies;      // seconds of each repetition
  std::int64_t counted_tokens = 0;    // number of tokens in all repetitions
  std::vector<ProfileEntry> profile;  // profile of additional repetitions
  std::int64_t profiled_steps = 1;    // number of steps that `profile` covers
  double profiled_seconds = 0;
  std::optional<BenchReading> reading;
};

// Measures run(batch) for `repetitions` batches from make() after a warm-up batch, and profiles one more batch. Calls
// count(batch, output) after each run, outside the measured time.
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

// Returns the name of the processor, followed by a note if it is restricted to AVX2.
std::string Processor();

// Rounds to four significant digits, which is more precise than the measurements. Returns 0 if the value is not finite.
double Rounded(double value);

// Prints the result, the peak memory of the process, and its shares of the machine's peak rates:
//   gemm_share          share of the GEMM throughput in FLOP/s
//   bandwidth_share     share of the memory copy bandwidth
// For generation, a repetition is a decoding step, and these shares are added:
//   prompt_gemm_share   gemm_share of the prefill
//   weights_read_share  rate of reading the weights as a share of the read bandwidth; with a draft model, each token
//                       counts as a step
//   read_share          rate of reading the weights and the cache as a share of the read bandwidth
void PrintBench(const BenchResult& result, bool json);

}  // namespace headlight
