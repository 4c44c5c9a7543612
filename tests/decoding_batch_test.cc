// Checks that a text of a running batch does not affect the other texts.
#include "headlight/generate/decoding_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/kernels/attention.h"
#include "headlight/models/dalle_mini.h"
#include "headlight/models/gpt.h"
#include "headlight/models/transformer.h"
#include "tests/decoding_batch_testing.h"
#include "tests/parity_testing.h"

namespace headlight::decoding_batch_test {
namespace {

using namespace decoding_batch_testing;
using kernels::CacheType;

// Checks guidance with a shortlist. Scores are normalized over the list, so a list of the whole vocabulary has no
// effect.
TEST(DecodingBatch, GuidesWithinAShortlist) {
  Shortlist everything{{}, std::vector<std::int32_t>(42), {}};
  for (std::int32_t id = 0; id < 41; ++id) everything.always.push_back(id);
  Subject subject = OfMarian();
  for (const SearchOptions& options :
       {SearchOptions{.beam_size = 3, .n_best = 3, .guidance = 0.5}, SearchOptions{.beam_size = 2, .guidance = 3},
        SearchOptions{.processors = {.repetition_penalty = 1.3}, .guidance = 2}}) {
    DecodingRequest request = subject.requests.back();
    SearchOptions changed = options;
    changed.end_ids = {0};
    changed.generates_padding = true;  // the shortlist contains padding
    request.options = std::make_shared<const SearchOptions>(changed);
    std::vector<std::vector<Hypothesis>> results;
    for (const Shortlist* const shortlist : {static_cast<const Shortlist*>(nullptr), &std::as_const(everything)}) {
      subject.shortlist = shortlist;
      DecodingBatch batch = subject.Batch();
      batch.Add(request);
      results.push_back(Finish(batch).front().hypotheses);
    }
    EXPECT_GT(results[0].front().ids.size(), 1U);
    EXPECT_TRUE(Same(results[0], results[1]));
  }
}

// The fixture has a small model and requests for a running batch.
class DecodingBatchTest : public testing::Test {
 protected:
  DecodingBatchTest() {
    model_.parameters().Initialize(1);
    for (const DecodingRequest& request : OfTexts(model_, 30, SomePrompts(60)).requests)
      if (request.options->guidance == 1) requests_.push_back(request);
  }
  Gpt model_{SmallGpt()};
  std::vector<DecodingRequest> requests_;
};

TEST_F(DecodingBatchTest, GroupsRequestsWithEqualOptions) {
  DecodingBatch batch(model_);
  SearchOptions options{.sample = true};
  options.stops = std::make_shared<const StopCondition>([](std::span<const std::int32_t>) { return false; });
  const auto owners = [&](const SearchOptions& second) {  // returns the reference count of the second request's options
    const auto first_options = std::make_shared<const SearchOptions>(options);
    auto second_options = std::make_shared<const SearchOptions>(second);
    const std::weak_ptr<const SearchOptions> weak = second_options;
    const std::int64_t first = batch.Add({.prompt = {1}, .options = first_options});
    const std::int64_t last = batch.Add({.prompt = {2}, .options = std::move(second_options)});
    const auto count = weak.use_count();
    EXPECT_TRUE(batch.Remove(first) && batch.Remove(last));
    return count;
  };
  EXPECT_EQ(owners(options), 0);
  SearchOptions other = options;
  other.sampling.top_k = 3;
  EXPECT_EQ(owners(other), 1);
  other = options;
  other.stops = std::make_shared<const StopCondition>(*options.stops);
  EXPECT_EQ(owners(other), 1);
}

TEST_F(DecodingBatchTest, ANaNEndsOnlyItsOwnText) {
  constexpr std::int32_t poison = 60;  // token with a NaN embedding but a finite score
  GptConfig config = SmallGpt();
  config.tie_output = false;
  Gpt model(config);
  model.parameters().Initialize(1);
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.names.front().ends_with("wte.weight")) parameter.value.ViewRows(poison, 1).Fill(NAN);
  for (const bool sample : {false, true}) {
    auto options = std::make_shared<SearchOptions>();
    options->sample = sample;
    options->end_ids = {0};
    const auto request = [&](Ids prompt, std::uint64_t seed) {
      return DecodingRequest{.prompt = std::move(prompt), .options = options, .max_new_tokens = 6, .seed = seed};
    };
    const auto run = [&](const std::vector<DecodingRequest>& requests) {
      DecodingBatch batch(model);
      for (const DecodingRequest& one : requests) batch.Add(one);
      std::vector<Decoded> ended = Finish(batch);
      std::ranges::sort(ended, {}, &Decoded::id);
      return ended;
    };
    const DecodingRequest first = request({1, 2, 3}, 1), bad = request({4, poison, 5}, 2), last = request({6}, 3);
    const std::vector<Decoded> ended = run({first, bad, last});
    ASSERT_EQ(ended.size(), 3U);
    EXPECT_THAT(ErrorOf([&] { std::rethrow_exception(ended[1].error); }), testing::HasSubstr("NaN"));
    EXPECT_TRUE(Same(ended[0].hypotheses, run({first})[0].hypotheses));
    EXPECT_TRUE(Same(ended[2].hypotheses, run({last})[0].hypotheses));
  }
}

// Checks that tokens before a NaN in the same pass may be shared.
TEST_F(DecodingBatchTest, ANaNDoesNotReachTextsThatShareEarlierTokens) {
  constexpr std::int32_t poison = 60;
  GptConfig config = SmallGpt();
  config.tie_output = false;
  Gpt model(config);
  model.parameters().Initialize(1);
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.names.front().ends_with("wte.weight")) parameter.value.ViewRows(poison, 1).Fill(NAN);
  const auto options = std::make_shared<const SearchOptions>();
  Random random(4);
  Ids bad = RandomIds(random, 90, 60);
  const Ids good(bad.begin(), bad.begin() + 30);
  bad[40] = poison;
  DecodingBatch batch(model, {.pass_tokens = 50});
  batch.Add({.prompt = bad, .options = options, .max_new_tokens = 4});
  batch.Step();
  batch.Add({.prompt = good, .options = options, .max_new_tokens = 4});
  for (const Decoded& text : Finish(batch)) EXPECT_EQ(text.error != nullptr, text.id == 0);
}

