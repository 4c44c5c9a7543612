// Tests training a tokenizer through the C++ API.
#include "headlight/recipes/train_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

#include "headlight/base/file.h"
#include "headlight/base/scratch_folder.h"
#include "headlight/base/test_support.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"

namespace headlight::train_tokenizer_test {
namespace {

using testing::HasSubstr;

struct TrainTokenizerTest : testing::Test {
  TrainTokenizerTest() {
    std::string text;
    for (int line = 0; line < 20'000; ++line) text += "A small dog runs.\n";  // long enough for progress
    WriteFile(scratch.File("a"), text);
    WriteFile(scratch.File("b"), "A dog sleeps.\n");
    options.files = {scratch.File("a"), scratch.File("b")};
    options.out = scratch.File("new/tokens");
    options.tokenizer.byte_level = true;
    options.tokenizer.size = 270;
  }

  ScratchFolder scratch;
  TokenizerTraining options;
};

TEST_F(TrainTokenizerTest, WritesAFolderAndReportsProgress) {
  options.sentinels = 2;
  std::set<std::string> told;
  const TrainedTokenizer trained = TrainTokenizer(
      options, {.progress = [&](std::string_view what, std::int64_t, std::int64_t) { told.emplace(what); }});
  EXPECT_EQ(trained.path, options.out + "/tokenizer.json");
  const PipelineTokenizer tokenizer = PipelineTokenizer::Load(options.out);
  EXPECT_EQ(trained.tokens, tokenizer.size());
  EXPECT_EQ(tokenizer.Find("<extra_id_1>"), 1);  // 0 is the default special token of byte-level BPE
  EXPECT_EQ(tokenizer.Find("<extra_id_0>"), 2);
  EXPECT_FALSE(told.empty());
  TrainTokenizer(options);  // trains again, without an observer
}

TEST_F(TrainTokenizerTest, ReportsIfTheTextAllowsFewerTokens) {
  options.tokenizer.size = 258;  // the bytes, a special token and a merge
  const TrainedTokenizer all = TrainTokenizer(options);
  EXPECT_EQ(all.tokens, 258);
  EXPECT_FALSE(all.text_allows_no_more);
  options.tokenizer.size = 1000;
  const TrainedTokenizer fewer = TrainTokenizer(options);
  EXPECT_LT(fewer.tokens, 1000);
  EXPECT_TRUE(fewer.text_allows_no_more);
}

TEST_F(TrainTokenizerTest, LeavesNothingIfItFails) {
  const auto cancel = [](std::string_view, std::int64_t, std::int64_t) { throw std::runtime_error("enough"); };
  EXPECT_THROW(TrainTokenizer(options, {.progress = cancel}), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(options.out));
  options.sentinels = 1001;
  EXPECT_THAT(ErrorOf([&] { TrainTokenizer(options); }), HasSubstr("`sentinels` must be"));
  options.sentinels = -1;
  EXPECT_THAT(ErrorOf([&] { TrainTokenizer(options); }), HasSubstr("`sentinels`"));
  EXPECT_THAT(ErrorOf([&] { TrainTokenizer({.files = options.files, .out = ""}); }), HasSubstr("`out`"));
  EXPECT_THAT(ErrorOf([&] { TrainTokenizer({.files = {}, .out = options.out}); }), HasSubstr("`files`"));
  EXPECT_FALSE(std::filesystem::exists(options.out));
}

TEST_F(TrainTokenizerTest, IsDescribed) {
  OptionTable table;
  Describe(table, options);
  table.Get("--subword-type").Give({"unigram"});
  table.Get("--special").Give({"<unk>", "<pad>"});
  table.Get("--sentinels").Give({"3"});
  EXPECT_EQ(options.tokenizer.algorithm, TokenizerAlgorithm::unigram);
  EXPECT_THAT(options.tokenizer.special, testing::ElementsAre("<unk>", "<pad>"));
  EXPECT_EQ(options.sentinels, 3);
}

}  // namespace
}  // namespace headlight::train_tokenizer_test
