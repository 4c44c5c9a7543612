#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "headlight/data/prefetch.h"
#include "headlight/data/testing.h"
#include "headlight/data/token_batches.h"

namespace headlight::batches_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Le;

constexpr std::int32_t kStart = 1000001, kEos = 1000002;

// A batch, and the position of the next batch.
struct Batch : TokenBatch {
  BatchPosition next;
  std::int64_t batches_in_epoch = 0;
};

// A stream of batches of sentence pairs.
class PairStream {
 public:
  PairStream(const Corpus& corpus, const BatchOptions& options, const PairOptions& pairs, BatchPosition position = {})
      : pairs_(PairsOf(corpus, pairs)), seed_(options.seed), stream_(pairs_.size, pairs_.length, options, position) {}
  Batch Next() {
    const BatchPlan plan = stream_.Next();
    return {PackBatch(pairs_, plan, seed_), plan.next, plan.batches_in_epoch};
  }

 private:
  TokenExamples pairs_;
  std::uint64_t seed_;
  BatchStream stream_;
};

class BatchStreamTest : public testing::Test {
 protected:
  // Returns a corpus in which pair i has source words "i ..." and target words "i ...", with random lengths from 1 to
  // 20.
  Corpus Made(int pairs) {
    Random random(11);
    std::string source, target;
    for (int pair = 0; pair < pairs; ++pair)
      for (std::string* side : {&source, &target}) {
        for (std::uint64_t words = random.Below(20) + 1; words > 0; --words) *side += std::to_string(pair) + " ";
        *side += "\n";
      }
    return Opened(source, target);
  }
  Corpus Opened(std::string_view source, std::string_view target) {
    corpus_options_.keep_text = true;
    return Corpus({folder_.Write("source", source), folder_.Write("target", target), folder_.Path("cache")}, Numbers, 1,
                  corpus_options_);
  }

  TestFolder folder_;
  CorpusOptions corpus_options_{.max_tokens = 50, .max_ratio = 100};
  BatchOptions options_{.batch_size = 100};
  PairOptions pairs_{.start_id = kStart, .eos_id = kEos};
};

std::vector<Batch> Take(PairStream& stream, std::size_t count) {
  std::vector<Batch> batches;
  while (batches.size() < count) batches.push_back(stream.Next());
  return batches;
}

std::vector<Batch> Epoch(const Corpus& corpus, const BatchOptions& options, std::int64_t epoch,
                         const PairOptions& pairs = {.start_id = kStart, .eos_id = kEos}) {
  PairStream stream(corpus, options, pairs, {epoch, 0});
  std::vector<Batch> batches;
  do batches.push_back(stream.Next());
  while (batches.back().next.epoch == epoch);
  return batches;
}

bool Same(const Batch& a, const Batch& b) {
  return a.source_ids == b.source_ids && a.target_inputs == b.target_inputs && a.labels == b.labels &&
         a.source == b.source && a.target == b.target && a.next == b.next && a.batches_in_epoch == b.batches_in_epoch;
}

// Returns the pairs of Made in these batches, identified by their first word.
std::vector<std::int32_t> Pairs(const std::vector<Batch>& batches) {
  std::vector<std::int32_t> pairs;
  for (const Batch& batch : batches)
    for (const Sequence& sequence : batch.target)
      pairs.push_back(batch.labels[static_cast<std::size_t>(sequence.begin)]);
  return pairs;
}

