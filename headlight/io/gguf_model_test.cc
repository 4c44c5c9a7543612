// Checks that unsupported GGUF models are refused, and that the right tokens end a generation.
// tests/gguf_parity_test.cc compares the outputs of models.
#include "headlight/io/gguf_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/gguf_end_tokens.h"
#include "headlight/base/gguf_testing.h"
#include "headlight/base/test_support.h"
#include "headlight/io/gguf_architectures.h"

namespace headlight::gguf_model_test {
namespace {

using gguf_testing::Builder;
using testing::ElementsAre;
using testing::HasSubstr;

// Returns the metadata of a model with two heads of dimension 2.
Builder Model(const std::string& architecture) {
  Builder file;
  file.Set("general.architecture", architecture.c_str());
  for (const auto& [key, value] :
       {std::pair("block_count", 1), std::pair("embedding_length", 4), std::pair("feed_forward_length", 6),
        std::pair("attention.head_count", 2), std::pair("context_length", 8)})
    file.Set(architecture + "." + key, value);
  const bool layer_norm = architecture == "bloom" || architecture == "falcon" || architecture == "bert";
  file.Set(architecture + (layer_norm ? ".attention.layer_norm_epsilon" : ".attention.layer_norm_rms_epsilon"), 1e-5F);
  return file.Tensor("token_embd.weight", {4, 6});
}

Builder Experts() {
  return Model("qwen3moe")
      .Set("qwen3moe.expert_count", 3)
      .Set("qwen3moe.expert_used_count", 2)
      .Set("qwen3moe.expert_feed_forward_length", 5)
      .Tensor("blk.0.ffn_gate_inp.weight", {4, 3})
      .Tensor("blk.0.ffn_gate_exps.weight", {4, 5, 3});
}

template <typename Run>
auto WithFile(const Builder& builder, const Run& run) {
  const TemporaryFolder folder;
  WriteFile(folder.File("x.gguf"), builder.File());
  return run(folder.File("x.gguf"));
}

std::string Refusal(const Builder& builder) {
  return WithFile(builder, [](const std::string& path) { return ErrorOf([&] { OpenGgufModel(path); }); });
}

TEST(GgufModel, RefusesWrongSettings) {
  EXPECT_EQ(Refusal(Model("llama")), "");
  EXPECT_EQ(Refusal(Model("llama").Set("llama.expert_count", 0)), "");
  EXPECT_EQ(Refusal(Experts()), "");
  EXPECT_EQ(Refusal(Experts().Set("qwen3moe.expert_gating_func", 1)), "");
  const std::vector<std::pair<Builder, const char*>> cases = {
      {Model("llama2"), "known are: llama, qwen2, qwen2moe"},
      {Model("llama").Remove("llama.block_count"), "key 'llama.block_count': is missing"},
      {Model("llama").Set("llama.attention.head_count", 0), "key 'llama.attention.head_count'"},
      {Model("llama").Set("llama.attention.head_count", "two"), "key 'llama.attention.head_count'"},
      {Model("llama").Set("llama.block_count", 1 << 30), "key 'llama.block_count': is more than"},
      {Model("llama").Set("llama.expert_count", 8), "no tensor blk.0.ffn_gate_inp.weight"},
      {Model("llama").Set("llama.scale_of_all", 2), "'llama.scale_of_all'"},
      {Model("llama").Set("llama.rope.dimension_count", 4), "key 'llama.rope.dimension_count'"},
      {Model("llama").Set("llama.rope.scaling.type", "dynamic"), "key 'llama.rope.scaling.type'"},
      {Model("llama").Tensor("blk.0.attn_q.weight", {4, 5}), "tensor 'blk.0.attn_q.weight'"},
      {Model("llama").Tensor("token_embd.weight", {4}), "token_embd.weight"},
      {Model("bloom").Set("bloom.attention.head_count_kv", 1), "key 'bloom.attention.head_count_kv'"},
      {Model("falcon").Set("falcon.attention.head_count_kv", 1).Tensor("blk.0.attn_qkv.weight", {4, 7}),
       "tensor 'blk.0.attn_qkv.weight'"},
      {Model("bert").Set("bert.attention.causal", true), "key 'bert.attention.causal'"},
      {Experts().Remove("qwen3moe.expert_count"), "key 'qwen3moe.expert_count'"},
      {Experts().Set("qwen3moe.expert_gating_func", 2), "key 'qwen3moe.expert_gating_func'"},
      {Experts().Set("qwen3moe.expert_count", 4), "tensor 'blk.0.ffn_gate_exps.weight'"},
      {Experts().Tensor("blk.0.ffn_up_exps.weight", {4, 5}), "tensor 'blk.0.ffn_up_exps.weight'"},
      {Model("llama").Set("tokenizer.ggml.eos_token_id", -1), "key 'tokenizer.ggml.eos_token_id'"},
      {Model("llama").Set("tokenizer.ggml.tokens", std::vector<int>{1}), "key 'tokenizer.ggml.tokens'"},
      {Model("llama").Set("tokenizer.ggml.tokens", "all"), "key 'tokenizer.ggml.tokens'"}};
  for (const auto& [file, message] : cases) EXPECT_THAT(Refusal(file), HasSubstr(message));
}

TEST(GgufModel, NamesTensorsAsCheckpointsDo) {
  WithFile(Experts(), [](const std::string& path) {
    const Safetensors weights = OpenGgufModel(path).weights;
    EXPECT_EQ(weights.At("model.layers.0.mlp.experts.2.gate_proj.weight").shape, Shape({5, 4}));
    EXPECT_TRUE(weights.contains("model.layers.0.mlp.gate.weight"));
    EXPECT_FALSE(weights.contains("model.layers.0.mlp.experts.3.gate_proj.weight"));
    return 0;
  });
}

TEST(GgufModel, EndsGenerationsAsChatsDo) {
  const auto ends = [](const Builder& builder) {
    return WithFile(builder, [](const std::string& path) { return GgufEndTokens(Gguf(path)); });
  };
  const std::vector<std::string> tokens = {"a", "<|im_end|>", "</s>", "<|eot_id|>", "<|endoftext|>", "<|end|>"};
  Builder file = Model("llama").Set("tokenizer.ggml.tokens", tokens);
  file.Set("tokenizer.ggml.token_type", std::vector<int>{1, 3, 1, 4, 3, 3});
  EXPECT_THAT(ends(file), ElementsAre(1, 3, 4, 5));  // </s> is normal text here
  file.Set("tokenizer.ggml.token_type", std::vector<int>{1, 3, 3, 4, 3, 3}).Set("tokenizer.ggml.eos_token_id", 4);
  file.Set("tokenizer.ggml.eot_token_id", 0);
  EXPECT_THAT(ends(file), ElementsAre(4, 0, 1, 2, 3, 5));
  WithFile(file, [](const std::string& path) {
    const JsonView config = OpenGgufModel(path).config;
    EXPECT_EQ(config["eos_token_id"].Items().size(), 6U);
    EXPECT_EQ(config["eos_token_id"].Items()[0].Integer(), 4);
    return 0;
  });
  // <|end|> does not end a generation if the vocabulary has <|return|>.
  file.Set("tokenizer.ggml.tokens", std::vector<std::string>{"<|return|>", "<|call|>", "<|end|>", "a", "b", "c"});
  EXPECT_THAT(ends(file), ElementsAre(4, 0, 1));
}

}  // namespace
}  // namespace headlight::gguf_model_test
