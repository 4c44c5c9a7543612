#include "headlight/tasks/word_alignment.h"

#include <gmock/gmock.h>

namespace headlight {
namespace {

using testing::ElementsAre;

// Two heads over two queries and three keys.
AttentionMap Cross(int layer, std::vector<float> weights) {
  return {AttentionKind::cross, layer, 2, 2, 3, std::move(weights)};
}

TEST(WordAlignment, TakesTheMeanOfTheHeadsOfTheLastLayer) {
  AttentionRecord record;
  record.maps = {{AttentionKind::encoder_self, 0, 1, 1, 1, {1}},
                 Cross(0, {.1f, .1f, .8f, .1f, .1f, .8f, .1f, .1f, .8f, .1f, .1f, .8f}),
                 // query 0: .5 + .1, .4 + .6, .1 + .3; query 1: .9 + .2, .1 + .6, 0 + .2
                 Cross(1, {.5f, .4f, .1f, .9f, .1f, 0, .1f, .6f, .3f, .2f, .6f, .2f})};
  EXPECT_THAT(AlignWords(record, {{0, 1, 2}, {0, 1}}), ElementsAre(WordPair{0, 1}, WordPair{1, 0}));
  // Tokens of one word are that word's; what is no word does not count.
  EXPECT_THAT(AlignWords(record, {{0, 0, 1}, {0, 0}}), ElementsAre(WordPair{0, 0}));
  EXPECT_THAT(AlignWords(record, {{0, -1, 1}, {0, -1}}), ElementsAre(WordPair{0, 0}));
}

TEST(WordAlignment, CountsWords) {
  EXPECT_EQ(CountWords(""), 0);
  EXPECT_EQ(CountWords(" \t "), 0);
  EXPECT_EQ(CountWords("ein Hund  läuft. "), 3);
}

}  // namespace
}  // namespace headlight
