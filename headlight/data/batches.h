// The order in which a training goes over its examples, of any kind: batches of similar length, shuffled each epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"

namespace headlight {

// A place in the endless row of batches. All that is random in the data is a function of the seed and the place, so
// that it is all that a checkpoint keeps of the data.
struct BatchPosition {
  std::int64_t epoch = 0, batch = 0;
  bool operator==(const BatchPosition&) const = default;
};

struct BatchOptions {
  // The most that a batch's examples have together, as LengthOfExample counts: tokens of texts, else images, chains or
  // other examples. An example with more is a batch alone.
  std::int64_t batch_size = 4096;
  std::uint64_t seed = 1;
};

struct ExampleLength {
  std::int64_t size = 0;   // its share of BatchOptions::batch_size
  std::int64_t other = 0;  // examples of the same size are sorted by it
};
using LengthOfExample = std::function<ExampleLength(std::int64_t example)>;

// Which examples a batch has.
struct BatchPlan {
  std::vector<std::uint32_t> examples;
  BatchPosition place, next;  // next.batch is 0 after an epoch's last batch
  std::int64_t batches_in_epoch = 0;
};

// The batches of so many examples, epoch after epoch without end, from a place on. Each epoch shuffles the examples,
// sorts them by length within pools of about a hundred batches, so that a batch holds examples of similar length, cuts
// them into batches, and shuffles those. All of it is a function of the lengths, the options and the place.
// Memory: about 12 bytes an example at most. Throws Error for impossible options and for a place that the epoch does
// not have.
class HEADLIGHT_API BatchStream {
 public:
  BatchStream(std::int64_t examples, LengthOfExample length, const BatchOptions& options, BatchPosition position = {});

  BatchPlan Next();

 private:
  struct Range {
    std::uint32_t begin, end;  // of order_
  };

  void PlanEpoch();

  LengthOfExample length_;
  BatchOptions options_;
  BatchPosition position_;
  std::int64_t planned_epoch_ = -1;
  std::vector<std::uint32_t> order_;  // [examples], batch after batch
  std::vector<Range> batches_;
};

// The random stream of an example in an epoch, for masks, crops and the like.
HEADLIGHT_API Random RandomOfExample(std::uint64_t seed, std::int64_t epoch, std::int64_t example);

}  // namespace headlight
