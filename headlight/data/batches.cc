#include "headlight/data/batches.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"

namespace headlight {
namespace {

constexpr std::int64_t kPoolBatches = 100;
constexpr std::int64_t kMaxBatchSize = std::int64_t{1} << 24;

// Arbitrary values that select independent random streams.
enum class Purpose : std::int64_t { shuffle = 0x5075, sample = 0x5a3d };

Random RandomFor(std::uint64_t seed, Purpose purpose, std::int64_t epoch, std::int64_t example = 0) {
  const std::array<std::int64_t, 3> words = {static_cast<std::int64_t>(purpose), epoch, example};
  return Random(seed, HashOf({reinterpret_cast<const char*>(words.data()), sizeof(words)}));
}

// Shuffles by the Fisher-Yates algorithm, because std::shuffle can differ between standard libraries.
template <typename T>
void Shuffle(std::vector<T>& items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.Below(left)]);
}

}  // namespace

BatchStream::BatchStream(std::int64_t examples, LengthOfExample length, const BatchOptions& options,
                         BatchPosition position)
    : length_(std::move(length)), options_(options), position_(position) {
  Check(options_.batch_size >= 1 && options_.batch_size <= kMaxBatchSize,
        "the size of a batch must be from 1 to {}, not {}", kMaxBatchSize, options_.batch_size);
  Check(examples <= std::numeric_limits<std::uint32_t>::max(), "a corpus of {} examples exceeds the limit of {}",
        examples, std::numeric_limits<std::uint32_t>::max());
  Check(position.epoch >= 0 && position.batch >= 0,
        "a position in the data must not be negative, as epoch {}, batch {} is", position.epoch, position.batch);
  order_.resize(static_cast<std::size_t>(examples));
  if (position.batch == 0) return;
  PlanEpoch();
  Check(position.batch < std::ssize(batches_), "epoch {} has {} batches; there is no batch {}", position.epoch,
        batches_.size(), position.batch);
}

void BatchStream::PlanEpoch() {
  Random random = RandomFor(options_.seed, Purpose::shuffle, position_.epoch);
  std::iota(order_.begin(), order_.end(), 0u);
  Shuffle(order_, random);

  batches_.clear();
  for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
    for (std::int64_t pool = 0; end < order_.size() && pool < kPoolBatches * options_.batch_size; ++end)
      pool += length_(order_[end]).size;
    // Examples of equal lengths keep their shuffled order.
    std::stable_sort(order_.begin() + std::ptrdiff_t(begin), order_.begin() + std::ptrdiff_t(end),
                     [&](std::uint32_t a, std::uint32_t b) {
                       const ExampleLength left = length_(a), right = length_(b);
                       return std::pair(left.size, left.other) < std::pair(right.size, right.other);
                     });
    std::int64_t size = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t added = length_(order_[i]).size;
      if (i == begin || size + added > options_.batch_size) {
        batches_.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i)});
        size = 0;
      }
      size += added;
      ++batches_.back().end;
    }
  }
  Shuffle(batches_, random);
  planned_epoch_ = position_.epoch;
}

BatchPlan BatchStream::Next() {
  if (planned_epoch_ != position_.epoch) PlanEpoch();
  const auto count = static_cast<std::int64_t>(batches_.size());
  const Range range = batches_[static_cast<std::size_t>(position_.batch)];
  BatchPlan plan{.examples = {order_.begin() + range.begin, order_.begin() + range.end},
                 .position = position_,
                 .next = {position_.epoch, position_.batch + 1},
                 .batches_in_epoch = count};
  if (plan.next.batch == count) plan.next = {position_.epoch + 1, 0};
  position_ = plan.next;
  return plan;
}

Random RandomOfExample(std::uint64_t seed, std::int64_t epoch, std::int64_t example) {
  return RandomFor(seed, Purpose::sample, epoch, example);
}

}  // namespace headlight
