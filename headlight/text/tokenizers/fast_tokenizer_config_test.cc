#include "headlight/text/tokenizers/fast_tokenizer_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::fast_tokenizer_config_test {
namespace {

namespace fs = std::filesystem;

// The goldens are written by tools/make_auto_tokenizer_goldens.py from folders of models trained by headlight.
const std::string kGoldens = HEADLIGHT_SOURCE_DIR "/tests/testdata/auto_tokenizers";

std::vector<std::string> Folders() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kGoldens)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

struct AutoTokenizer : testing::TestWithParam<std::string> {
  const std::string folder = kGoldens + "/" + GetParam();
  const JsonView golden = ReadJson(folder + "/golden.json");
};

INSTANTIATE_TEST_SUITE_P(TrainedFolders, AutoTokenizer, testing::ValuesIn(Folders()),
                         [](const auto& test) { return test.param; });

TEST_P(AutoTokenizer, GivesTheSameIds) {
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(folder);
  const std::vector<std::string> texts = golden["texts"].Strings();
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(Json(tokenizer.Encode(texts[i]).ids), golden["ids"].Items()[i].value()) << texts[i];
}

TEST_P(AutoTokenizer, ReadsTheWrittenFile) {
  const JsonView config = ReadJson(folder + "/tokenizer_config.json");
  const TemporaryFolder temporary;
  fs::copy_file(folder + "/tokenizer.json", temporary.File("tokenizer.json"));
  const std::vector<std::string> inputs = golden["inputs"].Strings();
  WriteFastTokenizerConfig(temporary.path(),
                           TokenizerOfModel{.longest = golden["longest"].Integer(),
                                            .reads_types = std::ranges::count(inputs, "token_type_ids") > 0,
                                            .pads_left = config["padding_side"].String() == "left"});
  EXPECT_EQ(ReadJson(temporary.File("tokenizer_config.json")).value(), config.value());
  for (const auto& [role, token] : golden["special"].Members()) EXPECT_EQ(config[role].value(), token.value()) << role;
}

TEST(FastTokenizerConfig, KeepsThatOfAnotherClass) {
  const TemporaryFolder folder;
  WriteFastTokenizerConfig(folder.path(), TokenizerOfModel{.longest = 5});
  EXPECT_FALSE(fs::exists(folder.File("tokenizer_config.json")));  // there is no tokenizer.json
  fs::copy_file(kGoldens + "/" + Folders().front() + "/tokenizer.json", folder.File("tokenizer.json"));
  const std::string other = R"({"tokenizer_class": "BertTokenizer"})";
  WriteFile(folder.File("tokenizer_config.json"), other);
  WriteFastTokenizerConfig(folder.path(), TokenizerOfModel{.longest = 5});
  EXPECT_EQ(ReadFile(folder.File("tokenizer_config.json")), other);
}

}  // namespace
}  // namespace headlight::fast_tokenizer_config_test
