#include "headlight/tasks/embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"

namespace headlight::embedder_test {
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

// A copy of the folder, where these files have other texts; none removes a file.
std::unique_ptr<TemporaryFolder> With(const std::vector<std::pair<std::string, std::optional<std::string>>>& files) {
  auto folder = std::make_unique<TemporaryFolder>();
  std::filesystem::copy(kFolder, folder->path(), std::filesystem::copy_options::recursive);
  for (const auto& [file, text] : files)
    if (text)
      WriteFile(folder->File(file), *text);
    else
      std::filesystem::remove(folder->File(file));
  return folder;
}

// Written by tools/make_pooling_goldens.py.
TEST(Embedder, PoolsAndPromptsAsSentenceTransformers) {
  const JsonView golden = ReadJson(kFolder + "/poolings.json");
  const std::vector<std::string> texts = golden["texts"].Strings();
  const auto expect = [&](const std::string& pooling, const std::string& prompt, const JsonView& vectors) {
    const auto folder = With({{"1_Pooling/config.json", pooling},
                              {"config_sentence_transformers.json", prompt},
                              {"modules.json", R"([{"type": "x.Pooling", "path": "1_Pooling"}])"}});
    const Tensor found = Embedder::Load(folder->path()).Embed(texts, {.truncate = true}).vectors;
    const std::vector<JsonView> rows = vectors.Items();
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::int64_t j = 0; j < 12; ++j)
        EXPECT_NEAR(found.matrix<float>().row(static_cast<std::int64_t>(i))[j],
                    rows[i].Items()[static_cast<std::size_t>(j)].Number(), 2e-5)
            << pooling << i << ' ' << j;
  };
  for (const auto& [mode, vectors] : golden["poolings"].Members())
    expect(fmt::format(R"({{"pooling_mode_{}": true, "include_prompt": false}})", mode), "{}", vectors);
  const std::pair<const char*, const char*> newer[] = {{"mean", "mean_tokens"},
                                                       {"cls", "cls_token"},
                                                       {"max", "max_tokens"},
                                                       {"mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
                                                       {"weightedmean", "weightedmean_tokens"},
                                                       {"lasttoken", "lasttoken"}};
  for (const auto& [name, mode] : newer)
    expect(fmt::format(R"({{"pooling_mode": "{}", "embedding_dimension": 12}})", name), "{}", golden["poolings"][mode]);
  expect(R"({"pooling_mode": "mean"})", golden["prompt"].value().Line(), golden["prompted"]);
}

TEST(Embedder, ReadsTheLongestText) {
  const auto longest = [](const std::optional<std::string>& sentences, const std::string& tokenizer) {
    return Embedder::Load(
               With({{"sentence_bert_config.json", sentences}, {"tokenizer_config.json", tokenizer}})->path())
        .longest();
  };
  EXPECT_EQ(longest(R"({"max_seq_length": 9})", R"({"model_max_length": 7})"), 9);
  EXPECT_EQ(longest(std::nullopt, R"({"model_max_length": 7})"), 7);
  EXPECT_EQ(longest(std::nullopt, R"({"model_max_length": 1000000000000000019884624838656})"), 24);
  EXPECT_EQ(longest("{}", "{}"), 24);
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
    return With({{file, text.empty() ? std::nullopt : std::optional(text)}});
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

  EXPECT_THAT(error(pooling, R"({"pooling_mode": ["cls", "mean"]})"), HasSubstr("pooling_mode"));
  EXPECT_THAT(error(pooling, R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})"),
              HasSubstr("only one pooling mode"));
  EXPECT_THAT(error(pooling, "{}"), HasSubstr("no pooling_mode is true"));
  EXPECT_THAT(error(pooling, R"({"pooling_mode_cls_token": true, "twist": 1})"), HasSubstr("twist"));
  EXPECT_THAT(error("modules.json", R"([{"type": "sentence_transformers.models.Dense"}])"), HasSubstr("Dense"));
  EXPECT_THAT(error("modules.json", R"([{"type": "x.Transformer", "path": "0_T"}])"), HasSubstr("'0_T'"));
  EXPECT_THAT(error("sentence_bert_config.json", R"({"do_lower_case": true})"), HasSubstr("do_lower_case"));
  const std::string prompts = "config_sentence_transformers.json";
  EXPECT_THAT(error(prompts, R"({"default_prompt_name": "q", "prompts": {"p": ""}})"), HasSubstr("no prompt 'q'"));
  EXPECT_THAT(error("tokenizer.json", ""), HasSubstr("tokenizer.json is missing"));
  EXPECT_THAT(error("config.json", "{}"), HasSubstr("model_type"));
}

}  // namespace
}  // namespace headlight::embedder_test
