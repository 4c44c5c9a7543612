#include <gtest/gtest.h>

#include <string>
#include <unordered_map>

#include "headlight/synthetic/grammar.h"

namespace headlight::grammar_slow_test {
namespace {

// Checks that each of a million different sentences has only one translation.
TEST(GrammarSlow, AMillionDifferentSentencesWithOneTranslationEach) {
  std::unordered_map<std::string, std::string> english;
  Random random(1);
  int drawn = 0;
  for (; english.size() < 1000000; ++drawn) {
    SentencePair pair = SampleSentence(random);
    const auto [place, added] = english.try_emplace(std::move(pair.german), pair.english);
    ASSERT_EQ(place->second, pair.english) << place->first;
  }
  EXPECT_LT(drawn, 1200000);
}

}  // namespace
}  // namespace headlight::grammar_slow_test