TEST_F(BatchStreamTest, SplitsIntoPartsOfSimilarSize) {
  const Corpus corpus = Made(200);
  options_.batch_size = 1000;
  const Batch batch = PairStream(corpus, options_, pairs_).Next();
  const std::vector<TokenBatch> parts = SplitBatch(batch, 300);
  const std::size_t count = (batch.labels.size() + 299) / 300;
  ASSERT_GE(count, 2U);
  ASSERT_EQ(parts.size(), count);
  std::vector<std::int32_t> sources, inputs, labels;
  for (const TokenBatch& part : parts) {
    EXPECT_GE(part.labels.size(), batch.labels.size() / count - 60);
    EXPECT_LE(part.labels.size(), batch.labels.size() / count + 60);
    EXPECT_EQ(part.target.back().end(), static_cast<std::int32_t>(part.labels.size()));
    EXPECT_EQ(part.source.back().end(), static_cast<std::int32_t>(part.source_ids.size()));
    sources.insert(sources.end(), part.source_ids.begin(), part.source_ids.end());
    inputs.insert(inputs.end(), part.target_inputs.begin(), part.target_inputs.end());
    labels.insert(labels.end(), part.labels.begin(), part.labels.end());
  }
  EXPECT_EQ(sources, batch.source_ids);
  EXPECT_EQ(inputs, batch.target_inputs);
  EXPECT_EQ(labels, batch.labels);
  EXPECT_EQ(SplitBatch(batch, 1000).size(), 1U);
  EXPECT_EQ(SplitBatch(batch, 1).size(), batch.target.size());
}

// A source token costs half as much as a target token. The later sources are longer, so the first micro-batch has more
// texts.
TEST(SplitBatch, PartsTakeSimilarTime) {
  TokenBatch batch;
  for (std::size_t text = 0; text < 100; ++text)
    AppendPair(std::vector<std::int32_t>(text < 50 ? 2 : 42, 5), std::vector<std::int32_t>(9, 6), 1, 2, batch);
  const std::vector<TokenBatch> parts = SplitBatch(batch, 999);
  ASSERT_EQ(parts.size(), 2U);
  const auto cost = [](const TokenBatch& part) { return part.source_ids.size() + 2 * part.labels.size(); };
  EXPECT_NEAR(static_cast<double>(cost(parts[0])), static_cast<double>(cost(parts[1])), 62);
  EXPECT_EQ(parts[0].target.size() + parts[1].target.size(), 100U);
}

TEST_F(BatchStreamTest, PacksRowsForTeacherForcing) {
  const Corpus corpus = Opened("1 2\n3\n", "4\n5 6\n");
  const Batch batch = PairStream(corpus, options_, pairs_).Next();
  EXPECT_THAT(batch.source_ids, ElementsAre(1, 2, kEos, 3, kEos));  // the pair with the shorter target is first
  EXPECT_THAT(batch.target_inputs, ElementsAre(kStart, 4, kStart, 5, 6));
  EXPECT_THAT(batch.labels, ElementsAre(4, kEos, 5, 6, kEos));
  EXPECT_THAT(batch.source, ElementsAre(Sequence{0, 3}, Sequence{3, 2}));
  EXPECT_THAT(batch.target, ElementsAre(Sequence{0, 2}, Sequence{2, 3}));
  EXPECT_EQ(batch.next, (BatchPosition{1, 0}));
  EXPECT_EQ(batch.batches_in_epoch, 1);
}

TEST_F(BatchStreamTest, RepeatsTheTextsOfABatch) {
  TokenBatch batch;
  AppendPair(std::vector<std::int32_t>{5, 6, 7}, std::vector<std::int32_t>{8}, 1, 2, batch);
  AppendPair(std::vector<std::int32_t>{9}, std::vector<std::int32_t>{10, 11}, 1, 2, batch);
  const TokenBatch twice = Twice(batch);
  EXPECT_EQ(twice.source_ids, (std::vector<std::int32_t>{5, 6, 7, 9, 5, 6, 7, 9}));
  EXPECT_EQ(twice.target_inputs, (std::vector<std::int32_t>{1, 8, 1, 10, 11, 1, 8, 1, 10, 11}));
  EXPECT_EQ(twice.source, (Sequences{{0, 3}, {3, 1}, {4, 3}, {7, 1}}));
  EXPECT_EQ(twice.target, (Sequences{{0, 2}, {2, 3}, {5, 2}, {7, 3}}));
  EXPECT_EQ(twice.labels, batch.labels);
}

