// Compares models in GGUF with the same models in Hugging Face's layout. decoder_parity_test.cc compares these models
// with Transformers.
#include <gmock/gmock.h>

#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/pipelines/sentence_modules.h"
#include "headlight/recipes/convert_gguf.h"
#include "tests/decoder_parity_testing.h"

namespace headlight::gguf_parity_test {
namespace {

namespace fs = std::filesystem;

const std::string kData = HEADLIGHT_SOURCE_DIR "/tests/testdata/";

Numbers LogitsOf(const std::string& path, const DecoderGolden& golden, const LoadModelOptions& options = {}) {
  const std::unique_ptr<LanguageModel> model = LoadDecoder(path, options);
  Context context;
  return ToDouble(model->Logits(context, model->Decode(context, golden.ids, golden.texts)));
}

// Copies the folder. Settings that GGUF cannot express are set to their defaults.
void WriteUsual(const std::string& folder, const TemporaryFolder& usual) {
  Json config = ReadJson(folder + "/config.json").value();
  const std::string type = *config.Find("model_type")->As<std::string>();
  for (const char* key : {"layer_types", "use_sliding_window", "no_rope_layers", "no_rope_layer_interval"})
    config.Set(key, Json());
  if (type == "mixtral") config.Set("sliding_window", Json());
  if (type == "falcon") config.Set("activation", "gelu");
  const bool fixed = config.Find("hidden_act") == nullptr || type.starts_with("gemma") || type == "gpt_neox";
  if (!fixed) config.Set("hidden_act", "silu");
  if (config.Find("query_pre_attn_scalar") != nullptr) config.Set("query_pre_attn_scalar", *config.Find("head_dim"));
  WriteFile(usual.File("config.json"), config.Text());
  fs::copy_file(folder + "/model.safetensors", usual.File("model.safetensors"));
}

class GgufParity : public testing::TestWithParam<std::string> {};

TEST_P(GgufParity, HasTheLogitsOfTheFolder) {
  const std::string file = kData + "gguf/" + GetParam() + ".gguf";
  const std::string folder = kData + (GetParam() == "gpt2" ? "gpt/" : "decoders/") + GetParam();
  const DecoderGolden golden(folder);
  const TemporaryFolder usual;
  WriteUsual(folder, usual);
  const Numbers expected = LogitsOf(usual.path(), golden);
  EXPECT_LT(Deviation(LogitsOf(file, golden), expected), 1e-6);
  EXPECT_LT(Deviation(LogitsOf(file, golden, {.purpose = LoadFor::computing}), expected), 1e-6);
}

// Checks GPT-2, whose checkpoints have transposed matrices.
TEST(GgufSaving, WritesMatricesAsCheckpointsHaveThem) {
  const std::string file = kData + "gguf/gpt2.gguf";
  const TemporaryFolder saved;
  LoadDecoder(file)->Save(saved.path());
  const Safetensors original(kData + "gpt/gpt2/model.safetensors"), again(saved.File("model.safetensors"));
  for (const char* name : {"transformer.h.0.attn.c_attn.weight", "transformer.h.1.attn.c_proj.weight"})
    EXPECT_EQ(again.Read(name).ToVector<float>(), original.Read(name).ToVector<float>()) << name;
}

TEST(GgufEncoder, HasTheStatesOfTheFolder) {
  const std::vector<std::int32_t> ids = {2, 17, 39, 3, 2, 8, 3};
  const auto states = [&](const std::string& path) {
    Context context;
    const auto model = LoadModel<TextEncoder>(path);
    return ToDouble(model->Encode(context, ids, {}, {{0, 4}, {4, 3}}));
  };
  const std::string file = kData + "gguf_encoders/sentences.gguf";
  EXPECT_LT(Deviation(states(file), states(kData + "bert/sentences")), 1e-6);
  EXPECT_THAT(ReadSentenceModules(file, 12).poolings, testing::ElementsAre(Pooling::first));  // pooling_type 2
  const TemporaryFolder folder;
  const std::string out = folder.File("out.gguf");
  ConvertToGguf({.model = kData + "bert/sentences", .out = out});
  EXPECT_EQ(states(out), states(kData + "bert/sentences"));
  EXPECT_EQ(ReadSentenceModules(out, 12).poolings, ReadSentenceModules(kData + "bert/sentences", 12).poolings);
}

class GgufEncoderDecoder : public testing::TestWithParam<std::string> {};

TEST_P(GgufEncoderDecoder, HasTheLogitsOfTheFolder) {
  const std::vector<std::int32_t> source = {2, 17, 9, 3, 2, 8, 1}, target = {0, 5, 11, 0, 4};
  const auto logits = [&](const std::string& path) {
    Context context;
    const auto model = LoadModel<EncoderDecoder>(path);
    const Memory memory{model->Encode(context, source, {{0, 4}, {4, 3}}), {{0, 4}, {4, 3}}};
    return ToDouble(model->Logits(context, model->Decode(context, target, {{0, 3}, {3, 2}}, memory)));
  };
  const std::string folder = kData + "encoder_decoders/" + GetParam();
  const TemporaryFolder usual;
  Json config = ReadJson(folder + "/config.json").value();
  config.Set("relative_attention_max_distance", 128);  // GGUF has no key for it
  WriteFile(usual.File("config.json"), config.Text());
  fs::copy_file(folder + "/model.safetensors", usual.File("model.safetensors"));
  EXPECT_LT(Deviation(logits(kData + "gguf_encoders/" + GetParam() + ".gguf"), logits(usual.path())), 1e-6);
  const std::string out = usual.File("out.gguf");
  ConvertToGguf({.model = usual.path(), .out = out});
  EXPECT_EQ(logits(out), logits(usual.path()));
  config.Set("dense_act_fn", "silu");
  config.Set("feed_forward_proj", *config.Find("is_gated_act")->As<bool>() ? "gated-silu" : "silu");
  WriteFile(usual.File("config.json"), config.Text());
  EXPECT_THAT(ErrorOf([&] { ConvertToGguf({.model = usual.path(), .out = usual.File("other.gguf")}); }),
              testing::HasSubstr("dense_act_fn"));
}

INSTANTIATE_TEST_SUITE_P(Models, GgufEncoderDecoder, testing::Values("t5_relu", "t5_gated_gelu_untied"),
                         [](const auto& which) { return which.param; });

struct BlockCase {
  std::string name;
  int in_blocks;     // number of parameters that are stored as quantized blocks
  double deviation;  // the largest error of the logits, which rounding of activations causes
};

class GgufBlocks : public testing::TestWithParam<BlockCase> {};

TEST_P(GgufBlocks, AreComputedAsTheyAreStored) {
  const std::string path = kData + "gguf_blocks/" + GetParam().name + ".gguf";
  const std::vector<std::int32_t> ids = {3, 17, 39, 5, 2, 8};
  const Sequences texts = {{0, 4}, {4, 2}};
  const auto logits = [&](const LanguageModel& model, std::span<const std::int32_t> of_texts, const Sequences& where) {
    Context context;
    return model.Logits(context, model.Decode(context, of_texts, where)).ToVector<float>();
  };
  const auto exact = LoadDecoder(path), blocks = LoadDecoder(path, {.purpose = LoadFor::computing});
  int in_blocks = 0;
  for (const Parameter& parameter : blocks->parameters().all())
    in_blocks += parameter.packed.columns() > 0 && parameter.packed.compute() == Compute::blocks ? 1 : 0;
  EXPECT_EQ(in_blocks, GetParam().in_blocks);
  const std::vector<float> expected = logits(*exact, ids, texts), together = logits(*blocks, ids, texts);
  const double deviation =
      Deviation(Numbers(together.begin(), together.end()), Numbers(expected.begin(), expected.end()));
  EXPECT_GT(deviation, 1e-6);  // activations are rounded to 8 bits
  EXPECT_LT(deviation, GetParam().deviation);
  const std::vector<float> alone = logits(*blocks, std::span(ids).last(2), {{0, 2}});
  EXPECT_TRUE(std::ranges::equal(alone, std::span(together).last(alone.size())));
}

// The expected number of block-quantized matrices. Llama: the embedding table, the output projection, gate with up, and
// down. Query, key and value are packed together. GPT-2: the embedding table and the four matrices of a layer.
// Qwen3-MoE: also two matrices per expert.
INSTANTIATE_TEST_SUITE_P(Models, GgufBlocks,
                         testing::Values(BlockCase{"llama", 4, 0.02}, BlockCase{"gpt2", 5, 0.04},
                                         BlockCase{"qwen3moe", 9, 0.04}),
                         [](const auto& which) { return which.param.name; });

std::vector<std::string> Files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kData + "gguf")) names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, GgufParity, testing::ValuesIn(Files()), [](const auto& which) { return which.param; });

}  // namespace
}  // namespace headlight::gguf_parity_test
