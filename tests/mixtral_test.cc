// Tests mixture-of-experts models. tools/make_decoder_goldens.py describes the folders in testdata/decoders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "headlight/data/token_batches.h"
#include "headlight/ops/routing.h"
#include "headlight/train/objectives/language_model.h"
#include "tests/decoder_parity_testing.h"

namespace headlight::mixtral_test {
namespace {

using testing::HasSubstr;

// Returns the error of loading a folder with one changed line.
std::string With(const std::string& name, const std::string& from, const std::string& to) {
  return ChangedDecoder(name, from, to).Error();
}

TEST(Mixtral, RefusesImpossibleExperts) {
  const auto experts = [](const std::string& to) { return With("mixtral", "\"num_local_experts\": 4", to); };
  EXPECT_THAT(experts("\"num_local_experts\": 0"), HasSubstr("num_local_experts"));
  EXPECT_THAT(experts("\"num_local_experts\": 1000000000000"), HasSubstr("num_local_experts"));
  EXPECT_THAT(experts("\"num_local_experts\": 1"), HasSubstr("num_experts_per_tok is 2"));
  EXPECT_THAT(experts("\"num_local_experts\": 4, \"num_experts\": 5"), HasSubstr("num_experts is 5"));
  EXPECT_EQ(experts("\"num_local_experts\": 4, \"num_experts\": 4"), "");
  EXPECT_EQ(experts("\"num_experts\": 4"), "");
  EXPECT_THAT(experts("\"num_local_experts\": 5"), HasSubstr("experts.4.w1.weight"));  // a missing tensor
  EXPECT_THAT(experts("\"num_local_experts\": 3"), HasSubstr("experts.3.w1.weight"));  // an unexpected tensor
  EXPECT_THAT(With("mixtral", "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 0"),
              HasSubstr("num_experts_per_tok"));
  EXPECT_THAT(With("mixtral", "\"num_hidden_layers\": 1", "\"num_hidden_layers\": 1024, \"num_experts\": 1024"),
              HasSubstr("1024"));
  EXPECT_THAT(With("mixtral", "\"router_aux_loss_coef\": 0.001", "\"router_aux_loss_coef\": -1"),
              HasSubstr("router_aux_loss_coef"));
}

TEST(Mixtral, ReadsWhichLayersHaveExperts) {
  const auto dense = [](const std::string& to) { return With("qwen3_moe", "\"decoder_sparse_step\": 2", to); };
  EXPECT_THAT(dense("\"decoder_sparse_step\": 0"), HasSubstr("decoder_sparse_step"));
  EXPECT_THAT(dense("\"decoder_sparse_step\": 1"), HasSubstr("layers.0.mlp"));
  EXPECT_THAT(dense("\"decoder_sparse_step\": 3"), HasSubstr("layers.1.mlp"));
  const auto only = [](const std::string& layers) {
    return With("qwen3_moe", "\"mlp_only_layers\": []",
                "\"mlp_only_layers\": " + layers + ", \"router_jitter_noise\": 0.1");
  };
  EXPECT_EQ(only("[0]"), "");
  EXPECT_EQ(only("null"), "");
  EXPECT_THAT(only("[1]"), HasSubstr("layers.1.mlp"));
  EXPECT_THAT(only("[2]"), HasSubstr("mlp_only_layers"));
}

// Checks the settings that Transformers writes for a Qwen2-MoE without sliding layers.
TEST(Mixtral, ReadsAnUnusedWindow) {
  const std::string window = "\"sliding_window\": 3", uses = "\"use_sliding_window\": true";
  ChangedDecoder without("qwen2_moe", window, "\"sliding_window\": 0");
  EXPECT_THAT(without.Error(), HasSubstr("sliding_window"));
  without.Change(uses, "\"use_sliding_window\": false");
  EXPECT_EQ(without.Error(), "");
}

TEST(Mixtral, WritesTransformersKeys) {
  for (const auto& [name, count] :
       {std::pair("mixtral", "num_local_experts"), {"qwen2_moe", "num_experts"}, {"qwen3_moe", "num_local_experts"}}) {
    const TemporaryFolder folder;
    LoadDecoder(DecoderFolder(name))->Save(folder.path());
    const Json written = ReadJson(folder.path() + "/config.json").value();
    const Json read = ReadJson(DecoderFolder(name) + "/config.json").value();
    for (const char* key : {"model_type", "architectures", "num_experts_per_tok", "router_aux_loss_coef"})
      EXPECT_EQ(*written.Find(key), *read.Find(key)) << name << " " << key;
    EXPECT_NE(written.Find(count), nullptr) << name;
  }
}

TEST(Mixtral, DescribesItsExperts) {
  const Json::Object described = LoadDecoder(DecoderFolder("qwen3_moe"))->Description();
  const auto number = [&](const char* key) { return Json(described).Find(key)->Line(); };
  EXPECT_EQ(number("experts"), "5");
  EXPECT_EQ(number("experts_per_token"), "3");
  EXPECT_EQ(number("expert_ffn"), "3");
}

// Checks the load balancing loss. The loss of a step is the mean over its labels. This micro-batch has 7 labels.
TEST(Mixtral, TrainsWithTheLoadBalancingLoss) {
  const TextExample text{{3, 4, 5, 6, 7, 8}, {}, {}, {}};
  const TextSets texts{.train = {text}, .valid = {text}};
  const auto loss_with = [&](const std::string& factor, double& balancing) {
    const ChangedDecoder folder("mixtral", "\"router_aux_loss_coef\": 0.001", "\"router_aux_loss_coef\": " + factor);
    const std::unique_ptr<LanguageModel> model = LoadDecoder(folder.path());
    const TrainingTask task = LanguageModelTask(*model, texts, 0, {.batches = {}, .label_smoothing = 0});
    const auto next = task.batches({});
    TrainingBatch batch = next();
    EXPECT_EQ(batch.labels, 7);
    batch.parts[0].MakeNow();
    Context context;
    const double loss = task.loss(context, batch.parts[0], 1.0 / 10).data<float>()[0];
    const auto& tokens = batch.parts[0].As<TokenBatch>();
    std::vector<ops::Routing> layers;
    context.hooks.routing = [&](const ops::Routing& layer) { layers.push_back(layer); };
    model->Decode(context, tokens.target_inputs, tokens.target);
    balancing = ops::LoadBalancingLoss(layers).data<float>()[0];
    return loss;
  };
  double balancing = 0;
  const double without = loss_with("0", balancing), with = loss_with("0.5", balancing);
  EXPECT_GT(balancing, 1);
  EXPECT_NEAR(with - without, 0.5 * balancing * 7 / 10, 1e-5);
}

}  // namespace
}  // namespace headlight::mixtral_test
