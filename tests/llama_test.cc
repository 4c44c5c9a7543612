// Tests the Llama family. tools/make_decoder_goldens.py describes the folders in testdata/decoders.
#include "headlight/models/llama.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/family.h"
#include "tests/decoder_parity_testing.h"
#include "tests/parity_testing.h"

namespace headlight::llama_test {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

const auto FolderOf = DecoderFolder;

struct Changed : ChangedDecoder {
  using ChangedDecoder::ChangedDecoder;
  std::unique_ptr<Llama> Load() const { return LoadModel<Llama>(path()); }
};

TEST(Llama, ReadsBothSpellingsOfItsConfiguration) {
  const auto newer = LoadModel<Llama>(FolderOf("llama_grouped_tied")),
             older = LoadModel<Llama>(FolderOf("llama_biases"));
  EXPECT_EQ(newer->config().rotary.base, 500);
  EXPECT_EQ(newer->config().key_heads, 2);
  EXPECT_EQ(newer->config().head_dim, 6);
  EXPECT_EQ(older->config().rotary.base, 10000);
  EXPECT_EQ(older->config().head_dim, 2);  // default: the model dimension divided by the number of heads

  const auto of_older = [](const char* to) { return Changed("llama_biases", "\"rope_theta\": 10000.0", to); };
  EXPECT_EQ(of_older("\"rope_theta\": 77").Load()->config().rotary.base, 77);
  EXPECT_EQ(of_older("\"rope_theta\": 77, \"head_dim\": null").Load()->config().rotary.base, 77);
  EXPECT_EQ(
      of_older("\"rope_parameters\": {\"rope_theta\": 88, \"rope_type\": \"default\"}").Load()->config().rotary.base,
      88);
  EXPECT_EQ(of_older("\"rope_theta\": 5, \"rope_parameters\": {\"rope_theta\": 88}").Load()->config().rotary.base, 88);
  EXPECT_EQ(of_older("\"rope_theta\": 5, \"rope_parameters\": {\"type\": \"default\"}").Load()->config().rotary.base,
            5);
  EXPECT_EQ(
      Changed("llama_biases", "\"num_key_value_heads\": 4", "\"num_key_value_heads\": null").Load()->config().key_heads,
      4);
}

TEST(Llama, RefusesUnsupportedInput) {
  const auto with = [](const char* from, const char* to) { return Changed("llama_grouped_tied", from, to).Error(); };
  EXPECT_THAT(with("\"rope_type\": \"default\"", "\"rope_type\": \"yard\""), HasSubstr("rope_parameters.rope_type"));
  EXPECT_THAT(with("\"rope_type\": \"default\"", "\"rope_type\": \"linear\""), HasSubstr("rope_parameters.factor"));
  EXPECT_THAT(with("\"rope_type\": \"default\"",
                   "\"rope_type\": \"llama3\", \"factor\": 2, \"low_freq_factor\": 4, \"high_freq_factor\": 4"),
              HasSubstr("must be above low_freq_factor"));
  EXPECT_THAT(with("\"rope_type\": \"default\"", "\"rope_type\": \"default\", \"factor\": 2"), HasSubstr("factor"));
  EXPECT_THAT(with("\"rope_theta\": 500.0", "\"rope_theta\": -1"), HasSubstr("rope_theta"));
  EXPECT_THAT(with("\"vocab_size\"", "\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}, \"vocab_size\""),
              HasSubstr("contradicts rope_parameters"));
  EXPECT_EQ(with("\"vocab_size\"", "\"rope_scaling\": {\"type\": \"default\"}, \"vocab_size\""), "");
  EXPECT_THAT(with("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3"), HasSubstr("3 key heads, 4 heads"));
  EXPECT_THAT(with("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 4"), HasSubstr("other shapes"));
  EXPECT_THAT(with("\"head_dim\": 6", "\"head_dim\": 5"), HasSubstr("pairs"));
  EXPECT_THAT(with("\"num_attention_heads\": 4", "\"num_attention_heads\": 16777216"), HasSubstr("together"));
  EXPECT_THAT(with("\"hidden_act\": \"silu\"", "\"hidden_act\": \"mish\""), HasSubstr("hidden_act"));
  EXPECT_THAT(with("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false"), HasSubstr("lm_head.weight"));
  EXPECT_THAT(with("\"vocab_size\"", "\"sliding_window\": 3, \"vocab_size\""), HasSubstr("sliding_window"));
  EXPECT_EQ(with("\"eos_token_id\": 2", "\"eos_token_id\": [2, 3]"), "");
  EXPECT_EQ(Changed("llama_grouped_tied", "\"bos_token_id\": 1", "\"bos_token_id\": null").Load()->limits().begin_id,
            -1);

  const auto model = LoadModel<Llama>(FolderOf("llama_grouped_tied"));
  Context context;
  EXPECT_THAT(ErrorOf([&] {
                model->Decode(context, Ids(25, 1), Sequences{{0, 25}});
              }),
              HasSubstr("25 tokens is longer than"));
  EXPECT_NE(ErrorOf([&] { model->Decode(context, Ids{99}, Sequences{{0, 1}}); }), "");
}

// Checks the tensor names in older files. These files store the rotary frequencies of each layer. Some store a tied
// embedding table under both of its names, and some have names without a prefix.
TEST(Llama, ReadsOtherNames) {
  const TemporaryFolder folder;
  std::filesystem::copy(FolderOf("llama_grouped_tied") + "/config.json", folder.File("config.json"));
  const Safetensors file(FolderOf("llama_grouped_tied") + "/model.safetensors");
  std::vector<StoredTensor> tensors;
  const Tensor frequencies = Tensor::Zeros({3});
  for (auto [name, tensor] : file.tensors()) {
    EXPECT_TRUE(tensor.name.starts_with("model."));
    tensor.name.erase(0, 6);
    tensors.push_back(tensor);
    if (tensor.name == "embed_tokens.weight") {
      tensor.name = "lm_head.weight";
      tensors.push_back(tensor);
    }
  }
  tensors.push_back(Stored("layers.1.self_attn.rotary_emb.inv_freq", frequencies));
  WriteSafetensors(folder.File("model.safetensors"), tensors);
  const auto other = LoadModel<Llama>(folder.path()), usual = LoadModel<Llama>(FolderOf("llama_grouped_tied"));
  EXPECT_EQ(other->parameters().values().ToVector<float>(), usual->parameters().values().ToVector<float>());
}

// Checks keys of published files that have no effect, and settings that Transformers interprets in an unexpected way.
TEST(LlamaDescendants, ReadSettingsOfPublishedFiles) {
  const auto error = [](const std::string& name, const std::string& from, const std::string& to) {
    return Changed(name, from, to).Error();
  };
  const auto with = [&](const std::string& name, const std::string& keys) {
    return error(name, "\"vocab_size\"", keys + ", \"vocab_size\"");
  };
  EXPECT_EQ(with("opt", "\"activation_dropout\": 0.0"), "");
  EXPECT_EQ(with("gemma2", "\"hidden_act\": \"gelu_pytorch_tanh\", \"sliding_window_size\": 4096"), "");
  EXPECT_EQ(with("phi3", "\"attention_bias\": false, \"mlp_bias\": false, \"lm_head_bias\": false"), "");
  EXPECT_THAT(with("phi3", "\"attention_bias\": true"), HasSubstr("attention_bias"));
  EXPECT_EQ(with("smollm3", "\"max_window_layers\": 28"), "");
  EXPECT_EQ(with("mistral", "\"attention_bias\": false"), "");
  EXPECT_THAT(with("qwen3", "\"partial_rotary_factor\": 0.5"), HasSubstr("partial_rotary_factor"));
  EXPECT_THAT(with("gemma3", "\"partial_rotary_factor\": 0.5"), HasSubstr("partial_rotary_factor"));
  EXPECT_THAT(error("gemma2", "\"sliding_window\": 3", "\"sliding_window\": null"), HasSubstr("sliding_window"));
  EXPECT_THAT(error("gemma2", "\"attn_logit_softcapping\": 2.0", "\"attn_logit_softcapping\": 0.0"),
              HasSubstr("attn_logit_softcapping"));
  EXPECT_THAT(error("phi3", "\"original_max_position_embeddings\": 16", "\"original_max_position_embeddings\": 1"),
              HasSubstr("original_max_position_embeddings"));
  EXPECT_EQ(error("llama_yarn", "\"factor\": 4.0", "\"factor\": 4.0, \"attn_factor\": 0.9"), "");
}

// Checks Phi-3's oldest files, in which "yarn" means longrope.
TEST(LlamaDescendants, Phi3ReadsYarnAsLongRope) {
  const RotarySettings longrope = LoadModel<Llama>(FolderOf("phi3"))->config().rotary;
  EXPECT_EQ(longrope.kind, RotaryKind::longrope);
  EXPECT_EQ(Changed("phi3", "\"longrope\"", "\"yarn\"").Load()->config().rotary, longrope);
}

// Checks that a smaller model may have the no_rope_layers list of a larger model. Layers with entry 0 have no rotary
// positions.
TEST(LlamaDescendants, SmolLm3ReadsTheFirstEntriesOfALongerList) {
  const auto with = [](const std::string& entries) {
    return Changed("smollm3", "\"no_rope_layers\": [\n    1,\n    0\n", "\"no_rope_layers\": [" + entries);
  };
  const std::unique_ptr<Llama> model = with("1, 0, 0, 1").Load();
  EXPECT_EQ(model->config().rotates, (std::vector{true, false}));
  const TemporaryFolder folder;
  model->Save(folder.path());
  EXPECT_EQ(ReadJson(folder.File("config.json"))["no_rope_layers"].value(), Json(Json::Array{1, 0}));
  EXPECT_THAT(with("1").Error(), HasSubstr("no_rope_layers"));
}

// Checks that a model with fully rotated heads is saved and loaded correctly, in a family whose default is partial
// rotation.
TEST(LlamaDescendants, SaveFullRotation) {
  const Changed whole("stablelm_parallel", "\"partial_rotary_factor\": 0.5", "\"partial_rotary_factor\": 1.0");
  const std::unique_ptr<LanguageModel> model = LoadModel<LanguageModel>(whole.path());
  const TemporaryFolder folder;
  model->Save(folder.path());
  EXPECT_EQ(ReadJson(folder.path() + "/config.json")["partial_rotary_factor"].Number(), 1.0);
  EXPECT_EQ(ReadJson(folder.path() + "/config.json")["rope_parameters"]["partial_rotary_factor"].Number(), 1.0);
}

}  // namespace
}  // namespace headlight::llama_test
