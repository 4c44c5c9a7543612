#include "headlight/pipelines/word_alignment.h"

#include <gmock/gmock.h>

#include "headlight/generate/hypothesis.h"

namespace headlight::word_alignment_test {
namespace {

using testing::ElementsAre;

TEST(WordAlignment, TakesTheSourceTokenOfTheLargestWeight) {
  // Attention weights of two target tokens and the end token for three source tokens.
  std::vector<AttentionRow> attention;
  for (const std::vector<float>& row : {std::vector{.6f, 1.f, .4f}, {1.1f, .7f, .2f}, {0.f, 0.f, 2.f}})
    attention.push_back(std::make_shared<const std::vector<float>>(row));
  EXPECT_THAT(AlignWords(attention, {{0, 1, 2}, {0, 1}}), ElementsAre(WordPair{0, 1}, WordPair{1, 0}));
  // All tokens of a word count for the word. Tokens without a word are ignored.
  EXPECT_THAT(AlignWords(attention, {{0, 0, 1}, {0, 0}}), ElementsAre(WordPair{0, 0}));
  EXPECT_THAT(AlignWords(attention, {{0, -1, 1}, {0, -1}}), ElementsAre(WordPair{0, 0}));
}

TEST(WordAlignment, CountsWords) {
  EXPECT_EQ(CountWords(""), 0);
  EXPECT_EQ(CountWords(" \t "), 0);
  EXPECT_EQ(CountWords("ein Hund  läuft. "), 3);
}

}  // namespace
}  // namespace headlight::word_alignment_test