TEST_F(DecodingBatchTest, AnInvalidPromptEndsOnlyItsOwnText) {
  const auto& model = LoadOnce<DalleMini>("dalle/dalle_mini");
  auto options = std::make_shared<SearchOptions>();
  const auto request = [&](Ids prompt) {
    return DecodingRequest{.prompt = std::move(prompt), .options = options, .max_new_tokens = 4};
  };
  const DecodingRequest good = request(model.Prompt(Ids{4, 5})), bad = request({0});  // not a text prompt
  Ids begun = good.prompt;
  begun.push_back(static_cast<std::int32_t>(model.limits().vocabulary) - 1);  // not a code
  DecodingBatch alone(model);
  alone.Add(good);
  const std::vector<Decoded> expected = Finish(alone);
  for (const DecodingRequest& failing : {bad, request(begun)}) {
    DecodingBatch batch(model);
    for (const DecodingRequest& one : {good, failing, good}) batch.Add(one);
    int failed = 0;
    for (const Decoded& text : Finish(batch)) {
      failed += text.error != nullptr;
      EXPECT_EQ(text.error != nullptr, text.id == 1);
      if (text.error == nullptr) {
        EXPECT_TRUE(Same(text.hypotheses, expected.front().hypotheses));
      }
    }
    EXPECT_EQ(failed, 1);
  }
}

// Checks that a memory of the wrong size ends only the text of this memory. The text may be the first in the batch, and
// the memories of several texts may be combined.
TEST_F(DecodingBatchTest, AMemoryOfWrongSizeEndsOnlyItsOwnText) {
  const Subject subject = OfMarian();
  const DecodingRequest &one = subject.requests[4], &other = subject.requests[8];
  DecodingRequest bad = one;
  bad.memory = Tensor::Zeros({3, 7});
  const std::vector<DecodingRequest> orders[] = {{bad, one, other}, {one, bad, other}, {one, other, bad}};
  for (const std::vector<DecodingRequest>& requests : orders) {
    DecodingBatch batch = subject.Batch();
    std::vector<bool> fails;
    for (const DecodingRequest& request : requests) {
      batch.Add(request);
      fails.push_back(request.memory.columns() == 7);
    }
    for (const Decoded& text : Finish(batch))
      EXPECT_EQ(text.error != nullptr, fails[static_cast<std::size_t>(text.id)]) << text.id;
  }
}

