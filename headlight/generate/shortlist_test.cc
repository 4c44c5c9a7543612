#include "headlight/generate/shortlist.h"

#include <gmock/gmock.h>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"

namespace headlight::shortlist_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kTokenizer = 0xfedcba9876543210;

// Returns a shortlist of three source words among ten target words. The words have two, zero and three translations.
Shortlist Three() { return {{2, 5}, {0, 2, 2, 5}, {7, 5, 9, 0, 7}}; }

TEST(Shortlist, ListsCandidatesOfASentence) {
  EXPECT_THAT(Three().For({}), ElementsAre(2, 5));
  EXPECT_THAT(Three().For(std::vector{1, 1}), ElementsAre(2, 5));
  EXPECT_THAT(Three().For(std::vector{2, 0, 2}), ElementsAre(0, 2, 5, 7, 9));
}

TEST(Shortlist, SavesAndLoads) {
  const TemporaryFolder folder;
  const std::string path = folder.File(kShortlistName);
  SaveShortlist(Three(), path, kTokenizer);
  const Shortlist read = LoadShortlist(path, kTokenizer, 3, 10);
  EXPECT_EQ(read.always, Three().always);
  EXPECT_EQ(read.begins, Three().begins);
  EXPECT_EQ(read.words, Three().words);
}

TEST(Shortlist, RefusesDamagedFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.File(kShortlistName);
  const auto refusal = [&](const Shortlist& shortlist, std::uint64_t tokenizer = kTokenizer) {
    SaveShortlist(shortlist, path, kTokenizer);
    const std::string error = ErrorOf([&] { LoadShortlist(path, tokenizer, 3, 10); });
    EXPECT_THAT(error, testing::StartsWith(path));
    return error;
  };
  EXPECT_THAT(refusal(Three(), kTokenizer + 1), HasSubstr("tokenizer"));
  EXPECT_THAT(refusal({{2, 5}, {0, 2, 5}, {7, 5, 9, 0, 7}}), HasSubstr("of 2 words"));
  EXPECT_THAT(refusal({{2, 5}, {0, 2, 2, 4}, {7, 5, 9, 0, 7}}), HasSubstr("does not divide"));
  EXPECT_THAT(refusal({{2, 5}, {0, 3, 2, 5}, {7, 5, 9, 0, 7}}), HasSubstr("does not divide"));
  EXPECT_THAT(refusal({{2, 5}, {-1, 2, 2, 5}, {7, 5, 9, 0, 7}}), HasSubstr("does not divide"));
  EXPECT_THAT(refusal({{5, 5}, {0, 2, 2, 5}, {7, 5, 9, 0, 7}}), HasSubstr("ascending"));
  EXPECT_THAT(refusal({{2, 10}, {0, 2, 2, 5}, {7, 5, 9, 0, 7}}), HasSubstr("word 10 is outside"));
  EXPECT_THAT(refusal({{2, 5}, {0, 2, 2, 5}, {7, 5, -9, 0, 7}}), HasSubstr("word -9 is outside"));
  WriteFile(path, "no");
  EXPECT_THAT(ErrorOf([&] { LoadShortlist(path, kTokenizer, 3, 10); }), testing::StartsWith(path));
}

}  // namespace
}  // namespace headlight::shortlist_test
