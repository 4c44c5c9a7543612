// Messages between the ranks of a training run besides gradients, which keep the ranks in agreement.
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

/// A rank's report after a step, and the combined result of all ranks.
struct StepNews {
  double seconds = 0;       // of the run, counted by rank 0
  double busy_seconds = 0;  // of this step, without waiting for others
  std::uint64_t bits = 0;   // digest of numbers that must be equal on all ranks
  bool stop = false;        // any rank's request
  bool save = false;        // rank 0's request
};

class TrainingRanks {
 public:
  explicit TrainingRanks(Ranks* ranks) : ranks_(ranks) {}

  Ranks* ranks() const { return ranks_; }
  bool several() const { return ranks_ != nullptr && ranks_->size() > 1; }
  bool first() const { return ranks_ == nullptr || ranks_->rank() == 0; }

  /// Throws Error naming the first rank whose run or initial values differ from rank 0's, and what differs.
  void CheckSame(const Json& run, const Parameters& parameters) const;

  /// Combines the ranks' news. Throws Error if `bits` differ.
  StepNews Agree(StepNews own, std::int64_t step);

  /// A message about a rank whose steps since the last call took more than 1.5 times as long as the median rank's; at
  /// most once for each rank.
  std::optional<std::string> SlowRank();

 private:
  Ranks* ranks_;
  std::vector<double> busy_;  // for each rank since the last SlowRank
  int slow_ = -1;             // the last rank that was named
};

/// Runs body. With several ranks, error messages begin with the rank and the step.
void NameRankInErrors(const TrainingRanks& ranks, const std::function<void()>& body);

}  // namespace headlight
