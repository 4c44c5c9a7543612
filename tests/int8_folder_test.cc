// Folders whose matrices are 8-bit integers, and models that are only computed with.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/transformer.h"
#include "tests/transformer_testing.h"

namespace headlight {
namespace {

using kernels::Compute;
using testing::HasSubstr;

std::vector<float> Logits(const Transformer& model) {
  const std::vector<std::int32_t> source = {5, 9, 3, 2}, target = {0, 7, 11};
  const Sequences sources = {{0, 4}}, targets = {{0, 3}};
  Context context;
  const Tensor memory = model.Encode(context, source, sources);
  return model.Logits(context, model.Decode(context, target, targets, {memory, sources})).ToVector<float>();
}

class Int8Folder : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Models, Int8Folder, testing::ValuesIn(kGoldenFolders),
                         [](const auto& test) { return test.param; });

TEST_P(Int8Folder, ComputesAsIntegersMadeOnLoadingDo) {
  const std::string folder = FolderOf(GetParam());
  const TemporaryFolder converted, again;
  LoadTransformer(folder)->Save(converted.path(), Compute::int8);
  const auto exact = Logits(*LoadTransformer(folder));
  // Only to compute with, in float32, nothing changes.
  EXPECT_TRUE(Logits(*LoadTransformer(folder, {.purpose = LoadFor::computing})) == exact);
  const auto in_int8 = LoadTransformer(folder, {.compute = Compute::int8, .purpose = LoadFor::computing});
  const auto from_floats = Logits(*in_int8);
  for (const Parameter& parameter : in_int8->parameters().all())  // packed alone
    EXPECT_EQ(parameter.value.empty(), parameter.in_products) << parameter.names.front();
  EXPECT_TRUE(Logits(*LoadTransformer(converted.path(), {.purpose = LoadFor::computing})) == from_floats);
  EXPECT_FALSE(from_floats == exact);
  const auto near = [&](const std::vector<float>& logits, double tolerance) {
    ASSERT_EQ(logits.size(), exact.size());
    const auto magnitude = [](float a, float b) { return std::abs(a) < std::abs(b); };
    const double scale = std::abs(*std::ranges::max_element(exact, magnitude));
    for (std::size_t i = 0; i < exact.size(); ++i) ASSERT_NEAR(logits[i], exact[i], tolerance * scale);
  };
  near(from_floats, 0.1);
  // As floats again: the weights are rounded, but not what they are multiplied by.
  near(Logits(*LoadTransformer(converted.path())), 0.1);
  // Converted once more, it is the same file.
  LoadTransformer(converted.path())->Save(again.path(), Compute::int8);
  EXPECT_TRUE(ReadFile(again.File("model.safetensors")) == ReadFile(converted.File("model.safetensors")));
}

// A converted folder with tensors that `change` has been at: what loading it says, for either purpose.
std::string ErrorAfter(const ChangeTensors& change) {
  const TemporaryFolder folder;
  LoadTransformer(FolderOf("marian_relu"))->Save(folder.path(), Compute::int8);
  WriteChanged(folder.File("model.safetensors"), folder.File("changed.safetensors"), change);
  WriteFile(folder.File("model.safetensors"), ReadFile(folder.File("changed.safetensors")));
  const std::string error = ErrorOf([&] { LoadTransformer(folder.path()); });
  EXPECT_EQ(ErrorOf([&] { LoadTransformer(folder.path(), {.purpose = LoadFor::computing}); }), error);
  return error;
}

TEST(Int8Folder, RefusesWhatDoesNotFit) {
  const std::string matrix = "model.encoder.layers.0.self_attn.k_proj.weight", scales = matrix + "_scale";
  EXPECT_EQ(ErrorAfter([](auto&) {}), "");
  EXPECT_THAT(ErrorAfter([&](auto& tensors) { tensors.erase(scales); }), HasSubstr("missing: " + scales));
  EXPECT_THAT(ErrorAfter([&](auto& tensors) { tensors["more_scale"] = tensors[scales]; }), HasSubstr("more_scale"));
  EXPECT_THAT(ErrorAfter([&](auto& tensors) { tensors[scales] = tensors["model.encoder.layers.0.fc1.weight_scale"]; }),
              HasSubstr(scales + " has"));
  for (const float bad : {-1.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> values(12, bad);
    EXPECT_THAT(ErrorAfter([&](auto& tensors) { tensors[scales].bytes = std::as_bytes(std::span(values)); }),
                HasSubstr("which is no scale"));
  }
  const std::vector<float> floats(12 * 12, 1);
  EXPECT_THAT(ErrorAfter([&](auto& tensors) {
                tensors[matrix] = {matrix, StoredType::f32, Shape{12, 12}, std::as_bytes(std::span(floats))};
                tensors.erase(scales);
              }),
              HasSubstr("is F32, where"));
  EXPECT_THAT(ErrorAfter([&](auto& tensors) {
                auto& bias = tensors["model.encoder.layers.0.fc2.bias"];
                bias.type = StoredType::i8;
                bias.bytes = bias.bytes.first(12);
              }),
              HasSubstr("holds I8, which cannot be read as float32"));
}

}  // namespace
}  // namespace headlight
