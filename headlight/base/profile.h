// Where the time goes: kernels say what they do, and a program that asks gets the sums.
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
  double operations = 0;  // floating-point ones, where products are what it does
  double bytes = 0;       // read and written
};

// From here on what kernels say is kept; what was kept before is forgotten. Until then it costs nothing.
HEADLIGHT_API void StartProfile();

// What was kept, the longest first, and an end to keeping.
HEADLIGHT_API std::vector<ProfileEntry> TakeProfile();

// What a kernel does while this exists. Not to be nested: every moment belongs to one operation.
class HEADLIGHT_API Profiled {
 public:
  // A product between rows of `inputs` and of `outputs` numbers, with a factor of so many bytes besides.
  Profiled(const char* operation, std::int64_t rows, std::int64_t inputs, std::int64_t outputs, std::size_t bytes);
  Profiled(const char* operation, double operations, double bytes);
  ~Profiled();
  Profiled(const Profiled&) = delete;
  Profiled& operator=(const Profiled&) = delete;

 private:
  const char* operation_;  // null: nobody asked
  std::int64_t inputs_ = 0, outputs_ = 0;
  double operations_, bytes_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace headlight
