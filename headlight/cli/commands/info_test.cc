#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/io/safetensors.h"

namespace headlight::info_test {
namespace {

const std::string kData = HEADLIGHT_SOURCE_DIR "/tests/testdata/";

struct Kind {
  const char* folder;
  std::vector<std::pair<const char*, Json>> expected;
  const char* tokenizer = nullptr;  // tokenizer file, if the folder has none
};

// Returns a row for each family, and for sentence-transformers models.
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
        {"image_layers", 1},
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
      {"images/vit_oblong",
       {{"family", "vit"},
        {"layers", 2},
        {"model", 12},
        {"attention_heads", 2},
        {"ffn", 20},
        {"image_height", 12},
        {"image_width", 8},
        {"patch_height", 4},
        {"patch_width", 2},
        {"channels", 1},
        {"labels", Json::Array{"LABEL_0", "LABEL_1", "LABEL_2"}}}},
      {"images/dinov2_registers_classes",
       {{"family", "dinov2_with_registers"},
        {"layers", 2},
        {"model", 12},
        {"attention_heads", 2},
        {"ffn", 24},
        {"registers", 2},
        {"image_height", 8},
        {"patch_height", 4},
        {"labels", Json::Array{"LABEL_0", "LABEL_1", "LABEL_2"}}}},
      {"images/dinov3",
       {{"family", "dinov3_vit"}, {"layers", 2}, {"attention_heads", 2}, {"ffn", 20}, {"registers", 2}}},
      {"gpt/imagegpt_classes",
       {{"family", "imagegpt"},
        {"layers", 2},
        {"model", 12},
        {"attention_heads", 2},
        {"ffn", 48},
        {"positions", 24},
        {"vocabulary", 23},
        {"colors", 22},
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
  MustRun({"convert", kData + "bert/sentences", "--out", folder.File("out"), "--compute", "int8"});
  const Json info = ParseJson(RunProgram({"info", folder.File("out"), "--json"}).out, "info");
  EXPECT_GT(JsonView(*info.Find("stored"), "stored")["I8"]["tensors"].Integer(), 10);
}

// Returns the reason of an entry in a list of `info`, or "read" if the entry has no reason. `setting` is a key or
// tensor of the file. Returns "" if the list has no such entry.
std::string EntryOf(const Json& info, const char* list, const std::string& file, const std::string& setting = "") {
  for (const Json& entry : *info.Find(list)->As<Json::Array>()) {
    if (*entry.Find("file") != Json(file)) continue;
    const Json* names = entry.Find(entry.Find("tensors") != nullptr ? "tensors" : "settings");
    const bool has = names != nullptr && std::ranges::count(*names->As<Json::Array>(), Json(setting)) > 0;
    if (has || (setting.empty() && names == nullptr))
      return entry.Find("reason") != nullptr ? *entry.Find("reason")->As<std::string>() : "read";
  }
  return "";
}

TEST(Info, PrintsNoJsonInItsTable) {
  const std::string table = RunProgram({"info", kData + "bert/sentences"}).out;
  EXPECT_THAT(table, testing::HasSubstr("\nstored            F32: tensors 39, bytes 19120\n"));
  EXPECT_THAT(table, testing::HasSubstr("\nheads             pooler\n"));
}

TEST(Info, ListsWhatIsReadAndWhatIsIgnored) {
  const TemporaryFolder folder;
  std::filesystem::copy(kData + "bert/sentences", folder.path(), std::filesystem::copy_options::recursive);
  Json config = ReadJson(folder.File("config.json")).value();
  config.Set("trained_by", "a team");
  WriteFile(folder.File("config.json"), config.Text());
  WriteFile(folder.File("generation_config.json"), R"({"num_beams": 4})");
  std::filesystem::create_directory(folder.File("onnx"));
  for (const char* name : {"README.md", "tf_model.h5", "vocab.txt", "preprocessor_config.json", "optimizer.pt", "x.y"})
    WriteFile(folder.File(name), "");
  // Adds a prefix to the tensor names, and adds a tensor of another program.
  {
    const Safetensors weights(folder.File("model.safetensors"));
    std::vector<StoredTensor> tensors = {weights.tensors().begin()->second};
    tensors.front().name = "_orig_mod.module.v_head.summary.weight";
    for (const auto& [name, tensor] : weights.tensors()) {
      tensors.push_back(tensor);
      tensors.back().name = "_orig_mod.module." + name;
    }
    WriteSafetensors(folder.File("model.safetensors"), tensors);
  }
  const Outcome outcome = RunProgram({"info", folder.path(), "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json info = ParseJson(outcome.out, "info");
  EXPECT_EQ(EntryOf(info, "read", "model.safetensors"), "read");
  EXPECT_EQ(EntryOf(info, "read", "tokenizer.json"), "read");
  EXPECT_EQ(EntryOf(info, "read", "config.json", "hidden_size"), "read");
  EXPECT_EQ(EntryOf(info, "read", "1_Pooling/config.json", "pooling_mode_mean_tokens"), "read");
  const auto ignored = [&](const std::string& file, const std::string& setting = "") {
    EXPECT_EQ(EntryOf(info, "read", file, setting), "");
    return EntryOf(info, "ignored", file, setting);
  };
  EXPECT_EQ(ignored("config.json", "trained_by"), "is not a key that headlight or Transformers reads");
  EXPECT_EQ(ignored("config.json", "transformers_version"), "does not change the model's outputs");
  EXPECT_EQ(ignored("generation_config.json"), "is for models that write text");
  EXPECT_EQ(ignored("README.md"), "is documentation");
  EXPECT_EQ(ignored("tf_model.h5"), "is not needed: the weights are in model.safetensors");
  EXPECT_EQ(ignored("vocab.txt"), "is not needed: the tokenizer is in tokenizer.json");
  EXPECT_EQ(ignored("preprocessor_config.json"), "is for models that read images");
  EXPECT_EQ(ignored("optimizer.pt"), "belongs to a training");
  EXPECT_EQ(ignored("x.y"), "is not a known file of a model");
  EXPECT_EQ(ignored("onnx/"), "contains no file that was read");
  EXPECT_EQ(EntryOf(info, "ignored", "model.safetensors", "v_head.summary.weight"),
            "TRL's value head, which is for training");

  const std::string text = RunProgram({"info", folder.path()}).out;
  EXPECT_THAT(text, testing::HasSubstr("\nignored           README.md (is documentation)\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nread              tokenizer.json\n"));
}

// Checks that each ignored key has a reason.
TEST(Info, SaysWhyKeysOfTokenizersAreIgnored) {
  const TemporaryFolder folder;
  std::filesystem::copy(kData + "bert/sentences", folder.path(), std::filesystem::copy_options::recursive);
  WriteFile(folder.File("tokenizer_config.json"), R"({
    "tokenizer_class": "BertTokenizer", "do_lower_case": true, "image_token": "[IMG]", "model_max_length": 20,
    "padding_side": "left", "stride": 0, "chat_template": "", "name_or_path": "x", "never_split": ["a"],
    "do_basic_tokenise": true, "token": "x"})");
  const auto info = [&] { return ParseJson(RunProgram({"info", folder.path(), "--json"}).out, "info"); };
  const Json fast = info();
  const std::string file = "tokenizer_config.json";
  for (const char* key : {"tokenizer_class", "do_lower_case", "image_token"})
    EXPECT_EQ(EntryOf(fast, "read", file, key), "read") << key;
  const std::pair<const char*, const char*> reasons[] = {
      {"model_max_length", "is not needed: the model has a maximum length"},
      {"padding_side", "is for padding, which headlight does not need"},
      {"stride", "is for arguments of Transformers' functions"},
      {"chat_template", "is for chats"},
      {"name_or_path", "names the origin of the tokenizer"},
      {"do_basic_tokenise", "is not a key that headlight or Transformers reads"},
      {"token", "is not a key that headlight or Transformers reads"}};
  for (const auto& [key, reason] : reasons) EXPECT_EQ(EntryOf(fast, "ignored", file, key), reason);
  EXPECT_EQ(EntryOf(fast, "ignored", file, "never_split"), "is not needed: the tokenizer is in tokenizer.json");
  // Tests a tokenizer that has only a vocabulary file.
  std::string lines;
  std::map<std::int64_t, std::string> pieces;
  const JsonView tokenizer = ReadJson(folder.File("tokenizer.json"));
  for (const auto& [piece, id] : tokenizer["model"]["vocab"].Members()) pieces[id.Integer()] = piece;
  for (const auto& [id, piece] : pieces) lines += piece + "\n";
  WriteFile(folder.File("vocab.txt"), lines);
  std::filesystem::remove(folder.File("tokenizer.json"));
  const Json older = info();
  for (const auto& [key, reason] : reasons) EXPECT_EQ(EntryOf(older, "ignored", file, key), reason);
  EXPECT_EQ(EntryOf(older, "ignored", file, "never_split"), "has no effect on this tokenizer");
}

// Checks that a model is described even if its generation settings are not supported.
TEST(Info, ReadsTheSettingsOfGeneration) {
  const TemporaryFolder folder;
  std::filesystem::copy(kData + "gpt/gpt2", folder.path(), std::filesystem::copy_options::recursive);
  std::filesystem::copy_file(HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/family_gpt2.json",
                             folder.File("tokenizer.json"));
  WriteFile(folder.File("generation_config.json"), R"({"num_beams": 4, "use_cache": true})");
  Json info = ParseJson(RunProgram({"info", folder.path(), "--json"}).out, "info");
  EXPECT_EQ(EntryOf(info, "read", "generation_config.json", "num_beams"), "read");
  EXPECT_EQ(EntryOf(info, "ignored", "generation_config.json", "use_cache"), "has no effect on results");
  EXPECT_EQ(info.Find("not_supported"), nullptr);
  WriteFile(folder.File("generation_config.json"), R"({"penalty_alpha": 0.6})");
  info = ParseJson(RunProgram({"info", folder.path(), "--json"}).out, "info");
  EXPECT_THAT(info.Find("not_supported")->Line(), testing::HasSubstr("penalty_alpha"));
}

}  // namespace
}  // namespace headlight::info_test
