// Tests span corruption and denoising of texts, and the training of encoder-decoders on such texts and on pairs of
// texts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/test_support.h"
#include "headlight/models/bart.h"
#include "headlight/models/t5.h"
#include "headlight/train/objectives/denoising.h"
#include "headlight/train/objectives/span_corruption.h"
#include "headlight/train/objectives/teacher_forcing.h"
#include "headlight/train/trainer.h"
#include "tests/training_testing.h"

namespace headlight::sequence_training_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kPad = 0, kEnd = 1, kStop = 2, kMask = 3, kWords = 10, kSentinel = 90, kVocabulary = 100;

// Returns a text of distinct tokens, starting with kWords.
Ids Text(int length) {
  Ids text(static_cast<std::size_t>(length));
  std::iota(text.begin(), text.end(), kWords);
  return text;
}

SpanOptions Spans(double share = 0.15) {
  SpanOptions spans{.share = share};
  for (std::int32_t i = 0; i < 10; ++i) spans.sentinels.push_back(kSentinel + 9 - i);  // descending, as in T5
  return spans;
}

bool IsSentinel(std::int32_t id) { return id >= kSentinel; }

// Restores the text from a pair.
Ids Corrected(const SequenceExample& pair) {
  std::map<std::int32_t, Ids> hidden;
  std::int32_t sentinel = -1;
  for (const std::int32_t id : pair.target) IsSentinel(id) ? void(sentinel = id) : hidden[sentinel].push_back(id);
  Ids text;
  for (const std::int32_t id : pair.source)
    if (IsSentinel(id))
      text.insert(text.end(), hidden[id].begin(), hidden[id].end());
    else
      text.push_back(id);
  return text;
}

TEST(HiddenSpans, FollowThePaperAndPreserveTheText) {
  Random random(1);
  std::vector<int> hidden_at(40);
  for (int draw = 0; draw < 2000; ++draw) {
    const Ids text = Text(40);
    const SequenceExample pair = HideSpans(text, Spans(), random);
    // 15% of 40 tokens are 6 tokens, in two spans with a mean length of 3. The source therefore has two sentinels. The
    // target has the same sentinels and a final one.
    ASSERT_EQ(pair.source.size(), 40u - 6 + 2);
    ASSERT_EQ(pair.target.size(), 6u + 3);
    ASSERT_EQ(Corrected(pair), text);
    Ids in_source, in_target;
    std::ranges::copy_if(pair.source, std::back_inserter(in_source), IsSentinel);
    std::ranges::copy_if(pair.target, std::back_inserter(in_target), IsSentinel);
    ASSERT_THAT(in_source, ElementsAre(kSentinel + 9, kSentinel + 8));
    ASSERT_THAT(in_target, ElementsAre(kSentinel + 9, kSentinel + 8, kSentinel + 7));
    ASSERT_EQ(pair.target.back(), kSentinel + 7);
    for (std::size_t i = 1; i < pair.source.size(); ++i)  // spans are not adjacent
      ASSERT_FALSE(IsSentinel(pair.source[i]) && IsSentinel(pair.source[i - 1]));
    for (const std::int32_t id : pair.target)
      if (!IsSentinel(id)) ++hidden_at[static_cast<std::size_t>(id - kWords)];
  }
  // All positions are masked in some samples. The first and the last position are masked less often.
  EXPECT_GT(*std::ranges::min_element(hidden_at), 2000 * 0.03);
  EXPECT_LT(*std::ranges::max_element(hidden_at), 2000 * 0.22);
}

TEST(HiddenSpans, MaskOneTokenOfShortTextsAndNeedSentinelsForLongOnes) {
  Random random(1);
  EXPECT_EQ(HideSpans(Text(1), Spans(), random),
            (SequenceExample{{kSentinel + 9}, {kSentinel + 9, 10, kSentinel + 8}}));
  // Two spans would be adjacent, so there is only one.
  const SequenceExample pair = HideSpans(Text(4), Spans(0.9), random);
  EXPECT_EQ(pair, (SequenceExample{{kSentinel + 9}, {kSentinel + 9, 10, 11, 12, 13, kSentinel + 8}}));
}

TEST(CorruptedTexts, HaveOneMaskPerSpan) {
  Random random(1);
  const NoiseOptions noise{.mask_id = kMask};
  std::map<std::ptrdiff_t, int> masks;
  int empty_first = 0, without_first = 0, draws = 4000;
  for (int draw = 0; draw < draws; ++draw) {
    const Ids noised = AddNoise(Text(40), noise, random);
    Ids kept;
    std::ranges::copy_if(noised, std::back_inserter(kept), [](std::int32_t id) { return id != kMask; });
    ASSERT_EQ(kept.size(), 28u);                // 30% of 40 tokens are masked
    ASSERT_TRUE(std::ranges::is_sorted(kept));  // one sentence, whose words stay in order
    ++masks[std::ranges::count(noised, kMask)];
    without_first += kept.front() != kWords;
    // If a mask replaces an empty span, the tokens before and after it are adjacent in the text.
    const auto mask = std::ranges::find(noised, kMask) - noised.begin();
    if (mask > 0 && mask + 1 < std::ssize(noised))
      empty_first += noised[static_cast<std::size_t>(mask) - 1] + 1 == noised[static_cast<std::size_t>(mask) + 1];
  }
  // Twelve tokens are hidden in spans with Poisson-distributed lengths of mean 3. About 5% of the spans are empty,
  // except for the last span of each text.
  double mean = 0;
  for (const auto& [count, often] : masks) mean += static_cast<double>(count) * often / draws;
  EXPECT_NEAR(mean, 4.6, 0.2);
  EXPECT_LE(masks.rbegin()->first, 12);
  EXPECT_NEAR(empty_first, 0.027 * draws, 0.01 * draws);
  EXPECT_GT(without_first, 0.05 * draws);
}

