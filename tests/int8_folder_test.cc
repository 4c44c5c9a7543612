// Tests folders with int8 and int4 matrices, and models that are loaded only for inference.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/transformer.h"
#include "tests/transformer_testing.h"

namespace headlight::int8_folder_test {
namespace {

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

// Checks that a converted folder gives the same results as the original folder quantized on loading.
void CheckConverted(const std::string& folder, Compute compute) {
  SCOPED_TRACE(Name(compute));
  const TemporaryFolder converted, again;
  LoadModel<Transformer>(folder)->Save(converted.path(), compute);
  const auto exact = Logits(*LoadModel<Transformer>(folder));
  const auto quantized = LoadModel<Transformer>(folder, {.compute = compute, .purpose = LoadFor::computing});
  const auto from_floats = Logits(*quantized);
  for (const Parameter& parameter : quantized->parameters().all())  // matrices exist only in packed form
    EXPECT_EQ(parameter.value.empty(), parameter.role.in_products || parameter.role.looked_up)
        << parameter.names.front();
  EXPECT_TRUE(Logits(*LoadModel<Transformer>(converted.path(), {.purpose = LoadFor::computing})) == from_floats);
  EXPECT_FALSE(from_floats == exact);
  const auto near = [](const std::vector<float>& logits, const std::vector<float>& expected) {
    ASSERT_EQ(logits.size(), expected.size());
    const auto magnitude = [](float a, float b) { return std::abs(a) < std::abs(b); };
    const double scale = std::abs(*std::ranges::max_element(expected, magnitude));
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(logits[i], expected[i], 0.1 * scale);
  };
  // In float32, the weights are rounded but the activations are not. With 12 columns, int4 differs too much from the
  // original for a comparison.
  const auto rounded = Logits(*LoadModel<Transformer>(converted.path()));
  near(from_floats, rounded);
  if (compute == Compute::int8) near(rounded, exact);
  // If the folder is converted again, the int8 file is identical. For int4, the values are equal except for the last
  // bits of the scales.
  LoadModel<Transformer>(converted.path())->Save(again.path(), compute);
  if (compute == Compute::int8) {
    EXPECT_TRUE(ReadFile(again.File("model.safetensors")) == ReadFile(converted.File("model.safetensors")));
    return;
  }
  const auto once = LoadModel<Transformer>(converted.path()), twice = LoadModel<Transformer>(again.path());
  for (std::size_t i = 0; i < once->parameters().all().size(); ++i) {
    const auto numbers = once->parameters().all()[i].value.ToVector<float>(),
               same = twice->parameters().all()[i].value.ToVector<float>();
    for (std::size_t k = 0; k < numbers.size(); ++k) ASSERT_FLOAT_EQ(same[k], numbers[k]);
  }
}

TEST_P(Int8Folder, EqualsQuantizingOnLoading) {
  const std::string folder = FolderOf(GetParam());
  // Loading only for inference does not change the results in float32.
  EXPECT_TRUE(Logits(*LoadModel<Transformer>(folder, {.purpose = LoadFor::computing})) ==
              Logits(*LoadModel<Transformer>(folder)));
  CheckConverted(folder, Compute::int8);
  CheckConverted(folder, Compute::int4);
}

// Returns the error of loading a converted folder with tensors changed by `change`, for training and for inference.
std::string ErrorAfter(const ChangeTensors& change, Compute compute = Compute::int8) {
  const TemporaryFolder folder;
  LoadModel<Transformer>(FolderOf("marian_relu"))->Save(folder.path(), compute);
  WriteChanged(folder.File("model.safetensors"), folder.File("changed.safetensors"), change);
  WriteFile(folder.File("model.safetensors"), ReadFile(folder.File("changed.safetensors")));
  const std::string error = ErrorOf([&] { LoadModel<Transformer>(folder.path()); });
  EXPECT_EQ(ErrorOf([&] { LoadModel<Transformer>(folder.path(), {.purpose = LoadFor::computing}); }), error);
  return error;
}

TEST(Int8Folder, RefusesInvalidInput) {
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
              HasSubstr("is F32, but"));
  EXPECT_THAT(ErrorAfter([&](auto& tensors) {
                auto& bias = tensors["model.encoder.layers.0.fc2.bias"];
                bias.type = StoredType::i8;
                bias.bytes = bias.bytes.first(12);
              }),
              HasSubstr("holds I8"));
}

TEST(Int8Folder, RefusesInvalid4BitTensors) {
  const std::string matrix = "model.encoder.layers.0.self_attn.k_proj.weight", groups = matrix + "_group_scale";
  const auto error = [](const ChangeTensors& change) { return ErrorAfter(change, Compute::int4); };
  EXPECT_EQ(error([](auto&) {}), "");
  for (const std::string& name : {groups, matrix + "_scale"})
    EXPECT_THAT(error([&](auto& tensors) { tensors.erase(name); }), HasSubstr("missing: " + name));
  const std::vector<float> infinite(12, std::numeric_limits<float>::infinity());
  EXPECT_THAT(error([&](auto& tensors) { tensors[matrix + "_scale"].bytes = std::as_bytes(std::span(infinite)); }),
              HasSubstr("which is no scale"));
  EXPECT_THAT(error([&](auto& tensors) { tensors[groups].type = StoredType::u8; }), HasSubstr("_group_scale is U8"));
  EXPECT_THAT(error([&](auto& tensors) {
                auto& codes = tensors[matrix];
                codes.shape = Shape{12, 6};  // the rest of the group is missing
                codes.bytes = codes.bytes.first(12 * 6);
              }),
              HasSubstr(matrix + " has"));
  const std::vector<float> floats(12 * 12, 1);
  EXPECT_THAT(error([&](auto& tensors) {
                tensors[matrix] = {matrix, StoredType::f32, Shape{12, 12}, std::as_bytes(std::span(floats))};
                tensors.erase(groups);
                tensors.erase(matrix + "_scale");
              }),
              HasSubstr("is F32, but"));
}

}  // namespace
}  // namespace headlight::int8_folder_test
