// Reads and writes folders in the layout of Transformers. tools/make_transformer_goldens.py describes the folders in
// testdata/transformers.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/transformer.h"
#include "tests/transformer_testing.h"

namespace headlight::transformer_folder_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

class TransformerFolder : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Models, TransformerFolder, testing::ValuesIn(kGoldenFolders),
                         [](const auto& test) { return test.param; });

TEST_P(TransformerFolder, SavesLikeTransformers) {
  const TemporaryFolder saved;
  LoadModel<Transformer>(FolderOf(GetParam()))->Save(saved.path());
  const ModelFolder theirs = OpenModelFolder(FolderOf(GetParam())), ours = OpenModelFolder(saved.path());

  for (const auto& [name, tensor] : theirs.weights.tensors()) {
    ASSERT_TRUE(ours.weights.contains(name)) << name;
    EXPECT_EQ(ours.weights.At(name).shape, tensor.shape) << name;
    EXPECT_TRUE(std::ranges::equal(ours.weights.At(name).bytes, tensor.bytes)) << name;
  }
  EXPECT_EQ(ours.weights.metadata(), theirs.weights.metadata());
  for (const auto& [name, tensor] : ours.weights.tensors()) EXPECT_TRUE(theirs.weights.contains(name)) << name;

  for (const auto& [key, value] : ours.config.Members())
    EXPECT_EQ(value.value(), theirs.config[key].value()) << key << " " << value.value().Line();
  for (const auto& [key, value] : theirs.config.Members()) {
    static const std::vector<std::string> left_out = {"bos_token_id", "decoder_layerdrop", "encoder_layerdrop",
                                                      "init_std",     "is_decoder",        "transformers_version",
                                                      "use_cache"};
    EXPECT_TRUE(ours.config[key].present() || std::ranges::find(left_out, key) != left_out.end()) << key;
  }
}

// A copy of the golden folder with its config.json or tensors changed.
class ChangedFolder {
 public:
  explicit ChangedFolder(const std::function<void(Json& config)>& change) : ChangedFolder() {
    Json config = ReadJson(FolderOf("marian_relu") + "/config.json").value();
    change(config);
    WriteFile(folder_.File("config.json"), config.Text());
  }
  explicit ChangedFolder(const ChangeTensors& change) : ChangedFolder() {
    WriteChanged(FolderOf("marian_relu") + "/model.safetensors", folder_.File("model.safetensors"), change);
  }

  // Returns the error of loading the folder, without the path.
  std::string Error() const {
    std::string error = ErrorOf([&] { LoadModel<Transformer>(folder_.path()); });
    return error.starts_with(folder_.path()) ? error.substr(folder_.path().size() + 1) : error;
  }

 private:
  ChangedFolder() {
    for (const char* name : {"config.json", "model.safetensors"})
      WriteFile(folder_.File(name), ReadFile(FolderOf("marian_relu") + "/" + name));
  }
  TemporaryFolder folder_;
};

TEST(LoadTransformer, RefusesUnsupportedSettings) {
  const auto error = [](const char* key, Json value) {
    return ChangedFolder([&](Json& config) { config.Set(key, std::move(value)); }).Error();
  };
  EXPECT_EQ(error("use_cache", false), "");
  EXPECT_EQ(error("decoder_vocab_size", Json()), "");
  EXPECT_THAT(error("relative_attention", true), HasSubstr("relative_attention"));
  EXPECT_THAT(error("quantization_config", Json::Object{{"bits", 4}}), HasSubstr("quantization_config"));
  EXPECT_THAT(error("model_type", "t5"), HasSubstr("model_type"));
  EXPECT_THAT(error("activation_function", "gelu_fast"), HasSubstr("activation_function"));
  EXPECT_THAT(error("d_model", Json()), HasSubstr("d_model"));
  EXPECT_THAT(error("d_model", "12"), HasSubstr("d_model"));
  EXPECT_THAT(error("d_model", 13), HasSubstr("even"));
  EXPECT_THAT(error("encoder_attention_heads", 5), HasSubstr("5 does not divide 12"));
  EXPECT_THAT(error("encoder_layers", 0), HasSubstr("encoder_layers"));
  EXPECT_THAT(error("vocab_size", -1), HasSubstr("vocab_size"));
  EXPECT_THAT(error("dropout", 1), HasSubstr("dropout"));
  EXPECT_THAT(error("eos_token_id", 24), HasSubstr("24 is outside the vocabulary"));
  EXPECT_THAT(error("max_position_embeddings", 1 << 24), HasSubstr("16777216 positions of 12"));
}