TEST(CorruptedTexts, PermuteSentences) {
  Random random(1);
  // Consecutive full stops end one sentence. The last sentence has no full stop.
  const Ids text = {10, kStop, 11, 12, kStop, kStop, 13};
  std::set<Ids> orders;
  for (int draw = 0; draw < 2000; ++draw) {
    Ids noised = AddNoise(text, {.share = 0.01, .mask_id = kMask, .sentence_ends = {kStop}}, random);
    ASSERT_EQ(std::ranges::count(noised, kMask), 1);  // the only hidden token is replaced by one mask
    std::erase_if(noised, [](std::int32_t id) { return id < kWords; });
    if (noised.size() == 4) orders.insert(noised);
  }
  EXPECT_THAT(orders, testing::UnorderedElementsAre(Ids{10, 11, 12, 13}, Ids{10, 13, 11, 12}, Ids{11, 12, 10, 13},
                                                    Ids{11, 12, 13, 10}, Ids{13, 10, 11, 12}, Ids{13, 11, 12, 10}));
}

std::unique_ptr<T5> SmallT5() {
  T5Config config;
  config.model = 32;
  config.encoder_layers = config.decoder_layers = 1;
  config.heads = 2;
  config.head_dim = 16;
  config.ffn = 64;
  config.dropout = 0;
  config.vocabulary = kVocabulary;
  auto model = std::make_unique<T5>(config);
  model->parameters().Initialize(5);
  return model;
}

std::unique_ptr<Bart> SmallBart() {
  BartConfig config;
  config.model = 32;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_ffn = config.decoder_ffn = 64;
  config.dropout = 0;
  config.vocabulary = kVocabulary;
  config.positions = 32;
  config.start_id = config.end_id = kEnd;
  config.pad_id = kPad;
  auto model = std::make_unique<Bart>(config);
  model->parameters().Initialize(5);
  return model;
}

TextSets Texts(int count = 20) {
  TextSets texts;
  for (int i = 0; i < count; ++i)
    texts.train.push_back({.ids = Text(8 + i % 4), .types = {}, .words = {}, .labels = {}});
  texts.valid = {texts.train[0], texts.train[1]};
  return texts;
}

TrainingOptions Options() {
  TrainingOptions options;
  options.schedule = {.kind = ScheduleKind::cosine, .warmup = 10, .peak = 1e-2, .total = 100};
  options.steps = options.validate_every = 100;
  return options;
}

const TeacherForcingOptions kTeacherForcing{{.batch_size = 128}, 0};

// Reads the batches of a task with one micro-batch each, and stores the last one.
struct TokenStream {
  TokenStream(const TrainingTask& task, const BatchPosition& position) : next(task.batches(position)) {}
  TokenBatch Next() {
    last = next();
    EXPECT_EQ(last.parts.size(), 1u);
    return last.parts.at(0).As<TokenBatch>();
  }
  std::function<TrainingBatch()> next;
  TrainingBatch last;
};

TEST(SequenceTasks, BatchesDependOnSeedEpochAndPosition) {
  const auto t5 = SmallT5();
  const auto bart = SmallBart();
  const TextSets texts = Texts();
  const AroundTexts around{{}, {kEnd}};
  for (const TrainingTask& task : {SpanCorruptionTask(*t5, texts, around, Spans(), kTeacherForcing),
                                   DenoisingTask(*bart, texts, around, {.mask_id = kMask}, kTeacherForcing)}) {
    TokenStream stream(task, {}), again(task, {}), later(task, {.epoch = 1, .batch = 0});
    const TokenBatch first = stream.Next();
    EXPECT_EQ(first.source_ids, again.Next().source_ids);
    const TokenBatch second_epoch = later.Next();
    while (stream.last.next.epoch == 0) stream.Next();
    EXPECT_EQ(second_epoch.source_ids, stream.Next().source_ids);
    EXPECT_NE(first.source_ids, second_epoch.source_ids);
    // Each source ends with the end token, and the decoder's inputs are its shifted targets.
    for (const Sequence& source : first.source)
      EXPECT_EQ(first.source_ids[static_cast<std::size_t>(source.begin + source.length) - 1], kEnd);
    for (const Sequence& target : first.target) {
      const auto begin = static_cast<std::size_t>(target.begin), end = begin + static_cast<std::size_t>(target.length);
      EXPECT_EQ(first.target_inputs[begin], task.model == t5.get() ? kPad : kEnd);
      for (std::size_t i = begin + 1; i < end; ++i) EXPECT_EQ(first.target_inputs[i], first.labels[i - 1]);
      EXPECT_EQ(first.labels[end - 1], kEnd);
    }
    EXPECT_EQ(task.validate({}).loss, task.validate({}).loss);  // each validation hides the same spans
  }
}