// Checks that the zero states for guidance have the width of each text's memory.
TEST_F(DecodingBatchTest, AMemoryOfWrongSizeDoesNotAffectGuidanceOfOthers) {
  const Subject subject = OfMarian();
  DecodingRequest good = subject.requests[4];
  good.options = std::make_shared<const SearchOptions>(SearchOptions{.end_ids = {0}, .guidance = 2});
  DecodingRequest bad = good;
  bad.memory = Tensor::Zeros({3, 7});
  DecodingBatch alone = subject.Batch(), batch = subject.Batch();
  alone.Add(good);
  for (const DecodingRequest& request : {bad, good}) batch.Add(request);
  const std::vector<Decoded> expected = Finish(alone);
  for (const Decoded& text : Finish(batch)) {
    EXPECT_EQ(text.error != nullptr, text.id == 0);
    if (text.id == 1) {
      EXPECT_TRUE(Same(text.hypotheses, expected.front().hypotheses));
    }
  }
}

TEST_F(DecodingBatchTest, ACallbackThatThrowsEndsOnlyItsOwnText) {
  DecodingBatch batch(model_);
  const auto options = std::make_shared<const SearchOptions>();
  const DecodingRequest good{.prompt = {1, 2}, .options = options, .max_new_tokens = 6};
  DecodingRequest bad = good;
  bad.on_token = [](std::int32_t) -> bool { throw std::runtime_error("the client disconnected"); };
  for (const DecodingRequest& request : {good, bad, good}) batch.Add(request);
  const std::vector<Decoded> ended = Finish(batch);
  ASSERT_EQ(ended.size(), 3U);
  for (const Decoded& text : ended) EXPECT_EQ(text.error != nullptr, text.id == 1);
  EXPECT_THROW(std::rethrow_exception(ended.front().error), std::runtime_error);
}

// Checks exceptions from a stop condition, including exceptions while drafts are verified.
TEST_F(DecodingBatchTest, AStopConditionThatThrowsEndsOnlyItsOwnText) {
  const Subject drafts = OfDrafts();
  for (int last = 1; last < 8; ++last) {
    SearchOptions options;
    options.stops =
        std::make_shared<const StopCondition>([calls = 0, last](std::span<const std::int32_t>) mutable -> bool {
          if (++calls == last) throw std::runtime_error("the client disconnected");
          return false;
        });
    DecodingBatch batch = drafts.Batch();
    batch.Add(
        {.prompt = {1, 2}, .options = std::make_shared<const SearchOptions>(std::move(options)), .max_new_tokens = 9});
    const std::vector<Decoded> ended = Finish(batch);
    ASSERT_EQ(ended.size(), 1U);
    ASSERT_NE(ended.front().error, nullptr);
    EXPECT_THROW(std::rethrow_exception(ended.front().error), std::runtime_error);
    EXPECT_EQ(batch.cached_tokens(), 0);
  }
}

TEST_F(DecodingBatchTest, ACallbackThatCallsTheBatchEndsOnlyItsOwnText) {
  const auto options = std::make_shared<const SearchOptions>();
  const DecodingRequest good{.prompt = {1, 2}, .options = options, .max_new_tokens = 6};
  const std::function<void(DecodingBatch&)> calls[] = {
      [&](DecodingBatch& batch) { batch.Add(good); }, [](DecodingBatch& batch) { batch.Step(); },
      [](DecodingBatch& batch) { batch.Remove(0); }, [](DecodingBatch& batch) { batch.Remove(1); }};
  for (const auto& call : calls)
    for (const bool stops : {false, true}) {
      DecodingBatch batch(model_);
      DecodingRequest bad = good;
      if (stops) {
        SearchOptions calling;
        calling.stops =
            std::make_shared<const StopCondition>([&](std::span<const std::int32_t>) { return call(batch), false; });
        bad.options = std::make_shared<const SearchOptions>(std::move(calling));
      } else {
        bad.on_token = [&](std::int32_t) { return call(batch), true; };
      }
      for (const DecodingRequest& request : {good, bad, good}) batch.Add(request);
      const std::vector<Decoded> ended = Finish(batch);
      ASSERT_EQ(ended.size(), 3U);
      for (const Decoded& text : ended) EXPECT_EQ(text.error != nullptr, text.id == 1);
    }
}

