// tools/make_caption_goldens.py describes the folders.
#include "headlight/pipelines/image_captioner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/image/testing.h"
#include "headlight/io/safetensors.h"
#include "headlight/pipelines/image_testing.h"
#include "headlight/pipelines/visual_question_answerer.h"

namespace headlight::captioner_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/captions/" + name; }

std::vector<Image> GoldenImages(const std::string& name) {
  const Safetensors file(FolderOf(name) + "/golden.safetensors");
  const StoredTensor& stored = file.At("images");
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(stored.bytes.data());
  const std::int64_t size = stored.shape[1] * stored.shape[2] * 3;
  std::vector<Image> images;
  for (std::int64_t i = 0; i < stored.shape[0]; ++i)
    images.push_back({stored.shape[1], stored.shape[2], {bytes + i * size, bytes + (i + 1) * size}});
  return images;
}

const std::vector<std::string> kQuestions = {"Who runs across the green meadow?", "Two men?",
                                             "What are the children playing?"};

// Returns the options of an expected result. Transformers' lengths include the start token.
CaptionOptions OptionsOf(const JsonView& expected) {
  CaptionOptions options{.prompt = expected.Get("prompt", "").String()};
  options.beam_size = options.n_best = static_cast<std::int32_t>(expected["num_beams"].Integer());
  if (const JsonView shortest = expected["min_length"]; shortest.present())
    options.min_length = static_cast<std::int32_t>(shortest.Integer()) - 1;
  if (const JsonView penalty = expected["length_penalty"]; penalty.present()) options.length_penalty = penalty.Number();
  if (const JsonView penalty = expected["repetition_penalty"]; penalty.present())
    options.repetition_penalty = penalty.Number();
  return options;
}

template <typename Result>
void ExpectTexts(const std::vector<std::vector<Result>>& results, const JsonView& expected, std::string Result::*text) {
  const std::vector<JsonView> images = expected["texts"].Items();
  ASSERT_EQ(results.size(), images.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::vector<std::string> texts, expected_texts;
    for (const Result& result : results[i]) texts.push_back(result.*text);
    for (const JsonView& one : images[i].Items()) expected_texts.push_back(one.String());
    EXPECT_EQ(texts, expected_texts) << expected.value().Line();
  }
}

TEST(ImageCaptioner, EqualsTransformers) {
  for (const char* name : {"vit_gpt2_text", "blip_text"}) {
    SCOPED_TRACE(name);
    const ImageCaptioner captioner = ImageCaptioner::Load(FolderOf(name));
    const std::vector<Image> images = GoldenImages(name);
    for (const JsonView& expected : ReadJson(FolderOf(name) + "/golden.json").Items())
      ExpectTexts(captioner.Caption(images, OptionsOf(expected)), expected, &ImageCaption::text);
    // The folder's settings specify two beams.
    EXPECT_EQ(captioner.Caption(images[1]).text, captioner.Caption({images[1]}, {.beam_size = 2})[0][0].text);
  }
}

TEST(VisualQuestionAnswerer, EqualsTransformers) {
  const std::string folder = FolderOf("blip_answers_text");
  const VisualQuestionAnswerer answerer = VisualQuestionAnswerer::Load(folder);
  const std::vector<Image> images = GoldenImages("blip_answers_text");
  const std::vector<ImageQuestion> questions = {{0, kQuestions[0]}, {1, kQuestions[1]}, {2, kQuestions[2]}};
  for (const JsonView& expected : ReadJson(folder + "/golden.json").Items())
    ExpectTexts(answerer.Answer(images, questions, OptionsOf(expected)), expected, &VisualAnswer::answer);
}

const std::vector<Image> kImages = {Pattern(9, 7), Pattern(30, 20), Pattern(8, 8), Pattern(3, 40), Pattern(12, 5)};

// Checks that a caption does not depend on the batch, with beam search and sampling.
TEST(ImageCaptioner, IsBatchInvariant) {
  for (const char* name : {"vit_gpt2_text", "blip_text"}) {
    const ImageCaptioner captioner = ImageCaptioner::Load(FolderOf(name));
    for (const bool sample : {false, true}) {
      CaptionOptions options{.n_best = 3};
      if (!sample) options.beam_size = 3;
      if (sample) options.temperature = 2, options.seed = 5;
      const std::vector<std::vector<ImageCaption>> together = captioner.Caption(kImages, options);
      ASSERT_EQ(together.size(), kImages.size());
      for (std::size_t i = 0; i < kImages.size(); ++i) {
        options.first_stream = i;
        options.batch_pixels = 1;
        const std::vector<ImageCaption> alone = captioner.Caption({&kImages[i], 1}, options)[0];
        ASSERT_EQ(together[i].size(), 3U);
        for (std::size_t n = 0; n < 3; ++n) {
          EXPECT_EQ(alone[n].text, together[i][n].text) << name << i;
          EXPECT_EQ(alone[n].score, together[i][n].score) << name << i;
        }
      }
      options = {.n_best = 3};
      if (!sample) options.beam_size = 3;
      if (sample) options.temperature = 2, options.seed = 6;
      EXPECT_EQ(captioner.Caption(kImages, options)[0][1].text == together[0][1].text, !sample);
    }
  }
}

