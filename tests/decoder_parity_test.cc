// Compares decoder-only models with Hugging Face Transformers. tools/make_gpt_goldens.py and
// tools/make_decoder_goldens.py describe the goldens in testdata/gpt and testdata/decoders. Each folder is a test case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/generate/generate.h"
#include "headlight/nn/decoder_cache.h"
#include "tests/decoder_parity_testing.h"

namespace headlight::decoder_parity_test {
namespace {

using Ids = std::vector<std::int32_t>;

std::vector<std::string> Folders() {
  std::vector<std::string> folders;
  for (const char* group : {"gpt", "decoders"})
    for (const auto& entry :
         std::filesystem::directory_iterator(HEADLIGHT_SOURCE_DIR "/tests/testdata/" + std::string(group)))
      if (std::filesystem::exists(entry.path() / "generation.json")) folders.push_back(entry.path().string());
  std::ranges::sort(folders);
  return folders;
}

class DecoderParity : public testing::TestWithParam<std::string> {
 protected:
  const std::string folder_ = GetParam();
};
INSTANTIATE_TEST_SUITE_P(, DecoderParity, testing::ValuesIn(Folders()),
                         [](const auto& which) { return std::filesystem::path(which.param).filename().string(); });

TEST_P(DecoderParity, EqualsTransformers) {
  const DecoderDeviations worst = DeviationsOf(folder_);
  EXPECT_GT(worst.attention_maps, 0);
  for (const auto& [what, deviation] : worst.of) EXPECT_LT(deviation, kDecoderTolerance) << what;
}

// Checks decoding with a cache in every compute type. The first passes have several tokens, the others one token each.
TEST_P(DecoderParity, DecodesTheSameWithACache) {
  const DecoderGolden golden(folder_);
  const Numbers expected = golden.Rows("logits");
  for (const auto& [compute, tolerance] : {std::pair(Compute::float32, kDecoderTolerance),
                                           std::pair(Compute::bfloat16, 0.05), std::pair(Compute::int8, 0.15)}) {
    if (!kernels::CpuHas(compute)) continue;
    const auto model = LoadDecoder(folder_, {.compute = compute, .purpose = LoadFor::computing});
    for (const Sequence& text : golden.texts) {
      DecoderCache cache;
      Context context;
      context.cache = &cache;
      Numbers logits;
      for (std::int32_t begin = 0, length; begin < text.length; begin += length) {
        length = begin == 0 ? (text.length + 1) / 2 : 1;
        const auto ids = std::span(golden.ids)
                             .subspan(static_cast<std::size_t>(text.begin + begin), static_cast<std::size_t>(length));
        const Numbers some = ToDouble(model->Logits(context, model->Decode(context, ids, Sequences{{0, length}})));
        logits.insert(logits.end(), some.begin(), some.end());
      }
      const auto columns = static_cast<std::ptrdiff_t>(model->outputs());
      EXPECT_LT(Deviation(logits, {expected.begin() + text.begin * columns, expected.begin() + text.end() * columns}),
                tolerance)
          << Name(compute);
    }
  }
}

TEST_P(DecoderParity, GeneratesTransformersTokens) { ExpectGeneratedTokens(folder_); }

// Checks speculative decoding for texts that end at the maximum length, with the end token, and by the callback.
TEST_P(DecoderParity, GivesTheSameWithADraft) {
  const DecoderGolden golden(folder_);
  const auto without = LoadDecoder(folder_, {.purpose = LoadFor::computing});
  const auto with = LoadDecoder(folder_, {.purpose = LoadFor::computing_with_draft});
  const Ids prompt(golden.ids.begin(), golden.ids.begin() + 2);
  int plain_steps = 0, drafted_steps = 0;
  for (const bool forever : {false, true})
    for (const std::int32_t enough : {3, 100})
      for (const std::int32_t min_new_tokens : {0, 6}) {
        const auto written = [&](const LanguageModel& model, int& steps) {
          Ids told;
          GenerationOptions options{.max_new_tokens = 11,
                                    .min_new_tokens = min_new_tokens,
                                    .cancelled = [&] { return ++steps < 0; },
                                    .on_token =
                                        [&](std::size_t, std::int32_t id) {
                                          told.push_back(id);
                                          return std::ssize(told) < enough;
                                        }};
          if (!forever)
            for (std::int32_t id = 0; id < model.limits().vocabulary / 3; ++id) options.search.end_ids.push_back(id);
          const Hypothesis text = Generate(model, {prompt}, options).front().front();
          EXPECT_EQ(told, text.ids);
          return std::tuple(text.ids, text.log_probability, text.ended);
        };
        EXPECT_EQ(written(*with, drafted_steps), written(*without, plain_steps));
      }
  EXPECT_LT(drafted_steps, plain_steps * 3 / 4);
}

TEST_P(DecoderParity, SavesAndLoads) {
  const std::unique_ptr<LanguageModel> model = LoadDecoder(folder_);
  const TemporaryFolder folder, quantized;
  model->Save(folder.path());
  const std::unique_ptr<LanguageModel> again = LoadDecoder(folder.path());
  EXPECT_EQ(again->limits().end_id, model->limits().end_id);
  EXPECT_EQ(again->parameters().values().ToVector<float>(), model->parameters().values().ToVector<float>());

  // int8 rounds each weight to a multiple of about a hundredth of the largest weight in its row. If the folder's
  // weights are already rounded, only the rounding of activations is added.
  const DecoderGolden golden(folder_);
  for (const Compute compute : {Compute::int8, Compute::int4}) {
    SCOPED_TRACE(Name(compute));
    model->Save(quantized.path(), compute);
    const auto logits = [&](LoadFor purpose) {
      const std::unique_ptr<LanguageModel> small = LoadDecoder(quantized.path(), {.purpose = purpose});
      Context context;
      return ToDouble(small->Logits(context, small->Decode(context, golden.ids, golden.texts)));
    };
    const Numbers rounded = logits(LoadFor::everything), computed = logits(LoadFor::computing);
    EXPECT_LT(Deviation(computed, rounded), 0.1);
    if (compute == Compute::int8) {
      EXPECT_LT(Deviation(rounded, golden.Rows("logits")), 0.1);
    }
  }
}

}  // namespace
}  // namespace headlight::decoder_parity_test
