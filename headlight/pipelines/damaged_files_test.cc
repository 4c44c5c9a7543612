// Checks that every error about a damaged settings file names that file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/drawing_testing.h"
#include "headlight/pipelines/dual_testing.h"
#include "headlight/pipelines/embedder.h"
#include "headlight/pipelines/image_captioner.h"
#include "headlight/pipelines/image_text_embedder.h"
#include "headlight/pipelines/mask_filler.h"
#include "headlight/pipelines/object_detector.h"
#include "headlight/pipelines/question_answerer.h"
#include "headlight/pipelines/testing.h"
#include "headlight/pipelines/text_classifier.h"
#include "headlight/pipelines/text_generator.h"
#include "headlight/pipelines/text_to_image.h"
#include "headlight/pipelines/token_classifier.h"
#include "headlight/pipelines/translator.h"
#include "headlight/text/tokenizers/load_tokenizer.h"

namespace headlight::damaged_files_test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kData = HEADLIGHT_SOURCE_DIR "/tests/testdata/";
const std::string kTokenizers = HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/";

using Action = std::function<void(const std::string& folder)>;
struct Case {
  std::string name;
  Action save;  // saves files into an empty folder
  Action use;
};

Action CopyOf(const std::string& folder, const std::map<std::string, std::string>& more = {}) {
  return [=](const std::string& to) {
    fs::copy(kData + folder, to, fs::copy_options::recursive);
    for (const char* const golden : {"golden.json", "poolings.json", "found.json"}) fs::remove(to + "/" + golden);
    for (const auto& [name, text] : more) WriteFile(to + "/" + name, text);
  };
}

// Saves the vocabulary of a tokenizer.json as a separate file, as in older folders.
void SaveOlderTokenizer(const std::string& to, const std::string& family) {
  const JsonView file = ReadJson(kTokenizers + "family_" + family + ".json");
  Json vocabulary = file["model"]["vocab"].value();
  for (const JsonView& added : file["added_tokens"].Items())
    vocabulary.Set(added["content"].String(), added["id"].value());
  std::string merges = "#version: 0.2\n";
  for (const JsonView& merge : file["model"]["merges"].Items())
    merges += merge.Items()[0].String() + " " + merge.Items()[1].String() + "\n";
  WriteFile(to + "/vocab.json", vocabulary.Text());
  WriteFile(to + "/merges.txt", merges);
}

const char* const kTokenizerConfig = R"({
  "tokenizer_class": "BertTokenizer", "do_lower_case": true, "model_max_length": 20, "padding_side": "left",
  "model_input_names": ["input_ids", "token_type_ids"], "truncation_side": "left", "mask_token": {"content": "[MASK]"},
  "clean_up_tokenization_spaces": true, "additional_special_tokens": ["[E1]", {"content": "[E2]", "lstrip": true}],
  "added_tokens_decoder": {"4": {"content": "[MASK]", "special": true}}})";

std::vector<Case> Cases() {
  const auto translate = [](const std::string& folder) { Translator::Load(folder).Translate("Ein Hund."); };
  const auto caption = [](const std::string& folder) {
    ImageCaptioner::Load(folder).Caption(Image{20, 20, std::vector<std::uint8_t>(1200, 90)});
  };
  const auto tokenize = [](const std::string& folder) { LoadTokenizer(folder)->Encode("a <mask> dog", Side::source); };
  return {
      {"embedder", CopyOf("bert/sentences", {{"tokenizer_config.json", kTokenizerConfig}}),
       [](const std::string& folder) { Embedder::Load(folder).Embed("A small dog."); }},
      {"classifier",
       CopyOf("encoders/classify", {{"special_tokens_map.json", R"({"cls_token": "[CLS]",
          "additional_special_tokens": ["[MASK]"]})"},
                                    {"added_tokens.json", R"({"[MASK]": 4})"}}),
       [](const std::string& folder) {
         TextClassifier::Load(folder).Classify({{"A dog.", "Two dogs."}});
       }},
      {"tagger", CopyOf("encoders/tag"),
       [](const std::string& folder) { TokenClassifier::Load(folder).Tag({"A dog."}); }},
      {"answerer", CopyOf("encoders/answer"),
       [](const std::string& folder) {
         QuestionAnswerer::Load(folder).Answer({{"Who?", "A dog."}});
       }},
      {"mask_filler", CopyOf("encoders/fill_mask"),
       [](const std::string& folder) { MaskFiller::Load(folder).Fill({"A <mask>."}); }},
      {"generator",
       [](const std::string& folder) {
         SaveTinyGpt(folder);
         WriteFile(folder + "/generation_config.json", R"({"max_new_tokens": 2, "eos_token_id": [0], "top_k": 3,
           "do_sample": true, "bad_words_ids": [[3, 4]], "temperature": 0.5})");
       },
       [](const std::string& folder) { TextGenerator::Load(folder).Generate("A dog"); }},
      {"marian", [](const std::string& folder) { SaveTinyModel(folder); }, translate},
      {"t5", CopyOf("encoder_decoders/t5_text"), translate},
      {"bart", CopyOf("encoder_decoders/bart_text"), translate},
      {"clip", [](const std::string& folder) { SaveTinyClip(folder); },
       [](const std::string& folder) { ImageTextEmbedder::Load(folder).EmbedTexts({"A dog."}); }},
      {"siglip", [](const std::string& folder) { SaveTinySiglip(folder); },
       [](const std::string& folder) { ImageTextEmbedder::Load(folder).EmbedTexts({"A dog."}); }},
      {"captioner", CopyOf("captions/vit_gpt2_text"), caption},
      {"blip", CopyOf("captions/blip_text"), caption},
      {"detector", CopyOf("detectors/detr"), [](const std::string& folder) { ObjectDetector::Load(folder); }},
      {"drawer", [](const std::string& folder) { SaveTinyDalle(folder); },
       [](const std::string& folder) { TextToImage::Load(folder); }},
      {"older_roberta",
       [](const std::string& folder) {
         SaveOlderTokenizer(folder, "roberta");
         WriteFile(folder + "/tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer", "bos_token": "<s>",
           "add_prefix_space": true, "trim_offsets": false, "mask_token": {"content": "<mask>", "lstrip": true}})");
       },
       tokenize},
      {"older_t5",
       [](const std::string& folder) {
         fs::copy_file(kTokenizers + "spm_t5.model", folder + "/spiece.model");
         WriteFile(folder + "/tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 5})");
       },
       tokenize},
  };
}

