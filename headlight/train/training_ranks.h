// Exchanges reports between the ranks of a training run. Gradients are sent by train/rank_sum.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/base/ranks.h"
#include "headlight/nn/parameters.h"

namespace headlight {

/// The report of a rank after a step, or the combined report of all ranks.
struct StepNews {
  double seconds = 0;       // time of the run, measured by rank 0
  double busy_seconds = 0;  // time of this step, without waiting for other ranks
  std::uint64_t bits = 0;   // digest of values that must be equal on all ranks
  bool stop = false;        // true if any rank requests to stop
  bool save = false;        // true if rank 0 requests a checkpoint
};

class TrainingRanks {
 public:
  explicit TrainingRanks(Ranks* ranks) : ranks_(ranks) {}

  Ranks* ranks() const { return ranks_; }
  bool several() const { return ranks_ != nullptr && ranks_->size() > 1; }
  bool first() const { return ranks_ == nullptr || ranks_->rank() == 0; }

  /// Throws Error if a rank's run or initial values differ from rank 0's. The error names the first such rank and the
  /// difference.
  void CheckSame(const Json& run, const Parameters& parameters) const;

  /// Combines the reports of all ranks. Throws Error if `bits` differ.
  StepNews Agree(StepNews own, std::int64_t step);

  /// Returns a message if a rank is slow. A rank is slow if its steps since the last call took more than 1.5 times as
  /// long as the median rank's steps. Each rank is reported at most once.
  std::optional<std::string> SlowRank();

 private:
  Ranks* ranks_;
  std::vector<double> busy_;  // busy time of each rank since the last SlowRank call
  int slow_ = -1;             // the last reported rank
};

/// Runs body. If there are several ranks, prepends the rank and the step to the messages of errors.
void NameRankInErrors(const TrainingRanks& ranks, const std::function<void()>& body);

}  // namespace headlight
