// Reports a profile relative to the machine's peak rates.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/base/profile.h"

namespace headlight {

// The peak rates of all threads together: the roofline.
struct MachineRates {
  double operations = 0;  // FLOP/s of a large product
  double bytes = 0;       // bytes/s read and written in memory beyond the caches
};

// Measures for about half a second.
HEADLIGHT_API MachineRates MeasureMachine(Compute compute);

// Bytes/s that all threads together read in memory beyond the caches.
HEADLIGHT_API double MeasureReads();

// A table of the time per step (of `steps`) and the share of the peak rates of each entry. Its last row is the part of
// `seconds` that no entry accounts for.
HEADLIGHT_API std::string ProfileReport(const std::vector<ProfileEntry>& entries, std::int64_t steps, double seconds,
                                        const MachineRates& machine);

}  // namespace headlight