// The path to a value in a JSON file: names and indices.
using Path = std::vector<std::string>;

void AddPaths(const Json& json, const Path& path, std::vector<Path>& paths) {
  constexpr std::size_t kDeepest = 5, kMostMembers = 40, kMostItems = 2, kLargeObject = 60;
  if (!path.empty()) paths.push_back(path);
  if (path.size() == kDeepest) return;
  const auto add = [&](const std::string& name, const Json& value) {
    Path inner = path;
    inner.push_back(name);
    AddPaths(value, inner, paths);
  };
  if (const auto* members = json.As<Json::Object>())
    for (std::size_t i = 0; i < std::min(members->size(), members->size() > kLargeObject ? 3 : kMostMembers); ++i)
      add((*members)[i].name, (*members)[i].value);
  if (const auto* items = json.As<Json::Array>())
    for (std::size_t i = 0; i < std::min(items->size(), kMostItems); ++i) add(std::to_string(i), (*items)[i]);
}

Json With(const Json& json, const Path& path, std::size_t depth, const Json& value) {
  if (depth == path.size()) return value;
  if (const auto* items = json.As<Json::Array>()) {
    Json::Array changed = *items;
    Json& item = changed[std::stoul(path[depth])];
    item = With(item, path, depth + 1, value);
    return changed;
  }
  Json changed = json;
  changed.Set(path[depth], With(*json.Find(path[depth]), path, depth + 1, value));
  return changed;
}

class DamagedFiles : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(, DamagedFiles, testing::Range(std::size_t{0}, Cases().size()),
                         [](const auto& which) { return Cases()[which.param].name; });

// Loads and runs the folder with changes to its JSON files, at most `most` changes per file. Every error must name a
// file of the folder. Returns the number of errors.
std::size_t CheckChanges(const std::string& path, const std::vector<std::string>& files, std::size_t most,
                         const Action& use) {
  std::map<std::string, std::string> unnamed;
  std::size_t refused = 0;
  const auto check = [&](const std::string& file, const std::string& text, const std::string& what) {
    WriteFile(file, text);
    const std::string error = ErrorOf([&] { use(path); });
    refused += error.empty() ? 0 : 1;
    // Errors about the text, such as too many tokens for the changed settings, need not name a file.
    if (!error.empty() && error.find(path + "/") == std::string::npos && !error.starts_with("text 1: "))
      unnamed.emplace(error.substr(0, 40), file + " " + what + ": " + error);
  };
  const Json values[] = {Json(), -1, 3, 1e30, 100000, "x", "", Json::Array{}, Json::Object{}, true, Json::Array{1}};
  for (const std::string& file : files) {
    const std::string text = ReadFile(file);
    const Json json = ReadJson(file).value();
    for (const std::size_t size : {std::size_t{0}, text.size() / 2, text.size() - 2})
      check(file, text.substr(0, size), "cut");
    check(file, "[]", "an array");
    std::vector<Path> paths;
    AddPaths(json, {}, paths);
    // Tests every step-th pair of a path and a value. The step is not a multiple of the number of values, so that all
    // values occur.
    const std::size_t pairs = paths.size() * std::size(values);
    std::size_t step = pairs / most + 1;
    if (step % std::size(values) == 0) ++step;
    for (std::size_t pair = 0; pair < pairs; pair += step) {
      const Path& place = paths[pair / std::size(values)];
      const Json& value = values[pair % std::size(values)];
      std::string what;
      for (const std::string& name : place) what += "." + name;
      check(file, With(json, place, 0, value).Text(), what + " = " + value.Line());
    }
    WriteFile(file, text);
  }
  for (const auto& [begin, message] : unnamed) ADD_FAILURE() << message;
  return refused;
}

TEST_P(DamagedFiles, AreNamed) {
  const Case one = Cases()[GetParam()];
  const TemporaryFolder folder;
  const std::string path = folder.File("model");
  fs::create_directory(path);
  one.save(path);
  ASSERT_EQ(ErrorOf([&] { one.use(path); }), "");
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  ASSERT_FALSE(files.empty());
  EXPECT_GT(CheckChanges(path, files, 60, one.use), 10U);
}

// Changes the configurations of all families.
TEST(DamagedConfigurations, AreNamed) {
  std::size_t folders = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kData)) {
    if (entry.path().filename() != "model.safetensors" || !Exists(entry.path().parent_path() / "config.json")) continue;
    const TemporaryFolder folder;
    const std::string path = folder.File("model");
    fs::copy(entry.path().parent_path(), path);
    const auto load = [](const std::string& from) { LoadModel<Model>(from); };
    if (!ErrorOf([&] { load(path); }).empty()) continue;  // a module of sentence-transformers
    ++folders;
    EXPECT_GT(CheckChanges(path, {path + "/config.json"}, 5, load), 3U) << entry.path();
  }
  EXPECT_GT(folders, 60U);
}

}  // namespace
}  // namespace headlight::damaged_files_test