TEST(LoadTransformer, ListsMissingUnknownAndMisshapenTensors) {
  const auto error = [](const std::function<void(std::map<std::string, StoredTensor>&)>& change) {
    return ChangedFolder(change).Error();
  };
  EXPECT_EQ(error([](auto&) {}), "");
  EXPECT_THAT(error([](auto& tensors) {
                tensors.erase("model.shared.weight");
                tensors.erase("model.decoder.layers.1.fc2.bias");
              }),
              EndsWith("missing: model.shared.weight, model.decoder.layers.1.fc2.bias"));
  EXPECT_THAT(error([](auto& tensors) {
                tensors["model.encoder.layernorm_embedding.weight"] = tensors["final_logits_bias"];
                tensors["head"] = tensors["final_logits_bias"];
              }),
              EndsWith("not have: head, model.encoder.layernorm_embedding.weight"));
  EXPECT_THAT(
      error([](auto& tensors) {
        tensors["final_logits_bias"].shape = {24};
        tensors["model.encoder.layers.0.fc1.weight"].shape = {12, 20};
      }),
      AllOf(HasSubstr("final_logits_bias has [24]"), EndsWith("layers.0.fc1.weight has [12, 20] instead of [20, 12]")));
  // Wrong sizes and enormous sizes are rejected.
  const auto resized = [](const char* key, std::int64_t value) {
    return ChangedFolder([&](Json& config) { config.Set(key, value); }).Error();
  };
  EXPECT_THAT(resized("decoder_layers", 3), HasSubstr("missing: model.decoder.layers.2."));
  EXPECT_THAT(resized("decoder_layers", 1), HasSubstr("does not have: model.decoder.layers.1."));
  EXPECT_THAT(resized("encoder_ffn_dim", 1 << 24), HasSubstr("instead of [16777216, 12]"));
}

TEST(LoadTransformer, ChecksTiedTablesAndSinusoids) {
  const auto error = [](const char* name, const char* content) {
    return ChangedFolder([&](std::map<std::string, StoredTensor>& tensors) { tensors[name] = tensors[content]; })
        .Error();
  };
  EXPECT_EQ(error("lm_head.weight", "model.shared.weight"), "");
  EXPECT_EQ(error("model.encoder.embed_tokens.weight", "model.shared.weight"), "");
  EXPECT_THAT(error("lm_head.weight", "model.encoder.layers.0.fc1.weight"),
              HasSubstr("lm_head.weight differs from model.shared.weight"));
  EXPECT_THAT(error("model.encoder.embed_positions.weight", "model.shared.weight"),
              HasSubstr("model.encoder.embed_positions.weight differs from this model"));
}

// Checks a model that ties only the embeddings. Transformers ties all tables or none, so every table is written.
TEST(SaveTransformer, WritesEveryTableIfTheOutputIsUntied) {
  TransformerConfig config;
  config.model = 4;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_ffn = config.decoder_ffn = 3;
  config.source_vocabulary = config.target_vocabulary = 5;
  config.tie_output = false;
  Transformer model(config);
  model.parameters().Initialize(1);
  const TemporaryFolder folder;
  model.Save(folder.path());
  const Safetensors file(folder.File("model.safetensors"));
  const std::vector<float> table = file.Read("model.shared.weight").ToVector<float>();
  EXPECT_EQ(file.Read("model.encoder.embed_tokens.weight").ToVector<float>(), table);
  EXPECT_EQ(file.Read("model.decoder.embed_tokens.weight").ToVector<float>(), table);
  EXPECT_NE(file.Read("lm_head.weight").ToVector<float>(), table);
  EXPECT_EQ(LoadModel<Transformer>(folder.path())->parameters().values().ToVector<float>(),
            model.parameters().values().ToVector<float>());
}

}  // namespace
}  // namespace headlight::transformer_folder_test
