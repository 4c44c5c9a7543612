// What a profile says, beside what the machine can do.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/profile.h"

namespace headlight {

// The most that all threads together reach here: the roof above every kernel.
struct MachineRates {
  double operations = 0;  // floating-point ones a second, of a large product
  double bytes = 0;       // read and written a second, of memory that no cache holds
};

// Takes about half a second.
MachineRates MeasureMachine(Compute compute);

// Bytes a second that all threads together read of memory that no cache holds.
double MeasureReads();

// A table: what a step of `steps` spent its time on, and how near to the roof. What of `seconds` no entry accounts for
// is its last row.
std::string ProfileReport(const std::vector<ProfileEntry>& entries, std::int64_t steps, double seconds,
                          const MachineRates& machine);

}  // namespace headlight
