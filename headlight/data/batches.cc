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
constexpr std::int64_t kMaxBatchTokens = std::int64_t{1} << 24;

enum class Purpose : std::int64_t { shuffle = 0x5075, sample = 0x5a3d };  // arbitrary, so that no two streams are one

Random RandomFor(std::uint64_t seed, Purpose purpose, std::int64_t epoch, std::int64_t pair = 0) {
  const std::array<std::int64_t, 3> words = {static_cast<std::int64_t>(purpose), epoch, pair};
  return Random(seed, HashOf({reinterpret_cast<const char*>(words.data()), sizeof(words)}));
}

// Fisher and Yates; std::shuffle may differ from one standard library to another.
template <typename T>
void Shuffle(std::vector<T>& items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.Below(left)]);
}

std::int32_t Size(const std::vector<std::int32_t>& rows) {
  Ensure(rows.size() <= std::numeric_limits<std::int32_t>::max(), "a batch of {} rows", rows.size());
  return static_cast<std::int32_t>(rows.size());
}

// The pairs of a corpus, for teacher forcing.
class SentencePairs : public Examples {
 public:
  SentencePairs(const Corpus& corpus, const BatchOptions& options) : corpus_(corpus), options_(options) {
    Ensure(!options_.sample || corpus.options().keep_text, "to be encoded anew, the corpus must keep its text");
  }

  std::int64_t size() const override { return corpus_.size(); }

  Lengths LengthsOf(std::int64_t pair) const override {
    const Corpus::Ids ids = corpus_.IdsOf(pair);
    return {std::int64_t(ids.target.size()) + 1, std::int64_t(ids.source.size()) + 1};
  }

  void Append(std::int64_t pair, Random& random, Batch& batch) const override {
    Corpus::Ids ids = corpus_.IdsOf(pair);
    std::vector<std::int32_t> source, target;
    if (options_.sample) {
      const Corpus::Text text = corpus_.TextOf(pair);
      source = options_.sample(text.source, Side::source, random);
      target = options_.sample(text.target, Side::target, random);
      const auto longest = static_cast<std::size_t>(corpus_.options().max_length) - 1;
      if (!source.empty() && source.size() <= longest) ids.source = source;
      if (!target.empty() && target.size() <= longest) ids.target = target;
    }

    const std::int32_t source_begin = Size(batch.source_ids), target_begin = Size(batch.labels);
    batch.source_ids.insert(batch.source_ids.end(), ids.source.begin(), ids.source.end());
    batch.source_ids.push_back(options_.eos_id);
    batch.target_inputs.push_back(options_.start_id);
    batch.target_inputs.insert(batch.target_inputs.end(), ids.target.begin(), ids.target.end());
    batch.labels.insert(batch.labels.end(), ids.target.begin(), ids.target.end());
    batch.labels.push_back(options_.eos_id);
    batch.source.push_back({source_begin, Size(batch.source_ids) - source_begin});
    batch.target.push_back({target_begin, Size(batch.labels) - target_begin});
  }

 private:
  const Corpus& corpus_;
  BatchOptions options_;
};

}  // namespace

std::vector<Batch> SplitBatch(const Batch& batch, std::int64_t tokens) {
  const bool decodes = !batch.target_inputs.empty();
  // A row of the source goes through half of what one of the target does.
  const auto rows_of = [&](const Batch& some) -> std::int64_t {
    return decodes ? std::max(Size(some.labels), Size(some.source_ids) / 2) : Size(some.source_ids);
  };
  const std::int64_t rows = rows_of(batch), parts = std::max<std::int64_t>(1, (rows + tokens - 1) / tokens);
  std::vector<Batch> split;
  const auto append = [](std::vector<std::int32_t>& to, const std::vector<std::int32_t>& from, const Sequence& range) {
    const std::int32_t begin = Size(to);
    to.insert(to.end(), from.begin() + range.begin, from.begin() + range.begin + range.length);
    return Sequence{begin, range.length};
  };
  for (std::size_t sentence = 0; sentence < batch.target.size(); ++sentence) {
    if (split.empty() || parts * rows_of(split.back()) >= rows) {
      split.emplace_back();
      split.back().next = batch.next;
      split.back().batches_in_epoch = batch.batches_in_epoch;
    }
    Batch& part = split.back();
    if (!batch.source.empty()) {
      const Sequence& source = batch.source[sentence];
      if (!batch.source_types.empty()) append(part.source_types, batch.source_types, source);
      part.source.push_back(append(part.source_ids, batch.source_ids, source));
    }
    const Sequence& target = batch.target[sentence];
    if (decodes) append(part.target_inputs, batch.target_inputs, target);
    part.target.push_back(append(part.labels, batch.labels, target));
  }
  return split;
}

