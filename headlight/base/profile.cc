#include "headlight/base/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace headlight {
namespace {

std::atomic<bool> asked{false};

struct Sums {
  std::mutex mutex;
  std::map<std::string, ProfileEntry> entries;
};

Sums& TheSums() {
  static Sums sums;
  return sums;
}

}  // namespace

void StartProfile() {
  Sums& sums = TheSums();
  const std::lock_guard lock(sums.mutex);
  sums.entries.clear();
  asked = true;
}

std::vector<ProfileEntry> TakeProfile() {
  asked = false;
  Sums& sums = TheSums();
  const std::lock_guard lock(sums.mutex);
  std::vector<ProfileEntry> entries;
  for (auto& [name, entry] : std::exchange(sums.entries, {})) entries.push_back(std::move(entry));
  std::ranges::sort(entries, std::ranges::greater{}, &ProfileEntry::seconds);
  return entries;
}

Profiled::Profiled(const char* operation, double operations, double bytes)
    : operation_(asked.load(std::memory_order_relaxed) ? operation : nullptr), operations_(operations), bytes_(bytes) {
  if (operation_ != nullptr) begin_ = std::chrono::steady_clock::now();
}

Profiled::Profiled(const char* operation, std::int64_t rows, std::int64_t inputs, std::int64_t outputs,
                   std::size_t bytes)
    : Profiled(operation, 2 * static_cast<double>(rows) * static_cast<double>(inputs) * static_cast<double>(outputs),
               static_cast<double>(bytes) + sizeof(float) * static_cast<double>(rows * (inputs + outputs))) {
  inputs_ = inputs;
  outputs_ = outputs;
  weight_bytes_ = static_cast<double>(bytes);
}

Profiled::~Profiled() try {
  if (operation_ == nullptr) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  const std::string name = inputs_ == 0 ? operation_ : fmt::format("{}, {} to {}", operation_, inputs_, outputs_);
  Sums& sums = TheSums();
  const std::lock_guard lock(sums.mutex);
  ProfileEntry& entry = sums.entries[name];
  entry.operation = name;
  ++entry.calls;
  entry.seconds += seconds.count();
  entry.operations += operations_;
  entry.bytes += bytes_;
  entry.weight_bytes += weight_bytes_;
} catch (const std::bad_alloc&) {
  return;  // this call is not added to the sums
}

}  // namespace headlight
