#include "headlight/train/learn_shortlist.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "headlight/base/random.h"
#include "headlight/base/test_support.h"

namespace headlight::learn_shortlist_test {
namespace {

constexpr std::int32_t kWords = 50;

// Returns the translation of source word w: target word (7 w + 3) % 50. In the training sentences, word order differs
// between the languages, and word 0 is in every second sentence.
std::int32_t Translation(std::int32_t word) { return (7 * word + 3) % kWords; }

LearnedShortlist Learn(int pairs, const ShortlistOptions& options) {
  Random random(5);
  return LearnShortlist(
      [&](EncodedPair& pair) {
        if (pairs-- == 0) return false;
        std::set<std::int32_t> words;
        if (pairs % 2 == 0) words.insert(0);
        while (words.size() < 6) words.insert(static_cast<std::int32_t>(random.Below(kWords)));
        pair.source.assign(words.begin(), words.end());
        pair.target.clear();
        for (const std::int32_t word : words) pair.target.push_back(Translation(word));
        std::ranges::sort(pair.target);
        return true;
      },
      kWords, kWords, options);
}

TEST(LearnShortlist, FindsTheTranslationOfEveryWord) {
  const LearnedShortlist learned = Learn(400, {.frequent = 1, .per_word = 1});
  EXPECT_EQ(learned.pairs, 400);
  EXPECT_TRUE(learned.all);
  EXPECT_THAT(learned.shortlist.always, testing::ElementsAre(Translation(0)));
  ASSERT_EQ(learned.shortlist.words.size(), static_cast<std::size_t>(kWords));
  for (std::int32_t word = 0; word < kWords; ++word) {
    EXPECT_EQ(learned.shortlist.begins[static_cast<std::size_t>(word)], word);
    EXPECT_EQ(learned.shortlist.words[static_cast<std::size_t>(word)], Translation(word)) << word;
  }
}

TEST(LearnShortlist, ListsTheLikeliestFirst) {
  const Shortlist several = Learn(400, {.frequent = 10, .per_word = 5}).shortlist;
  EXPECT_EQ(several.always.size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(several.always));
  for (std::int32_t word = 0; word < kWords; ++word) {
    const auto begin = static_cast<std::size_t>(several.begins[static_cast<std::size_t>(word)]);
    EXPECT_EQ(several.words[begin], Translation(word));
    EXPECT_LE(several.begins[static_cast<std::size_t>(word) + 1] - several.begins[static_cast<std::size_t>(word)], 5);
  }
}

TEST(LearnShortlist, SkipsVeryLongSentences) {
  int pairs = 0;
  const auto next = [&](EncodedPair& pair) {
    pair.source.assign(pairs == 0 ? 257 : 256, pairs);
    pair.target.assign(1, pairs);
    return pairs++ < 2;
  };
  const LearnedShortlist learned = LearnShortlist(next, 2, 2, {.frequent = 1});
  EXPECT_EQ(learned.pairs, 1);
  EXPECT_TRUE(learned.all);
  EXPECT_THAT(learned.shortlist.words, testing::ElementsAre(1));
}

TEST(LearnShortlist, RefusesImpossibleOptions) {
  EXPECT_THAT(ErrorOf([] { Learn(0, {}); }), testing::HasSubstr("no sentence pair"));
  EXPECT_THAT(ErrorOf([] { Learn(5, {.frequent = 0}); }), testing::HasSubstr("not 0 frequent"));
  EXPECT_THAT(ErrorOf([] { Learn(5, {.per_word = -1}); }), testing::HasSubstr("-1 per source word"));
}

}  // namespace
}  // namespace headlight::learn_shortlist_test