// Transformers forces tokens after it forbids repeated n-grams.
TEST_F(DecodingBatchTest, ForcedTokensMayRepeat) {
  constexpr std::int32_t forced = 7;
  for (const std::int32_t beams : {1, 3}) {
    SearchOptions options{.beam_size = beams, .first_token = forced, .last_token = forced};
    options.processors.no_repeat_ngram_size = 1;
    DecodingBatch batch(model_);
    batch.Add({.prompt = {forced, 3},
               .options = std::make_shared<const SearchOptions>(std::move(options)),
               .max_new_tokens = 4});
    const std::vector<Decoded> ended = Finish(batch);
    const Ids& ids = ended.front().hypotheses.front().ids;
    ASSERT_EQ(ids.size(), 4U);
    EXPECT_EQ(ids.front(), forced);
    EXPECT_EQ(ids.back(), forced);
    EXPECT_EQ(std::ranges::count(ids, forced), 2);
  }
}

TEST_F(DecodingBatchTest, ImpossibleRequestsChangeNothing) {
  DecodingBatch batch(model_);
  const auto refusal = [&](const std::function<void(DecodingRequest&, SearchOptions&)>& change) {
    DecodingRequest request = requests_.front();
    SearchOptions options = *request.options;
    change(request, options);
    request.options = std::make_shared<const SearchOptions>(options);
    return ErrorOf([&] { batch.Add(request); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal([](auto& request, auto&) { request.prompt.clear(); }), HasSubstr("a prompt must have"));
  EXPECT_THAT(refusal([](auto& request, auto&) { request.prompt = {61}; }), HasSubstr("outside the vocabulary of 61"));
  EXPECT_THAT(refusal([](auto& request, auto&) { request.prompt.assign(161, 1); }), HasSubstr("1 to 160 tokens"));
  EXPECT_THAT(refusal([](auto& request, auto&) { request.max_new_tokens = 0; }), HasSubstr("max_new_tokens"));
  EXPECT_THAT(refusal([](auto&, auto& options) { options.beam_size = 0; }), HasSubstr("beam_size"));
  EXPECT_THAT(refusal([](auto&, auto& options) { options.attention = true; }), HasSubstr("attention"));
  EXPECT_THAT(refusal([](auto&, auto& options) { options.end_ids = {99}; }), HasSubstr("`end_ids`: the id 99"));
  EXPECT_TRUE(batch.empty());
  EXPECT_TRUE(batch.Step().empty());
  const Subject subject = OfShortlists();
  DecodingBatch translating = subject.Batch();
  DecodingRequest request = subject.requests.front();
  request.source = {41};
  EXPECT_THAT(ErrorOf([&] { translating.Add(request); }), HasSubstr("the source's token 41"));
  request = subject.requests.front();
  request.memory = Tensor::Zeros({3, 16}, DType::float64);
  EXPECT_THAT(ErrorOf([&] { translating.Add(request); }), HasSubstr("at least 1 token, not float64"));
  request.memory = Tensor::Zeros({0, 16});
  EXPECT_THAT(ErrorOf([&] { translating.Add(request); }), HasSubstr("at least 1 token"));
  EXPECT_TRUE(translating.empty());
  try {
    CheckSearch({.sample = true, .sampling = {.temperature = -1}}, 10);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.option(), "temperature");
  }
}

// Checks that a long prompt is processed in chunks. Other texts get a token in every pass, and the long prompt can be
// cancelled.
TEST_F(DecodingBatchTest, LongPromptsDoNotDelayOthers) {
  auto options = std::make_shared<SearchOptions>();
  DecodingBatch batch(model_, {.pass_tokens = 10});
  int told = 0;
  DecodingRequest quick{.prompt = {1}, .options = options, .max_new_tokens = 100};
  quick.on_token = [&](std::int32_t) { return ++told < 12; };
  batch.Add(quick);
  batch.Step();
  EXPECT_EQ(told, 1);
  const std::int64_t slow = batch.Add({.prompt = Ids(150, 3), .options = options, .max_new_tokens = 3});
  for (int pass = 2; pass < 10; ++pass) {
    EXPECT_TRUE(batch.Step().empty());
    EXPECT_EQ(told, pass);
  }
  EXPECT_TRUE(batch.Remove(slow));
  EXPECT_EQ(batch.cached_tokens(), 9);
  const std::vector<Decoded> ended = Finish(batch);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended.front().hypotheses.front().ids.size(), 12U);  // the callback ended the text
  EXPECT_TRUE(ended.front().hypotheses.front().ended);
}

