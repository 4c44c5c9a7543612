// What a benchmark says: a table, or one JSON object a line.
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
#include "headlight/cli/output.h"

namespace headlight {

// What comes before each text that is generated.
struct BenchReading {
  std::int64_t tokens = 0;            // of all prompts
  std::vector<double> latencies;      // seconds of each batch of them
  std::vector<ProfileEntry> profile;  // of a further one
  double profiled_seconds = 0;
  std::int64_t weight_bytes = 0;  // that each later step reads
  std::int64_t steps = 0;         // of BenchResult::profile
};

struct BenchResult {
  const char* unit = "a batch";          // of a repetition
  const char* tokens = "target tokens";  // those that are counted
  Json::Object settings;                 // what was measured
  Compute compute = Compute::float32;
  std::vector<double> latencies;      // seconds of each repetition
  std::int64_t counted_tokens = 0;    // of all repetitions
  std::vector<ProfileEntry> profile;  // of a further repetition
  double profiled_seconds = 0;
  std::optional<BenchReading> reading;
};

// Times run(batch) of so many batches, each of which make() gives beforehand and count(batch, what run gave) looks at
// afterwards; one more before them, and one profiled behind them.
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

// Prints it, beside the most memory that the process has held and what the machine reaches: gemm_share is the part of
// its rate of products, bandwidth_share the part of its rate of copies, that the whole repetition reached. Where texts
// are continued, each repetition is a step: prompt_gemm_share is that of reading, and weights_read_share the part of
// the machine's rate of reads at which steps read the weights alone; where words are drafted, it would be that if each
// had been a step.
void PrintBench(const BenchResult& result, bool json);

}  // namespace headlight
