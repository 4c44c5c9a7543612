// Compares BERT with Hugging Face Transformers. tools/make_bert_goldens.py describes the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/bert.h"
#include "headlight/models/family.h"
#include "headlight/models/files/stored_parameters.h"
#include "tests/encoder_parity_testing.h"
#include "tests/parity_testing.h"

namespace headlight::bert_parity_test {
namespace {

using testing::HasSubstr;

std::string FolderOf(const std::string& name) { return HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/" + name; }

std::unique_ptr<Bert> Load(const std::string& folder, DType dtype) {
  std::unique_ptr<Bert> model = LoadModel<Bert>(folder);
  if (dtype == DType::float32) return model;
  auto in_double = std::make_unique<Bert>(model->config(), dtype);
  LoadParameters(in_double->parameters(), Safetensors(folder + "/model.safetensors"), [](auto) { return true; });
  return in_double;
}

class BertParity : public testing::TestWithParam<std::tuple<const char*, DType>> {
 protected:
  const std::string name_ = std::get<0>(GetParam());
  const DType dtype_ = std::get<1>(GetParam());
  const double tolerance_ = dtype_ == DType::float32 ? 2e-5 : 1e-6;  // the goldens have single precision
};
INSTANTIATE_TEST_SUITE_P(, BertParity,
                         testing::Combine(testing::Values("gelu", "relu_odd_left", "masked_words", "pretraining_left"),
                                          testing::Values(DType::float32, DType::float64)),
                         kNameOfParity);

TEST_P(BertParity, EqualsTransformers) {
  CompareWithGolden(*Load(FolderOf(name_), dtype_), FolderOf(name_), tolerance_);
}

TEST(Bert, SavesAndLoads) {
  for (const char* name : {"gelu", "pretraining_left"}) {
    const std::unique_ptr<Bert> model = LoadModel<Bert>(FolderOf(name));
    const TemporaryFolder folder;
    model->Save(folder.path());
    const std::unique_ptr<Bert> again = LoadModel<Bert>(folder.path());
    ASSERT_EQ(again->parameters().all().size(), model->parameters().all().size());
    for (std::size_t i = 0; i < model->parameters().all().size(); ++i) {
      EXPECT_EQ(again->parameters().all()[i].names, model->parameters().all()[i].names);
      EXPECT_EQ(again->parameters().all()[i].value.ToVector<float>(),
                model->parameters().all()[i].value.ToVector<float>());
    }
  }
}

// Checks that packed models agree with the golden in every compute type, within the tolerance of the type.
TEST(Bert, ComputesInEveryPrecision) {
  const EncoderGolden golden(FolderOf("masked_words"));
  for (const auto& [compute, tolerance] :
       {std::pair(Compute::float32, 2e-5), std::pair(Compute::bfloat16, 0.05), std::pair(Compute::int8, 0.1)}) {
    if (!kernels::CpuHas(compute)) continue;
    const std::unique_ptr<const Bert> model =
        LoadModel<Bert>(FolderOf("masked_words"), {.compute = compute, .purpose = LoadFor::computing});
    Context context;
    const Tensor hidden = model->Encode(context, golden.ids, golden.types, golden.texts, golden.first);
    EXPECT_LT(Deviation(ToDouble(model->MaskedTokenLogits(context, hidden)), golden.Rows("logits")), tolerance)
        << Name(compute);
  }
}

TEST(Bert, ReadsNamesOfTheFirstCheckpoints) {
  const TemporaryFolder folder;
  std::filesystem::copy(FolderOf("gelu") + "/config.json", folder.File("config.json"));
  const Safetensors file(FolderOf("gelu") + "/model.safetensors");
  std::vector<StoredTensor> tensors;
  for (auto [name, tensor] : file.tensors()) {
    if (name.ends_with("LayerNorm.weight")) tensor.name.replace(name.size() - 6, 6, "gamma");
    if (name.ends_with("LayerNorm.bias")) tensor.name.replace(name.size() - 4, 4, "beta");
    tensors.push_back(tensor);
  }
  WriteSafetensors(folder.File("model.safetensors"), tensors);
  const std::unique_ptr<Bert> older = LoadModel<Bert>(folder.path()), newer = LoadModel<Bert>(FolderOf("gelu"));
  EXPECT_EQ(older->parameters().values().ToVector<float>(), newer->parameters().values().ToVector<float>());
  EXPECT_EQ(older->parameters().all()[3].names, newer->parameters().all()[3].names);
}

TEST(Bert, RefusesUnsupportedInput) {
  const auto with = [](const char* from, const char* to) {
    const TemporaryFolder folder;
    std::filesystem::copy(FolderOf("masked_words"), folder.path(), std::filesystem::copy_options::recursive);
    std::string config = ReadFile(folder.File("config.json"));
    const std::size_t at = config.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    WriteFile(folder.File("config.json"), config.replace(at, std::string_view(from).size(), to));
    return ErrorOf([&] { LoadModel<Bert>(folder.path()); });
  };
  EXPECT_EQ(with("\"bert\"", "\"bert\""), "");
  EXPECT_THAT(with("\"bert\"", "\"roberta\""), HasSubstr("model_type"));
  EXPECT_THAT(with("\"vocab_size\": 23", "\"vocab_size\": 24"), HasSubstr("other shapes"));
  EXPECT_THAT(with("\"hidden_act\": \"gelu_new\"", "\"hidden_act\": \"mish\""), HasSubstr("hidden_act"));
  EXPECT_THAT(with("\"num_attention_heads\": 2", "\"num_attention_heads\": 5"), HasSubstr("5 does not divide 12"));
  EXPECT_THAT(with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1"), HasSubstr("does not have"));
  EXPECT_THAT(with("\"model_type\"", "\"position_embedding_type\": \"relative_key\", \"model_type\""),
              HasSubstr("position_embedding_type"));
  EXPECT_THAT(with("\"model_type\"", "\"alibi\": 3, \"model_type\""), HasSubstr("alibi"));

  const std::unique_ptr<Bert> model = LoadModel<Bert>(FolderOf("gelu"));
  Context context;
  const std::vector<std::int32_t> many(17, 1), foreign = {99}, fine = {1}, wrong_type = {2};
  const Sequences one = {{0, 1}}, long_one = {{0, 17}};
  EXPECT_THAT(ErrorOf([&] { model->Encode(context, many, {}, long_one); }), HasSubstr("17 tokens is longer than"));
  EXPECT_NE(ErrorOf([&] { model->Encode(context, foreign, {}, one); }), "");
  EXPECT_NE(ErrorOf([&] { model->Encode(context, fine, wrong_type, one); }), "");
  EXPECT_THAT(ErrorOf([&] { model->MaskedTokenLogits(context, model->Encode(context, fine, {}, one)); }),
              HasSubstr("no head for masked words"));
}

}  // namespace
}  // namespace headlight::bert_parity_test
