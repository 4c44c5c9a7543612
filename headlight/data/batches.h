// Batches training examples of any kind: the examples of a batch have similar lengths, and each epoch is shuffled.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/random.h"

namespace headlight {

/// A position in the endless sequence of batches. All randomness of the data depends only on the seed and the position.
/// A checkpoint therefore stores no other state of the data.
struct BatchPosition {
  std::int64_t epoch = 0, batch = 0;
  bool operator==(const BatchPosition&) const = default;
};

struct BatchOptions {
  /// The maximum size of a batch, in the units of LengthOfExample: tokens of texts, or the number of images, chains or
  /// other examples. An example above the limit forms a batch with no other example.
  std::int64_t batch_size = 4096;
  std::uint64_t seed = 1;
};

struct ExampleLength {
  std::int64_t size = 0;   ///< counted towards BatchOptions::batch_size
  std::int64_t other = 0;  ///< sort key for examples of the same size
};
using LengthOfExample = std::function<ExampleLength(std::int64_t example)>;

/// The examples of a batch and its position.
struct BatchPlan {
  std::vector<std::uint32_t> examples;
  BatchPosition position, next;  ///< next.batch is 0 after an epoch's last batch
  std::int64_t batches_in_epoch = 0;
};

/// An endless stream of batches over `examples` examples, starting at a position. Each epoch shuffles the examples, and
/// sorts them by length within pools of about a hundred batches, so that batches have examples of similar length. Then
/// the examples are divided into batches, and the batches are shuffled. The order depends only on the lengths, the
/// options and the position. The memory is at most about 12 bytes per example. Throws Error for invalid options and for
/// a position that is not in the epoch.
class HEADLIGHT_API BatchStream {
 public:
  BatchStream(std::int64_t examples, LengthOfExample length, const BatchOptions& options, BatchPosition position = {});

  BatchPlan Next();

 private:
  struct Range {
    std::uint32_t begin, end;  // indices in order_
  };

  void PlanEpoch();

  LengthOfExample length_;
  BatchOptions options_;
  BatchPosition position_;
  std::int64_t planned_epoch_ = -1;
  std::vector<std::uint32_t> order_;  // [examples], grouped by batch
  std::vector<Range> batches_;
};

/// Returns the random stream of an example in an epoch, for example for masks and crops.
HEADLIGHT_API Random RandomOfExample(std::uint64_t seed, std::int64_t epoch, std::int64_t example);

}  // namespace headlight
