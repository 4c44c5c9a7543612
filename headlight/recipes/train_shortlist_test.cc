// Tests training a shortlist through the C++ API.
#include "headlight/recipes/train_shortlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "headlight/base/file.h"
#include "headlight/base/scratch_folder.h"
#include "headlight/base/test_support.h"
#include "headlight/pipelines/testing.h"

namespace headlight::train_shortlist_test {
namespace {

using testing::HasSubstr;

struct TrainShortlistTest : testing::Test {
  TrainShortlistTest() {
    options.folder = scratch.File("model");
    std::filesystem::create_directory(options.folder);
    SaveTinyModel(options.folder);
    std::string german, english;
    for (int line = 0; line < 1001; ++line) {
      german += "Ein Hund\n";
      english += "A dog\n";
    }
    WriteFile(scratch.File("de"), german);
    WriteFile(scratch.File("en"), english);
    options.train = {scratch.File("de"), scratch.File("en")};
    options.shortlist.frequent = 3;
  }

  ScratchFolder scratch;
  ShortlistTraining options;
};

TEST_F(TrainShortlistTest, WritesAShortlistForTheModel) {
  std::int64_t pairs = 0;
  double share = -1;
  const TrainedShortlist trained = TrainShortlist(options, {.progress = [&](std::int64_t done, double its_share) {
                                                    pairs = done;
                                                    share = its_share;
                                                  }});
  EXPECT_EQ(pairs, 1000);
  EXPECT_GT(share, 0.9);
  EXPECT_EQ(trained.path, ShortlistPath(options));
  EXPECT_EQ(trained.frequent, 3);
  EXPECT_EQ(trained.pairs, 1001);
  EXPECT_TRUE(trained.all);
  EXPECT_GT(trained.translations, 0);
  EXPECT_TRUE(std::filesystem::exists(trained.path));
}

TEST_F(TrainShortlistTest, WritesNothingIfItFails) {
  const auto cancel = [](std::int64_t, double) { throw std::runtime_error("enough"); };
  EXPECT_THROW(TrainShortlist(options, {.progress = cancel}), std::runtime_error);
  options.train.pop_back();
  EXPECT_THAT(ErrorOf([&] { TrainShortlist(options); }), HasSubstr("`train` must be two files"));
  options.train.push_back(scratch.File("none"));
  EXPECT_THAT(ErrorOf([&] { TrainShortlist(options); }), HasSubstr("none: cannot open"));
  EXPECT_FALSE(std::filesystem::exists(ShortlistPath(options)));
}

TEST_F(TrainShortlistTest, IsDescribed) {
  OptionTable table;
  Describe(table, options);
  table.Get("--per-word").Give({"7"});
  table.Get("--train").Give({"de", "en"});
  EXPECT_EQ(options.shortlist.per_word, 7);
  EXPECT_THAT(options.train, testing::ElementsAre("de", "en"));
}

}  // namespace
}  // namespace headlight::train_shortlist_test