TEST_F(BatchStreamTest, AnEpochHasEveryPairOnceWithinTheLimit) {
  const Corpus corpus = Made(5000);
  for (const std::int64_t tokens : {1, 21, 100, 1000, 1000000}) {
    options_.batch_size = tokens;
    const std::vector<Batch> batches = Epoch(corpus, options_, 3);
    std::vector<std::int32_t> pairs = Pairs(batches);
    std::sort(pairs.begin(), pairs.end());
    ASSERT_EQ(pairs.size(), 5000u);
    for (int pair = 0; pair < 5000; ++pair) ASSERT_EQ(pairs[static_cast<std::size_t>(pair)], pair);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const Batch& batch = batches[i];
      ASSERT_TRUE(static_cast<std::int64_t>(batch.labels.size()) <= tokens || batch.target.size() == 1);
      ASSERT_EQ(batch.labels.size(), batch.target_inputs.size());
      ASSERT_EQ(batch.batches_in_epoch, static_cast<std::int64_t>(batches.size()));
      const bool last = i + 1 == batches.size();
      ASSERT_EQ(batch.next, last ? (BatchPosition{4, 0}) : (BatchPosition{3, static_cast<std::int64_t>(i) + 1}));
    }
  }
}

TEST_F(BatchStreamTest, BatchesHaveSimilarLengthsAndAreWellFilled) {
  const Corpus corpus = Made(20000);
  options_.batch_size = 500;
  const std::vector<Batch> batches = Epoch(corpus, options_, 0);
  std::vector<std::int32_t> spreads;
  double tokens = 0;
  for (const Batch& batch : batches) {
    const auto [shortest, longest] = std::minmax_element(batch.target.begin(), batch.target.end(),
                                                         [](auto a, auto b) { return a.length < b.length; });
    spreads.push_back(longest->length - shortest->length);
    tokens += static_cast<double>(batch.labels.size());
  }
  EXPECT_THAT(spreads, Each(Le(3)));
  EXPECT_GT(tokens / static_cast<double>(batches.size()), 0.95 * 500);
}

TEST_F(BatchStreamTest, EpochsAndSeedsChangeTheOrder) {
  const Corpus corpus = Made(2000);
  const auto sets = [&](std::int64_t epoch) {
    std::set<std::set<std::int32_t>> result;
    for (const Batch& batch : Epoch(corpus, options_, epoch)) {
      const std::vector<std::int32_t> pairs = Pairs({batch});
      result.insert(std::set<std::int32_t>(pairs.begin(), pairs.end()));
    }
    return result;
  };
  const auto first = sets(0), second = sets(1);
  EXPECT_EQ(first, sets(0));
  options_.seed = 2;
  const auto other = sets(0);
  for (const auto& set : first) {
    EXPECT_EQ(second.count(set), 0u);
    EXPECT_EQ(other.count(set), 0u);
  }
}

// Checks that the first batch of an epoch can have any length, so that short examples do not come first.
TEST_F(BatchStreamTest, BatchesAreNotOrderedByLength) {
  const Corpus corpus = Made(2000);
  double sum = 0;
  for (std::int64_t epoch = 0; epoch < 50; ++epoch)
    sum += static_cast<double>(PairStream(corpus, options_, pairs_, {epoch, 0}).Next().target[0].length);
  EXPECT_NEAR(sum / 50, 14, 4);  // labels are 2 to 21, and longer examples fill more batches
}