TEST(ImageCaptioner, FitsImagesAhead) {
  const ImageCaptioner captioner = ImageCaptioner::Load(FolderOf("blip_text"));
  std::vector<Image> fitted;
  for (const Image& image : kImages) fitted.push_back(captioner.Fit(image));
  const auto ahead = captioner.CaptionFitted(fitted), whole = captioner.Caption(kImages);
  for (std::size_t i = 0; i < fitted.size(); ++i) EXPECT_EQ(ahead[i][0].text, whole[i][0].text);
}

TEST(ImageCaptioner, ObeysLengthLimits) {
  const ImageCaptioner captioner = ImageCaptioner::Load(FolderOf("vit_gpt2_text"));
  for (const std::vector<ImageCaption>& captions : captioner.Caption(kImages, {.max_length = 4, .min_length = 4})) {
    EXPECT_EQ(captions[0].tokens, 4);
    EXPECT_FALSE(captions[0].complete);
  }
  EXPECT_THAT(captioner.Caption(kImages[0], {.prompt = "a small"}).text, testing::StartsWith("a small"));
}

TEST(ImageCaptioner, ReadsTheFoldersSettings) {
  const TemporaryFolder folder;
  std::filesystem::copy(FolderOf("vit_gpt2_text"), folder.path());
  const auto with = [&](const std::string& settings) {
    WriteFile(folder.File("generation_config.json"), settings);
    return ImageCaptioner::Load(folder.path());
  };
  const auto caption = [&](const std::string& settings) { return with(settings).Caption({kImages[1]})[0][0]; };
  const auto error = [&](const std::string& settings) { return ErrorOf([&] { with(settings); }); };
  EXPECT_EQ(caption(R"({"max_length": 5, "min_length": 5})").tokens, 4);
  EXPECT_EQ(caption(R"({"max_new_tokens": 3, "min_length": 5})").tokens, 3);
  EXPECT_EQ(caption(R"({"min_length": 30})").tokens, 20);
  EXPECT_EQ(caption(R"({"max_length": 1000, "min_length": 1000})").tokens, 40);
  // The token at the maximum length is forced to be the end token.
  EXPECT_FALSE(caption(R"({"max_length": 5, "min_length": 5, "forced_eos_token_id": 0})").complete);
  EXPECT_EQ(caption(R"({"max_length": 5, "min_length": 5, "forced_eos_token_id": 0})").tokens, 3);
  EXPECT_EQ(caption(R"({"max_length": 5, "min_length": 5, "forced_eos_token_id": 5})").tokens, 4);
  EXPECT_THAT(error(R"({"forced_eos_token_id": 5000000})"), HasSubstr("forced_eos_token_id"));
  const std::string whole = caption(R"({"min_length": 12})").text, stop = whole.substr(whole.size() / 2, 3);
  for (const int beams : {1, 3}) {
    const ImageCaption stopped = caption(fmt::format(R"({{"min_length": 12, "num_beams": {}, "stop_strings": {}}})",
                                                     beams, Json(Json::Array{"never", stop}).Line()));
    EXPECT_LE(stopped.text.find(stop), stopped.text.size() - stop.size());
    EXPECT_TRUE(stopped.complete);
    if (beams == 1) {
      EXPECT_THAT(whole, testing::StartsWith(stopped.text));
    }
  }
  EXPECT_NE(caption(R"({"guidance_scale": 4})").text, caption("{}").text);
  EXPECT_THAT(error(R"({"guidance_scale": -2})"), HasSubstr("guidance_scale"));
  EXPECT_THAT(error(R"({"num_beams": 0})"), HasSubstr("num_beams"));
}