// Checks that two passes are equal without dropout and differ with different dropout masks.
TEST(SequenceTasks, RDropComparesTwoPasses) {
  BartConfig config = SmallBart()->config();
  config.dropout = 0.2;
  Bart model(config);
  model.parameters().Initialize(5);
  TokenBatch batch;
  for (int text = 4; text < 8; ++text) AppendPair(Text(text), Text(text + 1), kEnd, kEnd, batch);
  const auto loss = [&](bool training, double r_drop) {
    Tape tape;
    Context context;
    context.tape = &tape;
    if (training) context.training = {.seed = 3};
    return static_cast<double>(
        TeacherForcedLoss(model, context, r_drop > 0 ? Twice(batch) : batch, 0.1, 1, r_drop).data<float>()[0]);
  };
  EXPECT_NEAR(loss(false, 5), loss(false, 0), 1e-4 * loss(false, 0));
  const double apart = loss(true, 5) - loss(true, 1e-9);
  EXPECT_GT(apart, 0.01);
  EXPECT_NEAR(loss(true, 10) - loss(true, 1e-9), 2 * apart, 0.01 * apart);
}

TEST(SequenceTasks, RDropStartsAfterItsEpochs) {
  const auto bart = SmallBart();
  const TextSets texts = Texts();
  TeacherForcingOptions options = kTeacherForcing;
  options.r_drop = 5;
  options.r_drop_after = 1;
  const TrainingTask task = DenoisingTask(*bart, texts, {{}, {kEnd}}, {.mask_id = kMask}, options);
  TokenStream stream(task, {});
  do EXPECT_FALSE(stream.Next().twice);
  while (stream.last.next.epoch == 0);
  EXPECT_TRUE(stream.Next().twice);
  TokenStream resumed(task, {.epoch = 1, .batch = 0});
  EXPECT_TRUE(resumed.Next().twice);
}

TEST(SequenceTasks, FitAndCountPairs) {
  const TemporaryFolder folder;
  const auto model = SmallT5();
  SequenceSets sets;
  for (std::int32_t word = kWords; word < kWords + 12; ++word) sets.train.push_back({{word, kEnd}, {word + 20, word}});
  sets.valid = sets.train;
  sets.valid_sources.assign(12, "a word");
  sets.decode = [](std::span<const std::int32_t> ids) { return fmt::format("{}", fmt::join(ids, " ")); };
  const TrainingOptions options = Options();
  const TrainingTask task = SequenceTask(*model, sets, kTeacherForcing);
  EXPECT_LT(task.validate({}).score, 50);
  const ValidationReport last = LastReport(task, options, folder.File("c"));
  EXPECT_EQ(last.score, 100);
  EXPECT_EQ(last.score_name, "exact");
  EXPECT_LT(last.loss, 0.1);
  ASSERT_EQ(last.samples.size(), 3u);
  EXPECT_EQ(last.samples[1].output, "31 11");
}

TEST(SequenceTasks, RefuseInvalidExamples) {
  const auto t5 = SmallT5();
  const auto bart = SmallBart();
  const AroundTexts around{{}, {kEnd}};
  const TextSets texts = Texts();
  TextSets longer = texts;
  longer.train[3].ids = Text(75);
  EXPECT_THAT(ErrorOf([&] { DenoisingTask(*bart, longer, around, {.mask_id = kMask}, kTeacherForcing); }),
              HasSubstr("text 4 to train on"));
  SpanOptions few = Spans();
  few.sentinels.resize(2);
  SpanCorruptionTask(*t5, texts, around, few, kTeacherForcing);
  EXPECT_THAT(ErrorOf([&] { SpanCorruptionTask(*t5, longer, around, few, kTeacherForcing); }),
              HasSubstr("75 tokens needs 4 sentinels"));
  EXPECT_THAT(ErrorOf([&] { SpanCorruptionTask(*t5, texts, around, Spans(1), kTeacherForcing); }),
              HasSubstr("share of hidden tokens"));
  EXPECT_THAT(
      ErrorOf([&] { DenoisingTask(*bart, texts, around, {.mean_length = 0, .mask_id = kMask}, kTeacherForcing); }),
      HasSubstr("mean length"));
  const SequenceSets sets{.train = {{{10, kEnd}, Text(32)}},
                          .valid = {{{10, kEnd}, {11}}},
                          .valid_sources = {"a"},
                          .decode = [](std::span<const std::int32_t>) { return ""; }};
  EXPECT_THAT(ErrorOf([&] { SequenceTask(*bart, sets, kTeacherForcing); }), HasSubstr("pair 1 to train on"));
}

}  // namespace
}  // namespace headlight::sequence_training_test
