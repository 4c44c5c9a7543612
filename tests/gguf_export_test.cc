// Converts folders of decoders to GGUF and loads the files.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/parallel.h"
#include "headlight/base/test_support.h"
#include "headlight/recipes/convert_gguf.h"
#include "headlight/recipes/importance_matrix.h"
#include "tests/decoder_parity_testing.h"

namespace headlight::gguf_export_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr LanguageModelSizes kSizes = {.model = 64,
                                       .ffn = 96,
                                       .heads = 4,
                                       .key_heads = 2,
                                       .layers = 6,
                                       .positions = 32,
                                       .vocabulary = 40,
                                       .begin_id = 1,
                                       .end_id = 2};

// Writes a folder with a model of the family. All parameters, including norm weights and biases, have different values.
void WriteModel(const std::string& family, const std::string& folder) {
  for (const NewLanguageModel& made : NewLanguageModels()) {
    if (made.name != family) continue;
    LanguageModelSizes sizes = kSizes;
    if (family == "bloom") sizes.ffn = 4 * sizes.model;  // BLOOM always has this size
    const std::unique_ptr<LanguageModel> model = made.make(sizes);
    model->parameters().Initialize(1);
    std::uint32_t state = 7;
    for (const Parameter& parameter : model->parameters().all())
      for (std::int64_t i = 0; i < parameter.value.elements(); ++i) {
        state = state * 1664525U + 1013904223U;
        parameter.value.data<float>()[i] = (static_cast<float>(state >> 8) * 0x1p-24F - 0.5F) / 4;
      }
    fs::create_directory(folder);
    model->Save(folder);
  }
}

std::vector<float> Logits(const std::string& path, const LoadModelOptions& options = {}) {
  const std::vector<std::int32_t> ids = {1, 17, 39, 5, 2, 8, 30, 11};
  const std::unique_ptr<LanguageModel> model = LoadDecoder(path, options);
  Context context;
  return model->Logits(context, model->Decode(context, ids, {{0, 8}})).ToVector<float>();
}

struct GgufExport : testing::TestWithParam<std::string> {
  const TemporaryFolder folder;
  const std::string model = folder.File("model"), out = folder.File("model.gguf");
};

TEST_P(GgufExport, HasTheLogitsOfTheFolder) {
  WriteModel(GetParam(), model);
  ConvertToGguf({.model = model, .out = out});
  EXPECT_EQ(Logits(out), Logits(model));
  ConvertToGguf({.model = model, .out = out, .type = "Q8_0", .overwrite = true});
  const std::vector<float> exact = Logits(model), rounded = Logits(out, {.purpose = LoadFor::computing});
  EXPECT_LT(Deviation(Numbers(rounded.begin(), rounded.end()), Numbers(exact.begin(), exact.end())), 0.05);
}

INSTANTIATE_TEST_SUITE_P(Families, GgufExport,
                         testing::Values("llama", "mistral", "qwen2", "qwen3", "smollm3", "phi3", "granite", "olmo2",
                                         "stablelm", "gemma", "gemma2", "gemma3_text", "gpt2", "gpt_neox", "bloom",
                                         "falcon", "mixtral", "qwen2_moe", "qwen3_moe"),
                         [](const auto& which) { return which.param; });

struct GgufConversionTest : testing::Test {
  const TemporaryFolder folder;
  const std::string model = folder.File("model"), out = folder.File("a.gguf"), other = folder.File("b.gguf");

  std::string Refusal(const GgufConversion& options) const {
    return ErrorOf([&] { ConvertToGguf(options); });
  }
  // Changes a key of the folder's config.json.
  void Set(const char* key, Json value) const {
    Json config = ReadJson(model + "/config.json").value();
    config.Set(key, std::move(value));
    WriteFile(model + "/config.json", config.Text());
  }
};

TEST_F(GgufConversionTest, CopiesAFileByteByByteUnlessATypeIsGiven) {
  WriteModel("llama", model);
  ConvertToGguf({.model = model, .out = out, .type = "Q4_K_M"});
  ConvertToGguf({.model = out, .out = other});
  EXPECT_EQ(ReadFile(other), ReadFile(out));
  // Conversion from the folder and from an unquantized GGUF file must give the same tensors.
  const std::string exact = folder.File("exact.gguf"), again = folder.File("again.gguf");
  ConvertToGguf({.model = model, .out = exact});
  ConvertToGguf({.model = exact, .out = again, .type = "Q4_K_M"});
  const Gguf first(out), second(again);
  ASSERT_EQ(first.tensors().size(), second.tensors().size());
  for (std::size_t i = 0; i < first.tensors().size(); ++i)
    EXPECT_TRUE(std::ranges::equal(first.tensors()[i].bytes, second.tensors()[i].bytes)) << first.tensors()[i].name;
  EXPECT_EQ(first.Integer("general.file_type", 0, 99), 15);
}

TEST_F(GgufConversionTest, HasTheSameBytesForAnyNumberOfThreads) {
  WriteModel("llama", model);
  ConvertToGguf({.model = model, .out = out, .type = "Q2_K"});
  const int threads = Threads();
  SetThreads(1);
  ConvertToGguf({.model = model, .out = other, .type = "Q2_K"});
  SetThreads(threads);
  EXPECT_EQ(ReadFile(other), ReadFile(out));
}