TEST(ImageCaptioner, RefusesInvalidInput) {
  const ImageCaptioner captioner = ImageCaptioner::Load(FolderOf("vit_gpt2_text"));
  const auto error = [&](const CaptionOptions& options) {
    return ErrorOf([&] { captioner.Caption(kImages, options); });
  };
  EXPECT_THAT(error({.prompt = "\xFF"}), HasSubstr("the prompt"));
  EXPECT_THAT(error({.beam_size = 0}), HasSubstr("beam_size"));
  EXPECT_THAT(error({.beam_size = 1, .length_penalty = 2}), HasSubstr("`length_penalty` is for"));
  EXPECT_THAT(error({.beam_size = 2, .n_best = 3}), HasSubstr("n_best"));
  EXPECT_THAT(error({.max_length = 41}), HasSubstr("40 positions"));
  EXPECT_THAT(error({.max_length = 0}), HasSubstr("max_length"));
  EXPECT_THAT(error({.batch_pixels = 0}), HasSubstr("batch_pixels"));
  EXPECT_THAT(error({.prompt = "a small dog runs a small dog runs a small dog"}), HasSubstr("does not fit"));
  EXPECT_THAT(ErrorOf([&] { captioner.Caption({Image{}}); }), HasSubstr("image 1"));
  EXPECT_THROW(captioner.Caption(kImages, {.cancelled = [] { return true; }}), Cancelled);
  EXPECT_THAT(ErrorOf([] { ImageCaptioner::Load(FolderOf("blip_answers_text")); }), HasSubstr("writes captions"));
  EXPECT_THAT(ErrorOf([] { VisualQuestionAnswerer::Load(FolderOf("blip_text")); }), HasSubstr("answers questions"));
  EXPECT_THAT(ErrorOf([] { ImageCaptioner::Load(FolderOf("blip_text"), {.draft = true}); }), HasSubstr("draft"));
  const TemporaryFolder vit;
  SaveTinyVit(vit.path());
  EXPECT_THAT(ErrorOf([&] { ImageCaptioner::Load(vit.path()); }), HasSubstr("vision-encoder-decoder"));
}

TEST(VisualQuestionAnswerer, IsBatchInvariant) {
  const VisualQuestionAnswerer answerer = VisualQuestionAnswerer::Load(FolderOf("blip_answers_text"));
  std::vector<ImageQuestion> questions;
  for (std::size_t i = 0; i < 70; ++i) questions.push_back({i % kImages.size(), kQuestions[i % 3]});
  const CaptionOptions options{.beam_size = 2};
  const auto together = answerer.Answer(kImages, questions, options);
  for (std::size_t i = 0; i < 15; ++i) {
    const VisualAnswer alone = answerer.Answer(kImages[questions[i].image], questions[i].question, options);
    EXPECT_EQ(alone.answer, together[i][0].answer);
    EXPECT_EQ(alone.score, together[i][0].score);
  }
}

TEST(VisualQuestionAnswerer, RefusesInvalidInput) {
  const VisualQuestionAnswerer answerer = VisualQuestionAnswerer::Load(FolderOf("blip_answers_text"));
  const auto error = [&](const ImageQuestion& question, const CaptionOptions& options = {}) {
    return ErrorOf([&] { answerer.Answer({&kImages[0], 1}, {&question, 1}, options); });
  };
  EXPECT_THAT(error({0, ""}), HasSubstr("question 1 has no words"));
  EXPECT_THAT(error({0, "\xFF"}), HasSubstr("question 1"));
  EXPECT_THAT(error({1, "Two men?"}), HasSubstr("question 1: it is about"));
  std::string longer;
  for (int i = 0; i < 60; ++i) longer += "dog ";
  EXPECT_THAT(error({0, longer}), HasSubstr("question 1: it has 62"));
  EXPECT_THAT(error({0, "Two men?"}, {.prompt = "a"}), HasSubstr("a prompt is for captions"));
}

TEST(ImageCaptioner, RecordsAttentionPerToken) {
  for (const char* name : {"vit_gpt2_text", "blip_text"}) {
    const ImageCaptioner captioner = ImageCaptioner::Load(FolderOf(name));
    const AttentionRecord given = captioner.Attention(kImages[0], "two men");
    CheckAttention(given);
    EXPECT_EQ(given.source_tokens.size(), 5U);
    EXPECT_EQ(given.source_image->cells(), 4);
    ASSERT_FALSE(given.target_tokens.empty());
    EXPECT_THAT(given.target_special, ElementsAre(static_cast<int>(given.target_tokens.size()) - 1));
    const auto cross = std::ranges::count(given.maps, AttentionKind::cross, &AttentionMap::kind);
    EXPECT_EQ(cross, 2);
    EXPECT_EQ(std::ssize(given.maps), 4);
    EXPECT_EQ(given.maps.front().kind, AttentionKind::cross);
    EXPECT_EQ(given.maps.front().queries, static_cast<int>(given.target_tokens.size()));
    const AttentionRecord own = captioner.Attention(kImages[0], {}, {}, 1);
    EXPECT_EQ(std::ssize(own.maps), 2);
    EXPECT_EQ(own.maps.front().layer, 1);
    EXPECT_THAT(ErrorOf([&] { captioner.Attention(kImages[0], ""); }), HasSubstr("no words"));
    EXPECT_THAT(ErrorOf([&] { captioner.Attention(kImages[0], {}, {}, 2); }), HasSubstr("layer 3"));
  }
  const AttentionRecord question =
      VisualQuestionAnswerer::Load(FolderOf("blip_answers_text")).Attention(kImages[0], "two men");
  CheckAttention(question);
  EXPECT_EQ(question.maps.front().kind, AttentionKind::cross);
  EXPECT_EQ(question.target_special.size(), 2U);
}

}  // namespace
}  // namespace headlight::captioner_test
