#include "headlight/pipelines/embedder.h"

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
#include "headlight/io/safetensors.h"

namespace headlight::embedder_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The folder is made by tools/make_bert_goldens.py.
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

// Returns a copy of the folder in which `files` are replaced. Files without a text are removed.
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

// Compares with the goldens of tools/make_pooling_goldens.py.
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

// Returns the vector of a text. The model is loaded from a copy of the folder in which `files` are replaced.
std::vector<float> VectorWith(const std::vector<std::pair<std::string, std::optional<std::string>>>& files,
                              const std::string& text, const EmbedOptions& options = {}) {
  return Embedder::Load(With(files)->path()).Embed(text, options);
}

constexpr const char* kPooling = "1_Pooling/config.json";
constexpr const char* kSettings = "config_sentence_transformers.json";
constexpr const char* kPoolingOnly = R"([{"type": "x.Pooling", "path": "1_Pooling"}])";

TEST(Embedder, ConcatenatesPoolings) {
  const auto pooled = [](const std::string& pooling) {
    return VectorWith({{"modules.json", kPoolingOnly}, {kPooling, pooling}}, "Two dogs.");
  };
  const std::vector<float> first = pooled(R"({"pooling_mode": "cls"})"), mean = pooled(R"({"pooling_mode": "mean"})");
  std::vector<float> both = first;
  both.insert(both.end(), mean.begin(), mean.end());
  EXPECT_EQ(pooled(R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true})"), both);
  EXPECT_EQ(pooled(R"({"pooling_mode": ["cls", "mean"]})"), both);
  std::vector<float> other = mean;
  other.insert(other.end(), first.begin(), first.end());
  EXPECT_EQ(pooled(R"({"pooling_mode": ["mean", "cls"]})"), other);
}

TEST(Embedder, LeavesOutTokensOfThePrompt) {
  const auto pooled = [](const std::string& pooling, const std::string& prompts, const std::string& text) {
    return VectorWith({{"modules.json", kPoolingOnly}, {kPooling, pooling}, {kSettings, prompts}}, text);
  };
  const std::string prompts = R"({"prompts": {"p": ". , "}, "default_prompt_name": "p"})";
  // The five tokens are [CLS] . , dog [SEP]. Without the prompt, only dog and [SEP] are pooled.
  const std::vector<float> last = pooled(R"({"pooling_mode": "lasttoken"})", "{}", ". , dog");
  const std::vector<float> dog = pooled(R"({"pooling_mode": "cls", "include_prompt": false})", prompts, "dog");
  const std::vector<float> mean = pooled(R"({"pooling_mode": "mean", "include_prompt": false})", prompts, "dog");
  const std::vector<float> most = pooled(R"({"pooling_mode": "max", "include_prompt": false})", prompts, "dog");
  const std::vector<float> weighted =
      pooled(R"({"pooling_mode": "weightedmean", "include_prompt": false})", prompts, "dog");
  ASSERT_EQ(mean.size(), 12U);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(mean[i], (dog[i] + last[i]) / 2, 1e-6);
    EXPECT_NEAR(weighted[i], (4 * dog[i] + 5 * last[i]) / 9, 1e-6);
    EXPECT_EQ(most[i], std::max(dog[i], last[i]));
  }
}

TEST(Embedder, ChoosesAPrompt) {
  const auto with = [](const std::string& settings) { return With({{kSettings, settings}}); };
  const std::vector<float> plain = VectorWith({}, "dog"), green = VectorWith({}, "green dog");
  const auto folder = with(R"({"prompts": {"query": "two ", "passage": "green ", "topic": "children "},
                               "default_prompt_name": null})");
  const Embedder embedder = Embedder::Load(folder->path());
  EXPECT_EQ(embedder.Embed("dog"), plain);
  EXPECT_EQ(embedder.Embed("dog", {.purpose = EmbedAs::document}), green);
  EXPECT_EQ(embedder.Embed("dog", {.purpose = EmbedAs::query}), VectorWith({}, "two dog"));
  EXPECT_EQ(embedder.Embed("dog", {.prompt_name = "topic"}), VectorWith({}, "children dog"));
  EXPECT_THAT(ErrorOf([&] { embedder.Embed("dog", {.prompt_name = "none"}); }),
              HasSubstr("'none'; it has passage, query"));
  const auto topic = with(R"({"prompts": {"topic": "green ", "query": ""}, "default_prompt_name": "topic"})");
  for (const EmbedAs purpose : {EmbedAs::text, EmbedAs::query, EmbedAs::document})
    EXPECT_EQ(Embedder::Load(topic->path()).Embed("dog", {.purpose = purpose}), green);
}

