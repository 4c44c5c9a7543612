#include "headlight/text/tokenizers/declared_tokens.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::declared_tokens_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string TestData(const std::string& name) {
  return HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/" + name;
}

// Writes the vocabulary of a family in the format of `file`.
void WriteVocabulary(const std::string& folder, const std::string& vocabulary, const std::string& file) {
  if (file.ends_with(".model")) {
    std::filesystem::copy_file(TestData(vocabulary), folder + "/" + file);
    return;
  }
  const JsonView family = ReadJson(TestData("family_" + vocabulary + ".json"));
  if (file == "tokenizer.json") return WriteFile(folder + "/" + file, family.value().Line());
  const JsonView vocab = family["model"]["vocab"];
  Json::Object pieces = vocab.Object();
  for (const JsonView& added : family["added_tokens"].Items())
    if (std::ranges::find(pieces, added["content"].String(), &Json::Member::name) == pieces.end())
      pieces.push_back({added["content"].String(), added["id"].Integer()});
  if (file == "vocab.txt") {
    std::vector<std::string> lines(pieces.size());
    for (const auto& [piece, id] : pieces) lines[static_cast<std::size_t>(*id.As<std::int64_t>())] = piece;
    return WriteFile(folder + "/" + file, fmt::format("{}\n", fmt::join(lines, "\n")));
  }
  std::string merges = "#version: 0.2\n";
  for (const JsonView& merge : family["model"]["merges"].Items())
    merges += fmt::format("{}\n", fmt::join(merge.Strings(), " "));
  WriteFile(folder + "/vocab.json", Json(std::move(pieces)).Line());
  WriteFile(folder + "/" + file, merges);
}

std::vector<std::int32_t> IdsOf(const JsonView& given) {
  std::vector<std::int32_t> ids;
  for (const JsonView& id : given.Items()) ids.push_back(static_cast<std::int32_t>(id.Integer()));
  return ids;
}

TEST(DeclaredTokens, MatchTransformers) {
  const JsonView goldens = ReadJson(HEADLIGHT_SOURCE_DIR "/tests/testdata/declared_tokens.json");
  const std::vector<std::string> texts = goldens["texts"].Strings();
  const std::vector<JsonView> folders = goldens["folders"].Items();
  ASSERT_GE(folders.size(), 120u);
  for (const JsonView& golden : folders) {
    const TemporaryFolder folder;
    WriteVocabulary(folder.path(), golden["vocabulary"].String(), golden["file"].String());
    for (const auto& [name, content] : golden["files"].Members()) WriteFile(folder.File(name), content.value().Line());
    if (const JsonView changes = golden["changes"]; changes.present()) {
      Json file = ReadJson(folder.File("tokenizer.json")).value();
      for (const auto& [part, value] : changes.Members()) file.Set(part, value.value());
      WriteFile(folder.File("tokenizer.json"), file.Line());
    }
    const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder.path());
    const std::vector<JsonView> ids = golden["ids"].Items();
    const bool has_decoded = golden["decoded"].present();
    const std::vector<std::string> decoded = has_decoded ? golden["decoded"].Strings() : std::vector<std::string>();
    ASSERT_EQ(ids.size(), texts.size());
    const std::string name = golden["files"].value().Line() + " in a folder of " + golden["kind"].String() + ": ";
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(tokenizer.Encode(texts[i]).ids, IdsOf(ids[i])) << name << texts[i];
      if (has_decoded) {
        EXPECT_EQ(tokenizer.Decode(IdsOf(ids[i])), decoded[i]) << name << texts[i];
      }
    }
  }
}

class DeclaredTokensOfBert : public testing::Test {
 protected:
  DeclaredTokensOfBert() { WriteVocabulary(folder_.path(), "bert_uncased", "vocab.txt"); }

  PipelineTokenizer With(const std::string& file, const std::string& text) {
    WriteFile(folder_.File(file), text);
    return PipelineTokenizer::Load(folder_.path());
  }
  std::string ErrorWith(const std::string& file, const std::string& text) {
    return ErrorOf([&] { With(file, text); });
  }

  TemporaryFolder folder_;
};

// Checks that tokens get ids without gaps, as in the tokenizers library.
TEST_F(DeclaredTokensOfBert, GetConsecutiveIdsInTheOrderOfTheFile) {
  const PipelineTokenizer tokenizer = With("added_tokens.json", R"({"<x>": 170, "<y>": 165})");
  EXPECT_EQ(tokenizer.Find("<x>"), 161);
  EXPECT_EQ(tokenizer.Find("<y>"), 160);
  EXPECT_EQ(tokenizer.size(), 162);
  EXPECT_FALSE(tokenizer.IsSpecial(161));
  EXPECT_THAT(tokenizer.Encode("<y><x>", {.add_special = false}).ids, ElementsAre(160, 161));
  EXPECT_EQ(tokenizer.Decode(std::vector<std::int32_t>{160, 161}), "<y> <x>");
}