TEST_F(GgufConversionTest, RefusesWhatTheFormatLacks) {
  WriteModel("llama", model);
  Set("hidden_act", "gelu");
  EXPECT_THAT(Refusal({.model = model, .out = out}), HasSubstr("hidden_act"));
  Set("hidden_act", "silu");
  Set("model_type", "mistral");
  Set("sliding_window", 16);
  EXPECT_THAT(Refusal({.model = model, .out = out}), HasSubstr("sliding_window"));
  Set("model_type", "roberta");
  EXPECT_THAT(Refusal({.model = model, .out = out}), HasSubstr("no architecture in GGUF"));
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(GgufConversionTest, KeepsFilesThatItMayNotReplace) {
  WriteModel("llama", model);
  WriteFile(out, "mine");
  EXPECT_THAT(Refusal({.model = model, .out = out}), HasSubstr("`overwrite`"));
  EXPECT_THAT(Refusal({.model = model, .out = out, .type = "Q4_X", .overwrite = true}), HasSubstr("Q4_K_M"));
  EXPECT_THAT(Refusal({.model = model, .out = "/dev/full", .overwrite = true}), HasSubstr("/dev/full"));
  EXPECT_EQ(ReadFile(out), "mine");
  ConvertToGguf({.model = model, .out = out, .overwrite = true});
  EXPECT_THAT(Refusal({.model = out, .out = out, .overwrite = true}), HasSubstr("would be lost"));
}

TEST_F(GgufConversionTest, NamesTheTensorWithoutANumber) {
  WriteModel("llama", model);
  const std::unique_ptr<LanguageModel> broken = LoadDecoder(model);
  for (const Parameter& parameter : broken->parameters().all())
    if (parameter.names.front() == "model.layers.3.mlp.down_proj.weight") parameter.value.data<float>()[5] = NAN;
  broken->Save(model);
  EXPECT_THAT(Refusal({.model = model, .out = out, .type = "Q4_0"}), HasSubstr("blk.3.ffn_down.weight"));
  EXPECT_FALSE(fs::exists(out));
}

// Writes a tokenizer of the letters a to z and a few other bytes.
void WriteLetters(const std::string& model) {
  Json::Object vocabulary;
  for (char letter = 'a'; letter <= 'z'; ++letter) vocabulary.push_back({std::string(1, letter), vocabulary.size()});
  vocabulary.push_back({"\u0120", vocabulary.size()});  // encodes a space
  Json file = R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
                  "decoder": {"type": "ByteLevel", "add_prefix_space": true, "use_regex": true}})"_json;
  file.Set("model", Json::Object{{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", Json::Array{}}});
  WriteFile(model + "/tokenizer.json", file.Text());
}

TEST_F(GgufConversionTest, MeasuresTheImportanceOfInputs) {
  WriteModel("llama", model);
  WriteLetters(model);
  WriteFile(folder.File("text"), "the quick brown fox jumps over the lazy dog");
  const std::string matrix = folder.File("matrix.gguf");
  ConvertToGguf(
      {.model = model, .out = out, .type = "Q4_0", .importance = folder.File("text"), .save_importance = matrix});
  const ImportanceMatrix importance = ReadImportance(matrix);
  EXPECT_EQ(importance.size(), 6U * 7);
  EXPECT_EQ(importance.at("blk.0.attn_q.weight").sums, importance.at("blk.0.attn_k.weight").sums);
  EXPECT_EQ(importance.at("blk.5.ffn_down.weight").sums.size(), 96U);
  EXPECT_EQ(importance.at("blk.5.ffn_down.weight").counts.front(), 43);
  // The first layer's input is the normalized embedding table. The sum of squares of a row is about the sum of squares
  // of the norm weights.
  const std::unique_ptr<LanguageModel> loaded = LoadDecoder(model);
  double expected = 0, found = 0;
  for (const Parameter& parameter : loaded->parameters().all())
    if (parameter.names.front() == "model.layers.0.input_layernorm.weight")
      for (const float gain : parameter.value.ToVector<float>()) expected += double{gain} * double{gain};
  for (const float sum : importance.at("blk.0.attn_q.weight").sums) found += double{sum};
  EXPECT_NEAR(found, 43 * expected, 20 * expected);
  // The importance matrix gives the same file as the text that it was computed from.
  ConvertToGguf({.model = model, .out = other, .type = "Q4_0", .importance = matrix});
  EXPECT_EQ(ReadFile(other), ReadFile(out));
  ConvertToGguf({.model = model, .out = folder.File("c.gguf"), .type = "Q4_0"});
  EXPECT_NE(ReadFile(folder.File("c.gguf")), ReadFile(out));
  EXPECT_THAT(Refusal({.model = model, .out = other, .type = "Q4_0", .importance = out, .overwrite = true}),
              HasSubstr("importance matrix"));
}

}  // namespace
}  // namespace headlight::gguf_export_test
