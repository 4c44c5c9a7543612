// Reports a profile relative to the machine's peak rates.
#pragma once

#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/base/profile.h"

namespace headlight {

/// The peak rates of all threads together, as in a roofline model.
struct MachineRates {
  double operations = 0;  // FLOP/s of a large matrix product
  double bytes = 0;       // bytes/s that are read from and written to memory outside the caches
};

/// Measures the peak rates, which takes about half a second.
HEADLIGHT_API MachineRates MeasureMachine(Compute compute);

/// Returns the bytes/s that all threads together read and write when they copy memory outside the caches.
HEADLIGHT_API double MeasureCopies();

/// Returns the read bandwidth of all threads together outside the caches, in bytes/s.
HEADLIGHT_API double MeasureReads();

/// Returns a table with each entry's time per step (`steps` steps in total) and its fraction of the peak rates. The
/// last row is the time in `seconds` that belongs to no entry.
HEADLIGHT_API std::string ProfileReport(const std::vector<ProfileEntry>& entries, std::int64_t steps, double seconds,
                                        const MachineRates& machine);

}  // namespace headlight
