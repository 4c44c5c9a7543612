// The messages between the ranks of a training besides gradients, by which all do the same at the same step.
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

// A rank's report after a step, and the decision of all.
struct StepNews {
  double seconds = 0;       // of the training: rank 0's count
  double busy_seconds = 0;  // of this step, without waiting for others
  std::uint64_t bits = 0;   // of numbers that are the same on all ranks
  bool stop = false;        // any rank's wish
  bool save = false;        // rank 0's
};

class TrainingRanks {
 public:
  explicit TrainingRanks(Ranks* ranks) : ranks_(ranks) {}

  Ranks* ranks() const { return ranks_; }
  bool several() const { return ranks_ != nullptr && ranks_->size() > 1; }
  bool first() const { return ranks_ == nullptr || ranks_->rank() == 0; }

  // Throws Error naming the first rank whose run or initial values are others than rank 0's, and what differs.
  void CheckSame(const Json& run, const Parameters& parameters) const;

  // Throws Error where `bits` differ.
  StepNews Agree(StepNews own, std::int64_t step);

  // The rank whose steps since the last call took more than 1.5 times as long as the median rank's, in words; once for
  // each rank.
  std::optional<std::string> SlowRank();

 private:
  Ranks* ranks_;
  std::vector<double> busy_;  // seconds of each rank since the last SlowRank
  int slow_ = -1;             // the rank that was named last
};

// Runs body. Where there are several ranks, the text of an error begins with the rank and the step.
void NameRankInErrors(const TrainingRanks& ranks, const std::function<void()>& body);

}  // namespace headlight
