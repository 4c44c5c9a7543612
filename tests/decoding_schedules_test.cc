// Checks that a text's result is bit-identical in a batch of one text and in any other batch. Random schedules contain
// joins, cancellations, chunks, shared prefixes, shared memories and evictions. All kinds of models are tested.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/random.h"
#include "headlight/base/test_support.h"
#include "headlight/kernels/row_testing.h"
#include "headlight/kinds/caption_model.h"
#include "headlight/models/dalle.h"
#include "headlight/models/dalle_mini.h"
#include "headlight/models/family.h"
#include "headlight/models/llama.h"
#include "tests/decoding_batch_testing.h"
#include "tests/parity_testing.h"

namespace headlight::decoding_schedules_test {
namespace {

using namespace decoding_batch_testing;
using kernels::CacheType;

Subject OfLlama() {
  static const std::unique_ptr<Llama> model = [] {
    auto made = std::make_unique<Llama>(LlamaConfig{.model = 24,
                                                    .layers = 2,
                                                    .heads = 4,
                                                    .key_heads = 2,
                                                    .head_dim = 10,
                                                    .ffn = 20,
                                                    .vocabulary = 61,
                                                    .positions = 160,
                                                    .begin_id = 60,
                                                    .end_id = 60});
    made->parameters().Initialize(1);
    return made;
  }();
  return OfTexts(*model, 70, SomePrompts(60));
}

std::unique_ptr<LanguageModel> NewFamily(std::string_view name) {
  const std::vector<NewLanguageModel> all = NewLanguageModels();
  const NewLanguageModel& family = *std::ranges::find(all, name, &NewLanguageModel::name);
  auto made = family.make({.model = 24,
                           .ffn = family.Ffn(24),
                           .layers = 2,
                           .positions = 160,
                           .vocabulary = 61,
                           .begin_id = 60,
                           .end_id = 60,
                           .experts = 5});
  made->parameters().Initialize(1);
  return made;
}

Subject OfExperts() {
  static const std::unique_ptr<LanguageModel> model = NewFamily("qwen2_moe");
  return OfTexts(*model, 70, SomePrompts(60));
}

// Returns a model with ALiBi, in which attention scores decrease with the distance of a key.
Subject OfLinearBiases() {
  static const std::unique_ptr<LanguageModel> model = NewFamily("bloom");
  return OfTexts(*model, 70, SomePrompts(60));
}

// Returns a model of the family with sliding-window attention over 5 tokens, in the first layer or in both.
std::unique_ptr<LanguageModel> WithWindows(std::string_view family, const LoadModelOptions& options = {}) {
  const TemporaryFolder folder;
  NewFamily(family)->Save(folder.path());
  Json config = ReadJson(folder.File("config.json")).value();
  config.Set("sliding_window", 5);
  if (config.Find("layer_types") != nullptr)
    config.Set("layer_types", Json::Array{"sliding_attention", "full_attention"});
  WriteFile(folder.File("config.json"), config.Text());
  return LoadModel<LanguageModel>(folder.path(), options);
}

Subject OfWindows() {
  static const std::unique_ptr<LanguageModel> model = WithWindows("gemma3_text");
  return OfTexts(*model, 70, SomePrompts(60));
}

// Returns a model with sliding windows and a draft. A single greedy text uses speculative decoding.
Subject OfWindowsWithDrafts() {
  static const std::unique_ptr<LanguageModel> model =
      WithWindows("mistral", {.purpose = LoadFor::computing_with_draft});
  return OfTexts(*model, 70, SomePrompts(60));
}

Subject OfT5() { return OfSources(LoadOnce<EncoderDecoder>("encoder_decoders/t5_gated_gelu_untied"), 90); }
Subject OfBart() { return OfSources(LoadOnce<EncoderDecoder>("encoder_decoders/bart_gelu"), 18); }

Subject OfCaptions() {
  const auto& model = LoadOnce<CaptionModel>("captions/vit_gpt2");
  std::vector<Tensor> memories;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Tensor image = Tensor::Empty({8, 8, 3});
    Random random(seed);
    for (float& value : image.span<float>()) value = static_cast<float>(random.Normal());
    Context context;
    const Memory memory = model.MemoryOf(context, model.EncodeImages(context, {&image, 1}));
    memories.push_back(memory.rows.ViewRows(memory.sequences[0].begin, memory.sequences[0].length));
  }
  return OfMemories(model, 15, memories, {});
}

template <typename Kind>
Subject OfImages(const std::string& name) {
  const auto& model = LoadOnce<Kind>(name);
  Random random(9);
  std::vector<Ids> prompts;
  for (int i = 0; i < 8; ++i)
    prompts.push_back(model.Prompt(RandomIds(random, 1 + random.Below(3), model.drawing().text_vocabulary / 2)));
  Subject subject = OfTexts(model, 40, prompts);
  for (DecodingRequest& request : subject.requests)
    request.unguided = request.options->guidance == 1 ? Ids() : prompts[0];
  return subject;
}

// Counts of all texts, of texts with a different result in a single run, of cancelled texts and of evictions.
struct Outcome {
  int texts = 0, differing = 0, cancelled = 0;
  std::int64_t evictions = 0;
  std::string error = {};  // error of the last text that differs
};
Outcome RunSchedules(const Subject& subject, int schedules, std::uint64_t seed, CacheType type = CacheType::unrounded) {
  std::vector<std::vector<Hypothesis>> alone;
  for (const DecodingRequest& request : subject.requests) {
    DecodingBatch batch = subject.Batch({.cache_type = type});
    batch.Add(request);
    std::vector<Decoded> ended = Finish(batch);
    if (ended.front().error != nullptr) std::rethrow_exception(ended.front().error);
    alone.push_back(std::move(ended.front().hypotheses));
  }
  Outcome outcome;
  Random random(seed);
  for (int schedule = 0; schedule < schedules; ++schedule) {
    constexpr std::int64_t chunks[] = {1, 3, 16, 50, 512}, bounds[] = {0, 25, 32, 60, 120};
    DecodingBatch batch = subject.Batch(
        {.pass_tokens = chunks[random.Below(5)], .cached_tokens = bounds[random.Below(5)], .cache_type = type});
    std::map<std::int64_t, std::size_t> running;
    std::uint64_t left = 3 + random.Below(8);
    while (left > 0 || !batch.empty()) {
      for (; left > 0 && (batch.empty() || random.Below(3) == 0); --left) {
        const std::size_t request = random.Below(subject.requests.size());
        running[batch.Add(subject.requests[request])] = request;
      }
      for (Decoded& text : batch.Step()) {
        const std::size_t request = running.extract(text.id).mapped();
        ++outcome.texts;
        if (text.error != nullptr) {
          outcome.error = ErrorOf([&] { std::rethrow_exception(text.error); });
          ++outcome.differing;
        } else if (!Same(text.hypotheses, alone[request])) {
          ++outcome.differing;
          outcome.error = fmt::format("request {}, schedule {}", request, schedule);
        }
      }
      if (!running.empty() && random.Below(40) == 0) {
        const auto cancelled = std::next(running.begin(), static_cast<std::ptrdiff_t>(random.Below(running.size())));
        EXPECT_TRUE(batch.Remove(cancelled->first));
        EXPECT_FALSE(batch.Remove(cancelled->first));
        running.erase(cancelled);
        ++outcome.cancelled;
      }
    }
    outcome.evictions += batch.evictions();
    EXPECT_EQ(batch.cached_tokens(), 0);
  }
  return outcome;
}

struct Kind {
  std::string name;
  std::function<Subject()> make;
  int schedules;
};
class DecodingBatchSchedules : public testing::TestWithParam<std::tuple<Kind, CacheType>> {};
INSTANTIATE_TEST_SUITE_P(
    Models, DecodingBatchSchedules,
    testing::Combine(testing::Values(Kind{"gpt2", OfGpt, 40}, Kind{"llama", OfLlama, 40},
                                     Kind{"experts", OfExperts, 20}, Kind{"linear_biases", OfLinearBiases, 10},
                                     Kind{"windows", OfWindows, 10}, Kind{"windows_drafts", OfWindowsWithDrafts, 10},
                                     Kind{"drafts", OfDrafts, 40}, Kind{"marian", OfMarian, 40}, Kind{"t5", OfT5, 40},
                                     Kind{"shortlists", OfShortlists, 40}, Kind{"bart", OfBart, 40},
                                     Kind{"captions", OfCaptions, 40},
                                     Kind{"dalle", [] { return OfImages<Dalle>("dalle/dalle_wide"); }, 15},
                                     Kind{"dalle_mini", [] { return OfImages<DalleMini>("dalle/dalle_mini"); }, 20}),
                     testing::Values(CacheType::unrounded, CacheType::bfloat16, CacheType::int8)),
    [](const auto& of) { return fmt::format("{}_{}", std::get<0>(of.param).name, Name(std::get<1>(of.param))); });

TEST_P(DecodingBatchSchedules, GiveTheBitsOfSingleTexts) {
  const auto& [kind, type] = GetParam();
  const int schedules = type == CacheType::unrounded ? kind.schedules : kind.schedules / 2;
  int evictions = 0, cancelled = 0;
  std::uint64_t seed = 10;
  ForEveryTarget([&, make = kind.make, type = type] {
    const Outcome outcome = RunSchedules(make(), schedules, seed++, type);
    EXPECT_EQ(outcome.differing, 0) << "of " << outcome.texts << ": " << outcome.error;
    evictions += static_cast<int>(outcome.evictions);
    cancelled += outcome.cancelled;
  });
  EXPECT_GT(evictions, 0);
  EXPECT_GT(cancelled, 0);
}

// A planted defect: the results of this model depend slightly on the number of tokens in a pass.
class LeakyGpt : public Gpt {
 public:
  using Gpt::Gpt;
  Tensor Decode(Context& context, std::span<const std::int32_t> ids, const Sequences& texts) const override {
    const Tensor hidden = Gpt::Decode(context, ids, texts);
    if (ids.size() > 1)
      for (float& value : hidden.span<float>()) value = std::nextafter(value, 0.0F);
    return hidden;
  }
};

TEST(DecodingBatch, SchedulesFindALeak) {
  LeakyGpt model(SmallGpt());
  model.parameters().Initialize(1);
  EXPECT_GT(RunSchedules(OfTexts(model, 70, SomePrompts(60)), 10, 10).differing, 0);
}

}  // namespace
}  // namespace headlight::decoding_schedules_test