// Checks that texts with a common prefix share its cache, even if they are added while the prefix is processed.
TEST_F(DecodingBatchTest, SharesCommonPrefixes) {
  auto options = std::make_shared<SearchOptions>();
  options->end_ids = {};
  Random random(4);
  const Ids beginning = RandomIds(random, 90, 60);
  DecodingBatch batch(model_, {.pass_tokens = 30});
  for (std::int32_t i = 0; i < 8; ++i) {
    Ids prompt = beginning;
    prompt.push_back(i);
    batch.Add({.prompt = prompt, .options = options, .max_new_tokens = 5});
  }
  std::int64_t most = 0;
  while (!batch.empty()) {
    batch.Step();
    most = std::max(most, batch.cached_tokens());
  }
  constexpr std::int64_t tokens = 90 + 8 * 6;
  EXPECT_LE(most, tokens);
  // In each of 2 layers, the cache has keys and values of 24 elements per token, and is allocated in whole blocks.
  EXPECT_LE(batch.cache_bytes(), (tokens + kernels::kBlockRows) * 2 * 2 * 24 * 4);
}

// Checks that a bfloat16 or int8 cache takes proportionally less memory, and changes a log-probability by less than
// 1e-3.
TEST_F(DecodingBatchTest, RoundedCachesChangeLittle) {
  const auto run = [&](CacheType type) {
    DecodingBatch batch(model_, {.cache_type = type});
    batch.Add({.prompt = SomePrompts(60).back(), .options = requests_.front().options, .max_new_tokens = 1});
    const Decoded decoded = Finish(batch).front();
    return std::pair(decoded.hypotheses.front().log_probability, batch.cache_bytes());
  };
  const auto [unrounded, bytes] = run(CacheType::unrounded);
  const auto [bfloat16, half] = run(CacheType::bfloat16);
  const auto [int8, quarter] = run(CacheType::int8);
  EXPECT_EQ(half * 2, bytes);
  EXPECT_EQ(quarter, bytes * (4 + 12) / (4 * 12));  // a scale and 12 integers instead of 12 float32
  EXPECT_NE(bfloat16, unrounded);
  EXPECT_NE(int8, unrounded);
  EXPECT_NEAR(bfloat16, unrounded, 1e-3);
  EXPECT_NEAR(int8, unrounded, 1e-3);
}

// Checks that beams that are recomputed after an eviction share their prefix.
TEST_F(DecodingBatchTest, BeamsThatAreReadAgainShareTheirPrefix) {
  const auto run = [&](std::int64_t bound, std::int64_t& evictions) {
    DecodingBatch batch(model_, {.pass_tokens = 50, .cached_tokens = bound});
    Random random(4);
    batch.Add({.prompt = RandomIds(random, 20, 60),
               .options = std::make_shared<const SearchOptions>(),
               .max_new_tokens = 100});
    batch.Add({.prompt = RandomIds(random, 100, 60),
               .options = std::make_shared<const SearchOptions>(SearchOptions{.beam_size = 8}),
               .max_new_tokens = 12});
    std::int64_t most = 0;
    while (!batch.empty()) {
      batch.Step();
      most = std::max(most, batch.cached_tokens());
    }
    evictions = batch.evictions();
    return most;
  };
  std::int64_t none = 0, some = 0;
  const std::int64_t unbounded = run(0, none);
  EXPECT_LE(run(150, some), unbounded);
  EXPECT_EQ(none, 0);
  EXPECT_GT(some, 0);
}

// Checks that the cache stays within its bound if there is more than one text.
TEST_F(DecodingBatchTest, KeepsItsBoundOnTheCache) {
  DecodingBatch batch(model_, {.pass_tokens = 20, .cached_tokens = 120});
  for (const DecodingRequest& request : requests_)
    if (request.options->beam_size == 1) batch.Add(request);
  while (!batch.empty()) {
    batch.Step();
    if (batch.size() > 1) {
      EXPECT_LE(batch.cached_tokens(), 120);
    }
  }
  EXPECT_LE(batch.cache_bytes(), (120 + kernels::kBlockRows) * 2 * 2 * 24 * 4);
}

}  // namespace
}  // namespace headlight::decoding_batch_test
