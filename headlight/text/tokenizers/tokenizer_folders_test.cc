// Compares the tokenizers of published folders without a tokenizer.json with the tokenizers library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headlight/text/tokenizers/pipeline_tokenizer_testing.h"

namespace headlight::tokenizer_folders_test {
namespace {

using namespace pipeline_tokenizer_testing;
using testing::ElementsAre;

// Checks that the older files give the same tokens as the tokenizer.json of the goldens.
TEST(PipelineTokenizer, ReadsOlderFiles) {
  TemporaryFolder temporary;
  const auto folder_of = [&](const std::string& family) {
    std::filesystem::create_directories(temporary.File(family));
    return temporary.File(family);
  };
  const auto expect_goldens = [](const std::string& folder, const char* family) {
    const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
    const std::vector<std::string> texts = Goldens()["texts"].Strings();
    const std::vector<JsonView> goldens = Goldens()["cases"][family]["texts"].Items();
    for (std::size_t i = 0; i < texts.size(); ++i) ExpectGolden(tokenizer, texts[i], goldens[i]);
  };
  std::string folder = folder_of("bert");
  const JsonView vocabulary = JsonView(JsonOf("bert_uncased"), "bert")["model"]["vocab"];
  std::vector<std::string> pieces(vocabulary.Object().size());
  for (const auto& [piece, id] : vocabulary.Members()) pieces[id.Unsigned()] = piece;
  WriteFile(folder + "/vocab.txt", fmt::format("{}\n", fmt::join(pieces, "\n")));
  expect_goldens(folder, "bert_uncased");

  // If vocab.txt repeats a token, the last line determines its id, as in Transformers 5.24.
  folder = folder_of("repeated");
  WriteFile(folder + "/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nthe\nsat\n##s\n");
  const PipelineTokenizer repeated = PipelineTokenizer::Load(folder);
  EXPECT_THAT(repeated.Encode("the cat sats").ids, ElementsAre(2, 7, 6, 8, 9, 3));
  EXPECT_EQ(repeated.size(), 10);
  EXPECT_EQ(*repeated.Find("the"), 7);

  const struct {
    const char *family, *config;
  } merged[] = {{"gpt1", R"({"tokenizer_class": "OpenAIGPTTokenizer"})"},
                {"gpt2", R"({"tokenizer_class": "GPT2Tokenizer"})"},
                {"roberta", R"({"tokenizer_class": "RobertaTokenizer",
                                "mask_token": {"content": "<mask>", "lstrip": true}})"},
                {"roberta_prefix", R"({"tokenizer_class": "BartTokenizer", "add_prefix_space": true,
                                       "mask_token": {"content": "<mask>", "lstrip": true}})"}};
  for (const auto& [family, config] : merged) {
    folder = folder_of(family);
    const JsonView file(JsonOf(family), family);
    Json vocabulary_json = file["model"]["vocab"].value();
    for (const JsonView& added : file["added_tokens"].Items())
      vocabulary_json.Set(added["content"].String(), added["id"].value());
    std::string merges = "#version: 0.2\n";
    for (const JsonView& merge : file["model"]["merges"].Items())
      merges += fmt::format("{}\n", fmt::join(merge.Strings(), " "));
    WriteFile(folder + "/vocab.json", vocabulary_json.Text());
    WriteFile(folder + "/merges.txt", merges);
    EXPECT_THROW(PipelineTokenizer::Load(folder), Error);  // the family is unknown
    WriteFile(folder + "/tokenizer_config.json", config);
    expect_goldens(folder, family);
  }
  // DeBERTa uses GPT-2's vocabulary with BERT's special tokens.
  Json special = JsonView(JsonOf("gpt2"), "gpt2")["model"]["vocab"].value();
  for (const char* token : {"[CLS]", "[SEP]", "[MASK]"}) special.Set(token, special.As<Json::Object>()->size());
  folder = folder_of("deberta");
  WriteFile(folder + "/vocab.json", special.Text());
  WriteFile(folder + "/merges.txt", "#version: 0.2\n");
  WriteFile(folder + "/config.json", R"({"model_type": "deberta"})");
  const PipelineTokenizer deberta = PipelineTokenizer::Load(folder);
  const auto id = [&](const char* piece) { return *deberta.Find(piece); };
  const Encoding pair = deberta.EncodePair("a [MASK]", "b");
  EXPECT_THAT(pair.ids,
              ElementsAre(id("[CLS]"), id("a"), id("\u0120"), id("[MASK]"), id("[SEP]"), id("b"), id("[SEP]")));
  EXPECT_THAT(pair.type_ids, ElementsAre(0, 0, 0, 0, 0, 1, 1));
  folder = temporary.File(merged[3].family);
  WriteFile(folder + "/merges.txt", merged[0].family);
  EXPECT_THROW(PipelineTokenizer::Load(folder), Error);
}

// Checks CLIP's current tokenizer.json, the older tokenizer.json of its first folders, and vocab.json with merges.txt.
TEST(PipelineTokenizer, ReadsClipFolders) {
  const JsonView goldens = ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/clip_tokenizers.json");
  const std::vector<std::string> texts = Goldens()["texts"].Strings();
  const TemporaryFolder temporary;
  const Json json = JsonOf("clip");
  const std::string regex = R"('s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";
  WriteFile(temporary.File("older.json"), With(json, "/pre_tokenizer/pretokenizers/0/pattern/Regex", regex).Line());
  const JsonView file(json, "clip");
  Json vocabulary = file["model"]["vocab"].value();
  std::string merges = "#version: 0.2\n";
  for (const JsonView& merge : file["model"]["merges"].Items())
    merges += fmt::format("{}\n", fmt::join(merge.Strings(), " "));
  WriteFile(temporary.File("vocab.json"), vocabulary.Text());
  WriteFile(temporary.File("merges.txt"), merges);
  WriteFile(temporary.File("config.json"), R"({"model_type": "clip"})");
  const PipelineTokenizer tokenizers[] = {Small("clip"),
                                          PipelineTokenizer::Parse(ReadFile(temporary.File("older.json")), "older"),
                                          PipelineTokenizer::Load(temporary.path())};
  const std::vector<JsonView> clip = goldens["clip"].Items();
  ASSERT_EQ(clip.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const PipelineTokenizer& tokenizer : tokenizers)
      EXPECT_EQ(tokenizer.Encode(texts[i]).ids, IdsOf(clip[i])) << Quoted(texts[i]);
}

// Checks SigLIP's rules for special tokens, text ends and lower case, with and without a tokenizer.json.
TEST(PipelineTokenizer, ReadsSiglipFolders) {
  const JsonView goldens = ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/siglip_tokenizers.json");
  const std::vector<std::string> texts = goldens["texts"].Strings();
  const std::vector<JsonView> folders = goldens["folders"].Items();
  ASSERT_GE(folders.size(), 12u);
  for (const JsonView& golden : folders) {
    const TemporaryFolder folder;
    std::filesystem::copy_file(TestData(golden["model"].String()), folder.File("spiece.model"));
    for (const auto& [name, file] : golden["files"].Members()) WriteFile(folder.File(name), file.value().Line());
    const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder.path());
    const std::vector<JsonView> ids = golden["ids"].Items();
    ASSERT_EQ(ids.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(tokenizer.Encode(texts[i]).ids, IdsOf(ids[i])) << golden["files"].value().Line() << Quoted(texts[i]);
    EXPECT_EQ(tokenizer.EncodePair(" a </s>", "b </s>").ids, IdsOf(golden["pair"]));
  }
}

// Writes a folder as it is published, with the files that a golden names.
void WriteFolder(const std::string& folder, const JsonView& golden) {
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(TestData(golden["model"].String()), folder + "/" + golden["file"].String());
  for (const auto& [name, content] : golden["more"].Members()) WriteFile(folder + "/" + name, content.value().Text());
}

// Checks SentencePiece models without a tokenizer.json, including models with byte pieces.
TEST(PipelineTokenizer, ReadsSentencePieceFolders) {
  const JsonView goldens = ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/sentencepiece_folders.json");
  const std::vector<std::string> all = Goldens()["texts"].Strings(), more = goldens["more"].Strings();
  std::vector<std::string> texts;
  for (const std::int32_t index : IdsOf(goldens["places"])) texts.push_back(all[static_cast<std::size_t>(index)]);
  texts.insert(texts.end(), more.begin(), more.end());
  const TemporaryFolder temporary;
  for (const auto& [name, golden] : goldens["folders"].Members()) {
    WriteFolder(temporary.File(name), golden);
    const PipelineTokenizer tokenizer = PipelineTokenizer::Load(temporary.File(name));
    const std::vector<JsonView> cases = golden["texts"].Items(), pairs = golden["pairs"].Items();
    ASSERT_EQ(cases.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) ExpectGolden(tokenizer, texts[i], cases[i]);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::vector<std::string> pair = Goldens()["pairs"].Items()[i].Strings();
      const Encoding encoding = tokenizer.EncodePair(pair[0], pair[1]);
      EXPECT_EQ(encoding.ids, IdsOf(pairs[i]["ids"])) << name << pair[0];
      EXPECT_EQ(encoding.type_ids, IdsOf(pairs[i]["type_ids"])) << name << pair[0];
    }
  }
}

}  // namespace
}  // namespace headlight::tokenizer_folders_test