// Checks that every piece of ESM's vocabulary is matched, even if the settings declare only other pieces. Tokenizers
// that are implemented in Python allow gaps in ids.
TEST(DeclaredTokens, KeepThePiecesOfEsm) {
  const TemporaryFolder folder;
  std::string lines;
  for (const char* piece : {"<cls>", "<pad>", "<eos>", "<unk>", "L", "A", "G", "<mask>"})
    lines += fmt::format("{}\n", piece);
  WriteFile(folder.File("vocab.txt"), lines);
  const auto tokenizer = [&](const std::string& decoder) {
    WriteFile(folder.File("tokenizer_config.json"),
              fmt::format(R"({{"tokenizer_class": "EsmTokenizer", "added_tokens_decoder": {{{}}}}})", decoder));
    return PipelineTokenizer::Load(folder.path());
  };
  const std::string special =
      R"("0": {"content": "<cls>", "special": true}, "7": {"content": "<mask>", "special": true})";
  EXPECT_THAT(tokenizer(special).Encode("GA<mask>LX").ids, ElementsAre(0, 6, 5, 7, 4, 3, 2));
  EXPECT_THAT(tokenizer(special + R"(, "12": {"content": "|"})").Encode("GA|L").ids, ElementsAre(0, 6, 5, 12, 4, 2));
}

TEST_F(DeclaredTokensOfBert, AreSpecialIfASettingNamesThem) {
  WriteFile(folder_.File("special_tokens_map.json"),
            R"({"additional_special_tokens": ["<x>", {"content": "<y>", "rstrip": true}]})");
  const PipelineTokenizer tokenizer = With("added_tokens.json", R"({"<x>": 160, "<z>": 161})");
  EXPECT_TRUE(tokenizer.IsSpecial(160));
  EXPECT_FALSE(tokenizer.IsSpecial(161));
  EXPECT_EQ(tokenizer.FindSpecial("<y>"), 162);
  EXPECT_THAT(tokenizer.Encode("<y>  <x>", {.add_special = false}).ids, ElementsAre(162, 160));
}

TEST_F(DeclaredTokensOfBert, SetTheTruncationSide) {
  EXPECT_EQ(PipelineTokenizer::Load(folder_.path()).cut_at(), CutAt::end);
  EXPECT_EQ(With("tokenizer_config.json", R"({"truncation_side": "left"})").cut_at(), CutAt::beginning);
  EXPECT_THAT(ErrorWith("tokenizer_config.json", R"({"truncation_side": "middle"})"), HasSubstr("truncation_side"));
}

// Checks that a token after the model's vocabulary is left out, since the model has no row for it.
TEST_F(DeclaredTokensOfBert, AreLeftOutBeyondTheModelsVocabulary) {
  for (const char* size : {R"("vocab_size": 161)", R"("text_vocab_size": 161)", R"("text_config": {"vocab_size": 161})",
                           R"("decoder": {"vocab_size": 161})"}) {
    WriteFile(folder_.File("config.json"), fmt::format(R"({{"model_type": "bert", {}}})", size));
    const PipelineTokenizer tokenizer =
        With("tokenizer_config.json", R"({"additional_special_tokens": ["<x>", "<y>"]})");
    EXPECT_EQ(tokenizer.Find("<x>"), 160) << size;
    EXPECT_FALSE(tokenizer.Find("<y>").has_value()) << size;
  }
}

TEST_F(DeclaredTokensOfBert, MustAgreeWithTheVocabulary) {
  EXPECT_THAT(ErrorWith("added_tokens.json", R"({"[CLS]": 160})"), HasSubstr("'[CLS]' is 160"));
  EXPECT_THAT(ErrorWith("added_tokens.json", R"({"<x>": 7})"), HasSubstr("its id 7 is"));
  EXPECT_THAT(ErrorWith("added_tokens.json", R"({"<x>": -1})"), HasSubstr("key '<x>'"));
  EXPECT_THAT(ErrorWith("added_tokens.json", R"(["<x>"])"), HasSubstr("added_tokens.json"));
  std::filesystem::remove(folder_.File("added_tokens.json"));
  const auto decoder = [&](const char* token) {
    return ErrorWith("tokenizer_config.json", fmt::format(R"({{"added_tokens_decoder": {{{}}}}})", token));
  };
  EXPECT_THAT(decoder(R"("161": "[CLS]")"), HasSubstr("'[CLS]' is 161"));
  EXPECT_THAT(decoder(R"("x": "<x>")"), HasSubstr("'x' is not an id"));
  EXPECT_THAT(decoder(R"("99999999": "<x>")"), HasSubstr("from 0 to 4194303"));
  EXPECT_THAT(decoder(R"("160": {"content": ""})"), HasSubstr("its content is empty"));
  EXPECT_THAT(decoder(R"("160": {"content": "<x>", "lstrip": 1})"), HasSubstr("lstrip"));
  EXPECT_EQ(decoder(R"("160": "<x>")"), "");
}

}  // namespace
}  // namespace headlight::declared_tokens_test
