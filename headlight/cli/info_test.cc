#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/testing.h"

namespace headlight::info_test {
namespace {

const std::string kData = HEADLIGHT_SOURCE_DIR "/tests/testdata/";

struct Kind {
  const char* folder;
  std::vector<std::pair<const char*, Json>> expected;
  const char* tokenizer = nullptr;  // a file, where the folder has none
};

// A row for each family, and for sentences.
const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"bert/sentences",
       {{"family", "bert"},
        {"layers", 2},
        {"model", 12},
        {"attention_heads", 2},
        {"ffn", 20},
        {"token_types", 2},
        {"positions", 24},
        {"vocabulary", 160},
        {"pooling", "mean"},
        {"normalized", true},
        {"longest_text", 20}}},
      {"alphafold/model", {{"family", "alphafold2"}, {"rows", 512}, {"extra_rows", 1024}, {"aligned_errors", true}}},
      {"encoders/classify", {{"family", "bert"}, {"labels", Json::Array{"no", "maybe", "yes"}}, {"longest_text", 24}}},
      {"encoders/fill_mask", {{"family", "roberta"}, {"layers", 2}, {"attention_heads", 2}}},
      {"encoders/distilbert",
       {{"family", "distilbert"}, {"layers", 1}, {"attention_heads", 3}, {"model", 15}, {"ffn", 7}},
       "bert_uncased"},
      {"encoders/deberta",
       {{"family", "deberta"}, {"layers", 2}, {"attention_heads", 2}, {"model", 12}},
       "bert_uncased"},
      {"encoders/deberta_v2",
       {{"family", "deberta-v2"}, {"layers", 2}, {"attention_heads", 2}, {"model", 12}},
       "bert_uncased"},
      {"encoders/esm_masked_left",
       {{"family", "esm"}, {"layers", 2}, {"attention_heads", 2}, {"model", 12}, {"ffn", 20}},
       "bert_uncased"},
      {"gpt/gpt1",
       {{"family", "openai-gpt"}, {"layers", 2}, {"attention_heads", 2}, {"model", 12}, {"ffn", 48}},
       "gpt2"},
      {"gpt/gpt2", {{"family", "gpt2"}, {"layers", 2}, {"attention_heads", 2}, {"model", 12}, {"ffn", 48}}, "gpt2"},
      {"gpt/gpt3", {{"family", "gpt_neo"}, {"layers", 2}, {"attention_heads", 2}, {"model", 12}, {"ffn", 48}}, "gpt2"},
      {"encoder_decoders/t5_text",
       {{"family", "t5"},
        {"encoder_layers", 1},
        {"decoder_layers", 1},
        {"attention_heads", 2},
        {"model", 8},
        {"head_dim", 5},
        {"ffn", 10}}},
      {"encoder_decoders/bart_text",
       {{"family", "bart"},
        {"encoder_layers", 1},
        {"decoder_layers", 1},
        {"encoder_heads", 2},
        {"decoder_heads", 2},
        {"encoder_ffn", 10}}},
      {"encoder_decoders/mbart_text",
       {{"family", "mbart"}, {"encoder_layers", 1}, {"decoder_layers", 1}, {"decoder_ffn", 10}}},
      {"visual_bert/answers",
       {{"family", "visual_bert"},
        {"layers", 2},
        {"attention_heads", 2},
        {"model", 12},
        {"features", 12},
        {"box_numbers", 0},
        {"heads", Json::Array{"answers"}},
        {"labels", Json::Array{"yes", "no", "red", "two"}}},
       "bert_uncased"},
      {"lxmert/pretraining",
       {{"family", "lxmert"},
        {"layers", 2},
        {"picture_layers", 1},
        {"joint_layers", 2},
        {"model", 8},
        {"features", 7},
        {"box_numbers", 4},
        {"heads", Json::Array{"masked words", "regions", "alignment", "answers"}}},
       "bert_uncased"},
      {"vilt/answers",
       {{"family", "vilt"},
        {"layers", 2},
        {"attention_heads", 2},
        {"model", 8},
        {"ffn", 10},
        {"positions", 12},
        {"features", 48},
        {"patch_height", 4},
        {"labels", Json::Array{"yes", "no", "red", "two"}}},
       "bert_uncased"},
      {"detectors/detr_masks",
       {{"family", "detr"},
        {"queries", 3},
        {"channels", 3},
        {"masks", true},
        {"encoder_layers", 1},
        {"decoder_heads", 4},
        {"labels", Json::Array{"LABEL_0", "LABEL_1"}}}},
      {"pictures/vit_oblong",
       {{"family", "vit"},
        {"layers", 2},
        {"model", 12},
        {"attention_heads", 2},
        {"ffn", 20},
        {"picture_height", 12},
        {"picture_width", 8},
        {"patch_height", 4},
        {"patch_width", 2},
        {"channels", 1},
        {"labels", Json::Array{"LABEL_0", "LABEL_1", "LABEL_2"}}}},
      {"pictures/dinov2_registers_classes",
       {{"family", "dinov2_with_registers"},
        {"layers", 2},
        {"model", 12},
        {"attention_heads", 2},
        {"ffn", 24},
        {"registers", 2},
        {"picture_height", 8},
        {"patch_height", 4},
        {"labels", Json::Array{"LABEL_0", "LABEL_1", "LABEL_2"}}}},
      {"pictures/dinov3",
       {{"family", "dinov3_vit"}, {"layers", 2}, {"attention_heads", 2}, {"ffn", 20}, {"registers", 2}}},
      {"gpt/imagegpt_classes",
       {{"family", "imagegpt"},
        {"layers", 2},
        {"model", 12},
        {"attention_heads", 2},
        {"ffn", 48},
        {"positions", 24},
        {"vocabulary", 23},
        {"colours", 22},
        {"labels", Json::Array{"LABEL_0", "LABEL_1", "LABEL_2"}}}},
      {"resnets/basic_classes",
       {{"family", "resnet"},
        {"layers", 3},
        {"stride", 8},
        {"channels", 1},
        {"model", 9},
        {"labels", Json::Array{"LABEL_0", "LABEL_1", "LABEL_2"}}}}};
  return kinds;
}

