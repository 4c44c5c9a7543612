// What a benchmark says: a table, or one JSON object a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/profile.h"
#include "headlight/io/json.h"
#include "headlight/kernels/gemm.h"

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
  const char* unit = "a batch";  // of a repetition
  Json::Object settings;         // what was measured
  kernels::Compute compute = kernels::Compute::float32;
  std::vector<double> latencies;      // seconds of each repetition
  std::int64_t target_tokens = 0;     // of all repetitions
  std::vector<ProfileEntry> profile;  // of a further repetition
  double profiled_seconds = 0;
  std::optional<BenchReading> reading;
};

// Prints it, beside the most memory that the process has held and what the machine reaches: gemm_share is the part of
// its rate of products, bandwidth_share the part of its rate of copies, that the whole repetition reached. Where texts
// are continued, each repetition is a step: prompt_gemm_share is that of reading, and weights_read_share the part of
// the machine's rate of reads at which steps read the weights alone.
void PrintBench(const BenchResult& result, bool json);

}  // namespace headlight
