// What a benchmark says: a table, or one JSON object a line.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/profile.h"
#include "headlight/io/json.h"
#include "headlight/kernels/gemm.h"

namespace headlight {

struct BenchResult {
  const char* unit = "a batch";  // of a repetition
  Json::Object settings;         // what was measured
  kernels::Compute compute = kernels::Compute::float32;
  std::vector<double> latencies;      // seconds of each repetition
  std::int64_t target_tokens = 0;     // of all repetitions
  std::vector<ProfileEntry> profile;  // of a further repetition
  double profiled_seconds = 0;
};

// Prints it, beside the most memory that the process has held and what the machine reaches: gemm_share is the part of
// its rate of products, bandwidth_share the part of its rate of copies, that the whole repetition reached.
void PrintBench(const BenchResult& result, bool json);

}  // namespace headlight
