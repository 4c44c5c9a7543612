// Compares the types of tensors with the types that llama-quantize selects (tools and figures:
// docs/reference/files.md).
#include "headlight/io/gguf_mix.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/test_support.h"

namespace headlight::gguf_mix_test {
namespace {

using testing::HasSubstr;
using enum GgufType;

// Returns Llama's tensors with the given number of layers, and rows of 256 elements by default.
std::vector<GgufTensorPlan> Tensors(int layers, bool output = true, std::int64_t row = 256) {
  std::vector<GgufTensorPlan> tensors = {{"token_embd.weight", f32, {64, row}}, {"output_norm.weight", f32, {row}}};
  if (output) tensors.push_back({"output.weight", f32, {64, row}});
  for (int layer = 0; layer < layers; ++layer)
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"})
      tensors.push_back({fmt::format("blk.{}.{}.weight", layer, name), f32, {64, row}});
  return tensors;
}

// Returns the types of all tensors that do not have the usual type, by name.
std::map<std::string, GgufType> Unusual(const char* type, const GgufMixModel& model,
                                        const std::vector<GgufTensorPlan>& tensors) {
  const GgufFileType& file = GgufFileTypeOf(type);
  const std::vector<GgufType> types = GgufTypesFor(file, model, tensors);
  std::map<std::string, GgufType> unusual;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (types[i] != file.usual) unusual.emplace(tensors[i].name, types[i]);
  return unusual;
}

using Types = std::map<std::string, GgufType>;
const GgufMixModel kLlama = {.architecture = "llama", .layers = 8, .heads = 8, .key_heads = 2};

TEST(GgufMix, GivesTheEndsMoreBits) {
  Types expected = {{"output.weight", q6_k}, {"output_norm.weight", f32}};
  for (const int layer : {0, 3, 6, 7})
    for (const char* name : {"attn_v", "ffn_down"}) expected[fmt::format("blk.{}.{}.weight", layer, name)] = q6_k;
  EXPECT_EQ(Unusual("Q4_K_M", kLlama, Tensors(8)), expected);
  EXPECT_EQ(Unusual("Q5_K", kLlama, Tensors(8)), expected);
}

TEST(GgufMix, KnowsSmallTypes) {
  Types expected = {{"output.weight", q6_k}, {"output_norm.weight", f32}};
  for (int layer = 0; layer < 8; ++layer) {
    expected[fmt::format("blk.{}.attn_v.weight", layer)] = q4_k;
    for (const char* name : {"attn_output", "ffn_down"}) expected[fmt::format("blk.{}.{}.weight", layer, name)] = q3_k;
  }
  EXPECT_EQ(Unusual("Q2_K", kLlama, Tensors(8)), expected);
  EXPECT_EQ(Unusual("Q3_K_S", kLlama, Tensors(8)), (Types{{"output.weight", q6_k}, {"output_norm.weight", f32}}));
}

TEST(GgufMix, GivesATiedTableTheTypeOfTheOutput) {
  EXPECT_EQ(Unusual("Q4_0", kLlama, Tensors(1, /*output=*/false)),
            (Types{{"token_embd.weight", q6_k}, {"output_norm.weight", f32}}));
  EXPECT_EQ(Unusual("Q8_0", kLlama, Tensors(1, /*output=*/false)), (Types{{"output_norm.weight", f32}}));
}

TEST(GgufMix, DependsOnTheImportance) {
  GgufMixModel model = kLlama;
  const Types without = Unusual("Q4_0", model, Tensors(8));
  EXPECT_FALSE(without.contains("blk.0.ffn_down.weight"));
  model.importance = true;
  EXPECT_EQ(Unusual("Q4_0", model, Tensors(8)).at("blk.0.ffn_down.weight"), q4_1);
}

TEST(GgufMix, ShortensBlocksForShortRows) {
  const auto type = [&](const char* file, std::int64_t row) {
    return GgufTypesFor(GgufFileTypeOf(file), kLlama,
                        std::vector<GgufTensorPlan>{{"blk.1.ffn_up.weight", f32, {4, row}}})
        .front();
  };
  EXPECT_EQ(type("Q4_K_M", 96), q5_0);
  EXPECT_EQ(type("Q5_K_M", 96), q5_1);
  EXPECT_EQ(type("Q6_K", 96), q8_0);
  EXPECT_EQ(type("Q2_K", 96), q4_0);
  EXPECT_EQ(type("IQ4_XS", 96), iq4_nl);
  EXPECT_EQ(type("Q4_0", 40), f16);
  EXPECT_EQ(type("BF16", 40), bf16);
}

TEST(GgufMix, ListsTheTypes) {
  EXPECT_EQ(GgufFileTypeOf("q4_k").id, GgufFileTypeOf("Q4_K_M").id);
  EXPECT_THAT(ErrorOf([] { GgufFileTypeOf("Q9"); }), HasSubstr("Q4_K_M"));
}

}  // namespace
}  // namespace headlight::gguf_mix_test
