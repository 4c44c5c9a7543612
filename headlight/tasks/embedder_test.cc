#include "headlight/tasks/embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"

namespace headlight {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Written by tools/make_bert_goldens.py.
const std::string kFolder = HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences";

std::vector<std::string> Texts() {
  std::vector<std::string> texts;
  for (const JsonView& text : ReadJson(kFolder + "/golden.json")["texts"].Items()) texts.push_back(text.String());
  return texts;
}

float Furthest(const float* a, const float* b, std::int64_t count) {
  float furthest = 0;
  for (std::int64_t i = 0; i < count; ++i) furthest = std::max(furthest, std::abs(a[i] - b[i]));
  return furthest;
}

TEST(Embedder, EqualsSentenceTransformers) {
  const Embedder embedder = Embedder::Load(kFolder);
  EXPECT_EQ(embedder.dimension(), 12);
  EXPECT_EQ(embedder.longest(), 20);
  const std::vector<std::string> texts = Texts();
  const Tensor vectors = embedder.Embed(texts).vectors;
  const std::vector<JsonView> expected = ReadJson(kFolder + "/golden.json")["vectors"].Items();
  ASSERT_EQ(expected.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<JsonView> numbers = expected[i].Items();
    for (std::size_t j = 0; j < numbers.size(); ++j)
      EXPECT_NEAR(vectors.matrix<float>().row(static_cast<std::int64_t>(i))[j], numbers[j].Number(), 1e-5) << texts[i];
  }
}

TEST(Embedder, IsBatchInvariant) {
  const Embedder embedder = Embedder::Load(kFolder);
  const std::vector<std::string> texts = Texts();
  const Tensor together = embedder.Embed(texts).vectors, few = embedder.Embed(texts, {.batch_tokens = 8}).vectors;
  EXPECT_EQ(together.ToVector<float>(), few.ToVector<float>());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Tensor alone = embedder.Embed({texts[i]}).vectors;
    EXPECT_EQ(embedder.Embed(texts[i]), alone.ToVector<float>());
    EXPECT_EQ(Furthest(alone.data<float>(), together.matrix<float>().row(static_cast<std::int64_t>(i)), 12), 0) << i;
  }
}

TEST(Embedder, RefusesOrCutsLongTexts) {
  const Embedder embedder = Embedder::Load(kFolder);
  std::string text = "dog";
  for (int i = 1; i < 18; ++i) text += " dog";
  const std::vector<std::string> texts = {"dog", text, text + " dog dog", text + " . , ."};
  EXPECT_THAT(ErrorOf([&] { embedder.Embed(texts); }), HasSubstr("text 3: 22 tokens, of which the model reads 20"));
  const Embeddings cut = embedder.Embed(texts, {.truncate = true});
  EXPECT_THAT(cut.truncated, ElementsAre(2, 3));
  const float* const whole = cut.vectors.matrix<float>().row(1);
  EXPECT_EQ(Furthest(whole, cut.vectors.matrix<float>().row(2), 12), 0);
  EXPECT_EQ(Furthest(whole, cut.vectors.matrix<float>().row(3), 12), 0);
}

TEST(Embedder, ReadsThePooling) {
  const auto with = [](const std::string& file, const std::string& text) {
    auto folder = std::make_unique<TemporaryFolder>();
    std::filesystem::copy(kFolder, folder->path(), std::filesystem::copy_options::recursive);
    if (text.empty())
      std::filesystem::remove(folder->File(file));
    else
      WriteFile(folder->File(file), text);
    return folder;
  };
  const auto error = [&](const std::string& file, const std::string& text) {
    const auto folder = with(file, text);
    return ErrorOf([&] { Embedder::Load(folder->path()); });
  };
  const std::string pooling = "1_Pooling/config.json", text = "Two dogs.";
  const auto vector_of = [&](const std::string& file, const std::string& content) {
    return Embedder::Load(with(file, content)->path()).Embed({&text, 1}).vectors.ToVector<float>();
  };
  const std::vector<float> mean = vector_of("modules.json", "");  // not normalized
  const std::vector<float> first = vector_of(pooling, R"({"pooling_mode_cls_token": true})");
  const std::vector<float> most = vector_of(pooling, R"({"pooling_mode_max_tokens": true})");
  EXPECT_GT(Furthest(mean.data(), first.data(), 12), 0.01);
  EXPECT_GT(Furthest(most.data(), first.data(), 12), 0.01);
  EXPECT_EQ(Embedder::Load(with("sentence_bert_config.json", "")->path()).longest(), 24);

  EXPECT_THAT(error(pooling, R"({"pooling_mode_lasttoken": true})"), HasSubstr("pooling_mode_lasttoken"));
  EXPECT_THAT(error(pooling, R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})"),
              HasSubstr("only one of the mean"));
  EXPECT_THAT(error(pooling, "{}"), HasSubstr("no pooling_mode is true"));
  EXPECT_THAT(error(pooling, R"({"pooling_mode_cls_token": true, "twist": 1})"), HasSubstr("twist"));
  EXPECT_THAT(error("modules.json", R"([{"type": "sentence_transformers.models.Dense"}])"), HasSubstr("Dense"));
  EXPECT_THAT(error("modules.json", R"([{"type": "x.Transformer", "path": "0_T"}])"), HasSubstr("'0_T'"));
  EXPECT_THAT(error("sentence_bert_config.json", R"({"do_lower_case": true})"), HasSubstr("do_lower_case"));
  EXPECT_THAT(error("tokenizer.json", ""), HasSubstr("tokenizer.json is missing"));
  EXPECT_THAT(error("config.json", "{}"), HasSubstr("model_type"));
}

}  // namespace
}  // namespace headlight
