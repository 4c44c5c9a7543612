// Compares the settings of generation_config.json with Transformers. tools/make_generation_setting_goldens.py describes
// the goldens.
#include "headlight/pipelines/generation_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/decode.h"
#include "headlight/generate/generate.h"
#include "headlight/generate/logits_processors.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/stop_strings.h"
#include "tests/parity_testing.h"

namespace headlight::generation_settings_test {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

JsonView Goldens() { return ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/generation_settings.json"); }

Ids IdsOf(const JsonView& json) {
  Ids ids;
  for (const JsonView& id : json.Items()) ids.push_back(static_cast<std::int32_t>(id.Integer()));
  return ids;
}

// Returns the ids with the end token, as in Transformers.
Ids Written(const Hypothesis& hypothesis) {
  Ids ids = hypothesis.ids;
  if (hypothesis.end >= 0) ids.push_back(hypothesis.end);
  return ids;
}

TEST(GenerationSettings, EqualTransformers) {
  int compared = 0;
  const JsonView goldens = Goldens();
  const std::vector<std::string> pieces = goldens["pieces"].Strings();
  const auto decode = [&](std::span<const std::int32_t> ids) {
    std::string text;
    for (const std::int32_t id : ids) text += pieces.at(static_cast<std::size_t>(id));
    return text;
  };
  for (const JsonView& golden : goldens["texts"].Items()) {
    SCOPED_TRACE(golden["model"].String() + " " + golden["settings"].value().Line());
    std::vector<Ids> inputs;
    for (const JsonView& input : golden["inputs"].Items()) inputs.push_back(IdsOf(input));
    std::vector<std::vector<Hypothesis>> found;
    if (golden["model"].String().starts_with("gpt")) {
      const auto& model = LoadOnce<LanguageModel>(golden["model"].String());
      TextSettings settings = ReadTextSettings(golden["settings"], model.limits());
      settings.generation.search.stops = StopsAt(settings.stop, decode);
      found = Generate(model, inputs, settings.generation);
    } else {
      const auto& model = LoadOnce<EncoderDecoder>(golden["model"].String());
      Ids ids, lengths;
      for (const Ids& input : inputs) {
        ids.insert(ids.end(), input.begin(), input.end());
        lengths.push_back(static_cast<std::int32_t>(input.size()));
      }
      TranslationSettings settings =
          ReadTranslationSettings(golden["settings"], {}, model.limits(), GenerationKind::translation);
      settings.decoding.search.stops = StopsAt(settings.stop, decode);
      found = Decode(model, ids, PackedSequences(lengths), settings.decoding);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i, ++compared)
      EXPECT_EQ(Written(found[i].front()), IdsOf(golden["outputs"].Items()[i])) << i;
  }
  EXPECT_GT(compared, 300);
}

TEST(GenerationSettings, SampleFromTheSameTokensAsTransformers) {
  for (const JsonView& golden : Goldens()["sampling"].Items()) {
    SCOPED_TRACE(golden["settings"].value().Line());
    std::vector<float> scores;
    for (const JsonView& score : golden["scores"].Items()) scores.push_back(static_cast<float>(score.Number()));
    SamplingOptions sampling;
    ReadSampling(golden["settings"], sampling);
    std::vector<double> found(scores.size());
    constexpr int points = 4000;
    for (int i = 0; i < points; ++i)
      found.at(static_cast<std::size_t>(Sample(scores, sampling, (i + 0.5) / points))) += 1.0 / points;
    for (std::size_t token = 0; token < scores.size(); ++token)
      EXPECT_NEAR(found[token], golden["probabilities"].Items()[token].Number(), 1.01 / points) << token;
  }
}

std::string Refusal(const std::string& settings, GenerationKind kind) {
  return ErrorOf([&] { CheckGenerationSettings(JsonView(ParseJson(settings, "file"), "file"), kind); });
}

TEST(GenerationSettings, ThatAreNotImplementedAreNamed) {
  for (const auto kind : {GenerationKind::text, GenerationKind::translation, GenerationKind::caption}) {
    EXPECT_THAT(Refusal(R"({"num_beam_groups": 2})", kind), HasSubstr("num_beam_groups"));
    EXPECT_THAT(Refusal(R"({"penalty_alpha": 0.6})", kind), HasSubstr("penalty_alpha"));
    EXPECT_THAT(Refusal(R"({"watermarking_config": {}})", kind), HasSubstr("watermarking_config"));
    EXPECT_EQ(Refusal(R"({"num_beam_groups": 1, "diversity_penalty": 0, "max_time": null, "top_h": 0.5})", kind), "");
  }
  for (const auto kind : {GenerationKind::text, GenerationKind::translation, GenerationKind::caption})
    EXPECT_EQ(Refusal(R"({"guidance_scale": 3})", kind), "");
  const auto refusal = [](const std::string& settings) {
    return ErrorOf([&] {
      ReadTranslationSettings(JsonView(ParseJson(settings, "file"), "file"), {},
                              LoadOnce<EncoderDecoder>("encoder_decoders/bart_gelu").limits(),
                              GenerationKind::translation);
    });
  };
  EXPECT_THAT(refusal(R"({"forced_eos_token_id": 900})"), HasSubstr("forced_eos_token_id"));
  EXPECT_THAT(refusal(R"({"stop_strings": ["a", ""]})"), HasSubstr("stop_strings"));
}

// Checks forced_bos_token_id. Transformers 5.24 replaces this value if force_bos_token_to_be_generated is true.
TEST(GenerationSettings, ForceTheBeginningLikeTransformers) {
  const auto first = [](const std::string& settings) {
    return ReadTranslationSettings(JsonView(ParseJson(settings, "file"), "file"), {},
                                   LoadOnce<EncoderDecoder>("encoder_decoders/bart_gelu").limits(),
                                   GenerationKind::translation)
        .decoding.search.first_token;
  };
  EXPECT_EQ(first(R"({"forced_bos_token_id": 5, "bos_token_id": 3})"), 5);
  EXPECT_EQ(first(R"({"forced_bos_token_id": 5, "bos_token_id": 3, "force_bos_token_to_be_generated": false})"), 5);
  EXPECT_EQ(first(R"({"forced_bos_token_id": 5, "bos_token_id": 3, "force_bos_token_to_be_generated": true})"), 3);
  EXPECT_EQ(first(R"({"force_bos_token_to_be_generated": true})"), 0);
}

// Checks that a generation_config.json replaces all generation settings of config.json, as in Transformers.
TEST(GenerationSettings, BeginWithTheBosTokenWithoutAStart) {
  const auto prefix = [](const std::string& settings) {
    return ReadTranslationSettings(JsonView(ParseJson(settings, "file"), "file"), {},
                                   LoadOnce<EncoderDecoder>("encoder_decoders/bart_gelu").limits(),
                                   GenerationKind::translation)
        .decoding.prefix;
  };
  EXPECT_THAT(prefix(R"({"bos_token_id": 7})"), testing::ElementsAre(7));
  EXPECT_THAT(prefix(R"({"bos_token_id": 7, "decoder_start_token_id": 8})"), testing::ElementsAre(8));
  EXPECT_THAT(prefix(R"({"bos_token_id": 7, "model_type": "bart"})"), testing::IsEmpty());
  EXPECT_THAT(prefix("{}"), testing::IsEmpty());
}

TEST(GenerationSettings, OfWrongShapesAreNamed) {
  const auto refusal = [](const std::string& settings) {
    SearchOptions search;
    return ErrorOf([&] { ReadProcessors(JsonView(ParseJson(settings, "file"), "file"), 10, 0, search); });
  };
  const auto search = [](const std::string& settings) {
    SearchOptions read;
    return ErrorOf([&] { ReadSearch(JsonView(ParseJson(settings, "file"), "file"), 10, 0, read); });
  };
  EXPECT_THAT(search(R"({"num_beams": 2, "num_return_sequences": 3})"),
              HasSubstr("file: num_return_sequences 3 is more"));
  EXPECT_EQ(search(R"({"num_beams": 2, "num_return_sequences": 2})"), "");
  EXPECT_THAT(refusal(R"({"bad_words_ids": [3]})"), HasSubstr("bad_words_ids[0]"));
  EXPECT_THAT(refusal(R"({"bad_words_ids": [[]]})"), HasSubstr("bad_words_ids[0]"));
  EXPECT_THAT(refusal(R"({"bad_words_ids": [[10]]})"), HasSubstr("bad_words_ids[0][0]"));
  EXPECT_THAT(refusal(R"({"sequence_bias": [[[1], 1e60]]})"), HasSubstr("sequence_bias[0][1]"));
  EXPECT_THAT(refusal(R"({"sequence_bias": [[[1]]]})"), HasSubstr("sequence_bias[0]"));
  EXPECT_THAT(refusal(R"({"exponential_decay_length_penalty": [1]})"), HasSubstr("exponential_decay_length_penalty"));
}

}  // namespace
}  // namespace headlight::generation_settings_test
