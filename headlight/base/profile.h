// Profiles the time, arithmetic and memory traffic of kernels, summed per operation.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"

namespace headlight {

struct ProfileEntry {
  std::string operation;
  std::int64_t calls = 0;
  double seconds = 0;
  double operations = 0;    ///< floating-point operations of matrix products; 0 for other kernels
  double bytes = 0;         ///< bytes read and written
  double weight_bytes = 0;  ///< bytes of the weights that products read, which `bytes` includes
};

/// Starts profiling with empty sums. While profiling is off, Profiled has almost no cost.
HEADLIGHT_API void StartProfile();

/// Stops profiling and returns the sums, with the longest time first.
HEADLIGHT_API std::vector<ProfileEntry> TakeProfile();

/// Adds the lifetime of the object to the time of `operation`. Must not be nested, so that time is counted once.
class HEADLIGHT_API Profiled {
 public:
  /// Profiles the product of [rows, inputs] and a weight of `bytes` bytes, which gives [rows, outputs].
  Profiled(const char* operation, std::int64_t rows, std::int64_t inputs, std::int64_t outputs, std::size_t bytes);
  Profiled(const char* operation, double operations, double bytes);
  ~Profiled();
  Profiled(const Profiled&) = delete;
  Profiled& operator=(const Profiled&) = delete;

 private:
  const char* operation_;  // null if profiling is off
  std::int64_t inputs_ = 0, outputs_ = 0;
  double operations_, bytes_ = 0, weight_bytes_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace headlight