std::int64_t LabelCount(const Batch& batch) {
  return std::ranges::count_if(batch.labels, [](std::int32_t label) { return label >= 0; });
}

BatchStream::BatchStream(const Corpus& corpus, BatchOptions options, BatchPosition position)
    : BatchStream(std::make_shared<SentencePairs>(corpus, options), options, position) {}

BatchStream::BatchStream(std::shared_ptr<const Examples> examples, BatchOptions options, BatchPosition position)
    : examples_(std::move(examples)), options_(std::move(options)), position_(position) {
  Check(options_.batch_tokens >= 1 && options_.batch_tokens <= kMaxBatchTokens,
        "a batch must have from 1 to {} tokens, not {}", kMaxBatchTokens, options_.batch_tokens);
  Check(examples_->size() <= std::numeric_limits<std::uint32_t>::max(),
        "a corpus of {} examples is beyond the {} that fit", examples_->size(),
        std::numeric_limits<std::uint32_t>::max());
  Check(position.epoch >= 0 && position.batch >= 0, "a place in the data is not negative, as epoch {}, batch {} is",
        position.epoch, position.batch);
}

void BatchStream::PlanEpoch() {
  Random random = RandomFor(options_.seed, Purpose::shuffle, position_.epoch);
  order_.resize(static_cast<std::size_t>(examples_->size()));
  std::iota(order_.begin(), order_.end(), 0u);
  Shuffle(order_, random);

  batches_.clear();
  for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
    for (std::int64_t pool = 0; end < order_.size() && pool < kPoolBatches * options_.batch_tokens; ++end)
      pool += examples_->LengthsOf(order_[end]).rows;
    // Those of the same lengths stay in their shuffled order.
    std::stable_sort(order_.begin() + std::ptrdiff_t(begin), order_.begin() + std::ptrdiff_t(end),
                     [&](std::uint32_t a, std::uint32_t b) {
                       const Examples::Lengths left = examples_->LengthsOf(a), right = examples_->LengthsOf(b);
                       return std::pair(left.rows, left.other) < std::pair(right.rows, right.other);
                     });
    std::int64_t tokens = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::int64_t added = examples_->LengthsOf(order_[i]).rows;
      if (i == begin || tokens + added > options_.batch_tokens) {
        batches_.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i)});
        tokens = 0;
      }
      tokens += added;
      ++batches_.back().end;
    }
  }
  Shuffle(batches_, random);
  planned_epoch_ = position_.epoch;
}

Batch BatchStream::Next() {
  if (planned_epoch_ != position_.epoch) PlanEpoch();
  const auto count = static_cast<std::int64_t>(batches_.size());
  Check(position_.batch < count, "epoch {} has {} batches; there is no batch {}", position_.epoch, count,
        position_.batch);

  Batch batch;
  const Range range = batches_[static_cast<std::size_t>(position_.batch)];
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    Random random = RandomFor(options_.seed, Purpose::sample, position_.epoch, order_[i]);
    examples_->Append(order_[i], random, batch);
  }
  ++position_.batch;
  if (position_.batch == count) position_ = {position_.epoch + 1, 0};
  batch.next = position_;
  batch.batches_in_epoch = count;
  return batch;
}

}  // namespace headlight