struct InfoOfKind : testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(All, InfoOfKind, testing::ValuesIn(Kinds()), [](const auto& test) {
  std::string name = test.param.folder;
  std::ranges::replace(name, '/', '_');
  return name;
});

TEST_P(InfoOfKind, ShowsSizesAndLimits) {
  const TemporaryFolder copy;
  std::filesystem::copy(kData + GetParam().folder, copy.path(), std::filesystem::copy_options::recursive);
  if (GetParam().tokenizer != nullptr)
    std::filesystem::copy_file(
        fmt::format("{}/headlight/text/tokenizers/testdata/family_{}.json", HEADLIGHT_SOURCE_DIR, GetParam().tokenizer),
        copy.File("tokenizer.json"));
  const Outcome outcome = RunProgram({"info", copy.path(), "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json info = ParseJson(outcome.out, "info");
  for (const auto& [name, value] : GetParam().expected) {
    ASSERT_NE(info.Find(name), nullptr) << name << ": " << outcome.out;
    EXPECT_EQ(*info.Find(name), value) << name << ": " << info.Find(name)->Line();
  }
  for (const char* name : {"parameters", "memory_bytes", "stored"}) EXPECT_NE(info.Find(name), nullptr) << name;
  const bool of_texts = info.Find("channels") == nullptr && info.Find("structure_blocks") == nullptr;
  for (const char* name : {"positions", "vocabulary"}) EXPECT_EQ(info.Find(name) != nullptr, of_texts) << name;
}

TEST(Info, ShowsTheSizesOfAFold) {
  const Json info = ParseJson(RunProgram({"info", kData + "esmfold", "--json"}).out, "info");
  for (const auto& [name, value] : Json::Object{{"language_layers", 2}, {"blocks", 2}, {"sequence", 10}, {"pair", 6}})
    EXPECT_EQ(*info.Find(name), value) << name;
}

TEST(Info, ShowsWhatAConvertedFolderStores) {
  const TemporaryFolder folder;
  MustRun({"convert", kData + "bert/sentences", folder.File("out"), "--compute", "int8"});
  const Json info = ParseJson(RunProgram({"info", folder.File("out"), "--json"}).out, "info");
  EXPECT_GT(JsonView(*info.Find("stored"), "stored")["I8"]["tensors"].Integer(), 10);
}

}  // namespace
}  // namespace headlight::info_test