TEST(Embedder, TruncatesAndComparesByItsConfig) {
  const std::vector<float> whole = VectorWith({}, "Two dogs.");
  const auto folder = With({{kSettings, R"({"truncate_dim": 4, "similarity_fn_name": "euclidean"})"}});
  const Embedder embedder = Embedder::Load(folder->path());
  EXPECT_EQ(embedder.dimension(), 4);
  EXPECT_EQ(embedder.Embed("Two dogs."), std::vector<float>(whole.begin(), whole.begin() + 4));
  EXPECT_EQ(embedder.similarity(), Similarity::euclidean);
  EXPECT_THAT(ErrorOf([] { VectorWith({{kSettings, R"({"truncate_dim": 0})"}}, "a"); }), HasSubstr("truncate_dim"));
  EXPECT_THAT(ErrorOf([] {
                VectorWith({{kSettings, R"({"similarity_fn_name": "near"})"}}, "a");
              }),
              HasSubstr("similarity_fn_name"));
  const std::vector<float> a = {3, 0}, b = {0, 4};
  EXPECT_EQ(Compare(Similarity::euclidean, a, b), -5);
  EXPECT_EQ(Compare(Similarity::manhattan, a, b), -7);
  EXPECT_EQ(Compare(Similarity::dot, a, a), 9);
  EXPECT_EQ(Compare(Similarity::cosine, a, a), 1);
  EXPECT_EQ(Compare(Similarity::cosine, a, std::vector<float>{0, 0}), 0);
}

TEST(Embedder, AppliesDenseAndLayerNorm) {
  const auto folder = With({{"modules.json", R"([{"type": "x.Pooling", "path": "1_Pooling"},
                                                 {"type": "x.Dense", "path": "2_Dense"},
                                                 {"type": "x.LayerNorm", "path": "3_LayerNorm"}])"}});
  const std::vector<float> pooled = VectorWith({{"modules.json", kPoolingOnly}}, "dog");
  std::filesystem::create_directory(folder->File("2_Dense"));
  std::filesystem::create_directory(folder->File("3_LayerNorm"));
  WriteFile(folder->File("2_Dense/config.json"),
            R"({"in_features": 12, "out_features": 2, "activation_function": "torch.nn.modules.linear.Identity"})");
  WriteFile(folder->File("3_LayerNorm/config.json"), R"({"dimension": 2})");
  const Tensor weight = Tensor::Empty({2, 12}), bias = Tensor::Empty({2}), gain = Tensor::Empty({2});
  weight.Fill(0);
  weight.data<float>()[0] = 1;       // the first output equals the first input
  weight.data<float>()[12 + 1] = 1;  // the second output equals the second input
  bias.Fill(0.5);
  gain.Fill(2);
  WriteSafetensors(folder->File("2_Dense/model.safetensors"),
                   {Stored("linear.weight", weight), Stored("linear.bias", bias)});
  WriteSafetensors(folder->File("3_LayerNorm/model.safetensors"),
                   {Stored("norm.weight", gain), Stored("norm.bias", bias)});
  const Embedder embedder = Embedder::Load(folder->path());
  EXPECT_EQ(embedder.dimension(), 2);
  const float sign = pooled[0] > pooled[1] ? 1 : -1;  // LayerNorm maps two different values to 1 and -1
  const std::vector<float> normed = embedder.Embed("dog");
  EXPECT_NEAR(normed[0], 2 * sign + 0.5, 1e-2);
  EXPECT_NEAR(normed[1], -2 * sign + 0.5, 1e-2);

  WriteFile(folder->File("modules.json"), R"([{"type": "x.Pooling", "path": "1_Pooling"},
                                              {"type": "x.Dense", "path": "2_Dense"}])");
  EXPECT_NEAR(Embedder::Load(folder->path()).Embed("dog")[1], pooled[1] + 0.5, 1e-6);
  const auto error = [&](const std::string& config) {
    WriteFile(folder->File("2_Dense/config.json"), config);
    return ErrorOf([&] { Embedder::Load(folder->path()); });
  };
  EXPECT_EQ(error(R"({"in_features": 12, "out_features": 2})"), "");  // Tanh
  EXPECT_NEAR(Embedder::Load(folder->path()).Embed("dog")[1], std::tanh(pooled[1] + 0.5), 1e-6);
  EXPECT_THAT(error(R"({"in_features": 11, "out_features": 2})"), HasSubstr("in_features"));
  EXPECT_THAT(error(R"({"in_features": 12, "out_features": 3})"), HasSubstr("linear.weight has the shape"));
  EXPECT_THAT(error(R"({"in_features": 12, "out_features": 2, "activation_function": "mine.Tanh"})"),
              HasSubstr("'mine.Tanh' is not supported"));
  std::filesystem::remove(folder->File("2_Dense/model.safetensors"));
  EXPECT_THAT(error(R"({"in_features": 12, "out_features": 2})"),
              HasSubstr("2_Dense: holds neither model.safetensors"));
}