TEST_F(BatchStreamTest, ResumesAnywhere) {
  const Corpus corpus = Made(300);
  pairs_.sample = [](std::string_view text, Side, Random& random) {
    std::vector<std::int32_t> ids = Numbers(text);
    ids.push_back(static_cast<std::int32_t>(random.Below(1000)));
    return ids;
  };
  PairStream stream(corpus, options_, pairs_);
  const std::vector<Batch> whole = Take(stream, 120);  // more than three epochs
  ASSERT_GE(whole.back().next.epoch, 2);
  for (std::size_t cut = 1; cut < whole.size(); cut += 7) {
    PairStream resumed(corpus, options_, pairs_, whole[cut - 1].next);
    const std::vector<Batch> rest = Take(resumed, std::min<std::size_t>(10, whole.size() - cut));
    for (std::size_t i = 0; i < rest.size(); ++i) ASSERT_TRUE(Same(rest[i], whole[cut + i])) << cut << " " << i;
  }
}

TEST_F(BatchStreamTest, IsTheSameThroughAPrefetchThread) {
  const Corpus corpus = Made(300);
  PairStream direct(corpus, options_, pairs_), ahead(corpus, options_, pairs_);
  Prefetch<Batch> prefetch([&] { return ahead.Next(); }, 4);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Same(prefetch.Next(), direct.Next())) << i;
}

TEST_F(BatchStreamTest, SamplesTheTextAgainInEachEpoch) {
  const Corpus corpus = Made(200);
  pairs_.sample = [](std::string_view text, Side side, Random& random) {
    const std::uint64_t drawn = 2 * random.Below(1 << 29) + (side == Side::target);
    return std::vector<std::int32_t>{Numbers(text)[0], static_cast<std::int32_t>(drawn)};
  };
  std::map<std::int32_t, std::set<std::int32_t>> drawn;  // sampled ids of each pair over the epochs
  for (std::int64_t epoch = 0; epoch < 3; ++epoch)
    for (const Batch& batch : Epoch(corpus, options_, epoch, pairs_))
      for (std::size_t i = 0; i < batch.target.size(); ++i) {
        const auto source = static_cast<std::size_t>(batch.source[i].begin);
        const auto target = static_cast<std::size_t>(batch.target[i].begin);
        ASSERT_EQ(batch.source_ids[source], batch.labels[target]);
        ASSERT_EQ(batch.source_ids[source + 1] % 2, 0);
        ASSERT_EQ(batch.labels[target + 1] % 2, 1);
        drawn[batch.labels[target]].insert({batch.source_ids[source + 1], batch.labels[target + 1]});
      }
  ASSERT_EQ(drawn.size(), 200u);
  for (const auto& [pair, numbers] : drawn) EXPECT_EQ(numbers.size(), 6u) << pair;
}

TEST_F(BatchStreamTest, ASampleOverTheLengthLimitIsNotUsed) {
  corpus_options_.max_tokens = 4;
  const Corpus corpus = Opened("1 2\n", "3 4 5\n");
  for (const std::int32_t length : {0, 1, 3, 4, 100}) {
    pairs_.sample = [length](std::string_view, Side, Random&) {
      return std::vector<std::int32_t>(static_cast<std::size_t>(length), 9);
    };
    const Batch batch = PairStream(corpus, options_, pairs_).Next();
    const bool taken = length == 1 || length == 3;
    EXPECT_EQ(batch.source_ids[0], taken ? 9 : 1) << length;
    EXPECT_EQ(batch.labels.size(), taken ? static_cast<std::size_t>(length) + 1 : 4) << length;
  }
}

TEST_F(BatchStreamTest, RefusesImpossibleOptionsAndPositions) {
  const Corpus corpus = Made(10);
  const auto failure = [&](BatchPosition position) {
    return ErrorOf([&] { PairStream(corpus, options_, pairs_, position).Next(); });
  };
  EXPECT_THAT(failure({0, 1000}), HasSubstr("there is no batch 1000"));
  EXPECT_THAT(failure({-1, 0}), HasSubstr("epoch -1"));
  for (const std::int64_t tokens : {std::int64_t{0}, std::int64_t{-5}, std::int64_t{1} << 40}) {
    options_.batch_size = tokens;
    EXPECT_THAT(failure({}), HasSubstr("must be from 1 to 16777216"));
  }
}

}  // namespace
}  // namespace headlight::batches_test