TEST(Embedder, ReadsATransformerInASubfolder) {
  const auto folder = With({{"modules.json", R"([{"type": "x.models.Transformer", "path": "0_Transformer"},
                                                 {"type": "x.models.Pooling", "path": "1_Pooling"}])"}});
  const std::vector<float> expected = VectorWith({{"modules.json", kPoolingOnly}}, "Two dogs.");
  std::filesystem::create_directory(folder->File("0_Transformer"));
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json", "sentence_bert_config.json"})
    std::filesystem::rename(folder->File(file), folder->File(std::string("0_Transformer/") + file));
  const Embedder embedder = Embedder::Load(folder->path());
  EXPECT_EQ(embedder.Embed("Two dogs."), expected);
  EXPECT_EQ(embedder.longest(), 20);
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
  EXPECT_THAT(ErrorOf([&] { embedder.Embed(texts); }), HasSubstr("text 3: 22 tokens"));
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

  EXPECT_EQ(vector_of(pooling, "{}"), vector_of(pooling, R"({"pooling_mode": "mean"})"));
  EXPECT_THAT(error(pooling, R"({"pooling_mode": ["cls", "median"]})"), HasSubstr("pooling_mode"));
  EXPECT_THAT(error(pooling, R"({"pooling_mode": []})"), HasSubstr("has 0 modes"));
  EXPECT_THAT(error(pooling, R"({"pooling_mode_cls_token": true, "twist": 1})"), HasSubstr("twist"));
  EXPECT_THAT(error("modules.json", R"([{"type": "sentence_transformers.models.LSTM"}])"), HasSubstr("LSTM"));
  EXPECT_THAT(error("modules.json", R"([{"type": "x.Transformer", "path": "0_T"}])"), HasSubstr("'0_T'"));
  EXPECT_THAT(error("sentence_bert_config.json", R"({"do_lower_case": true})"), HasSubstr("do_lower_case"));
  const std::string prompts = "config_sentence_transformers.json";
  EXPECT_THAT(error(prompts, R"({"default_prompt_name": "q", "prompts": {"p": ""}})"), HasSubstr("no prompt 'q'"));
  EXPECT_THAT(error("tokenizer.json", ""), HasSubstr("tokenizer.json is missing"));
  EXPECT_THAT(error("config.json", "{}"), HasSubstr("model_type"));
}

}  // namespace
}  // namespace headlight::embedder_test
