#include "headlight/text/tokenizers/answer_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headlight/base/test_support.h"

namespace headlight::answer_spans_test {
namespace {

using testing::ElementsAre;

// Divides [CLS] q [SEP] p0 ... p7 [SEP] into windows of eight tokens with an overlap of two.
std::vector<Window> Windows() {
  Encoding encoding;
  encoding.texts = {-1, 0, -1, 1, 1, 1, 1, 1, 1, 1, 1, -1};
  encoding.ids.resize(12);
  encoding.type_ids.resize(12);
  encoding.spans.resize(12);
  encoding.words = {-1, 0, -1, 0, 1, 2, 3, 4, 5, 6, 7, -1};
  for (std::int32_t i = 0; i < 8; ++i) encoding.spans[static_cast<std::size_t>(3 + i)] = {i, i + 1};
  return SlidingWindows(encoding, 1, 8, 2);
}

TEST(Windows, EachTokenUsesTheWindowWithTheFarthestEdges) {
  const std::vector<Window> windows = Windows();
  ASSERT_EQ(windows.size(), 3U);  // p0 to p3, p2 to p5, p4 to p7
  EXPECT_THAT(WindowOfEachToken(windows), ElementsAre(0, 0, 0, 1, 1, 2, 2, 2));
}

class BestAnswersOf : public testing::Test {
 protected:
  // Returns the answers in a window. `begins` and `ends` are unnormalized probabilities. Token p_i covers the i-th
  // letter of the passage.
  FoundAnswers Best(std::size_t window, const std::vector<float>& begins, const std::vector<float>& ends) {
    std::vector<float> logits;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      logits.push_back(std::log(begins[i]));
      logits.push_back(std::log(ends[i]));
    }
    return BestAnswers({logits.data(), 8, 2, 2}, windows_[window], passage_, {.longest = 2});
  }

  std::string passage_ = "abcdefgh";
  std::vector<Window> windows_ = Windows();
};

TEST_F(BestAnswersOf, AllWindowsAreTheMostProbableOnes) {
  // The question and [SEP] are ignored, so their values do not matter.
  FoundAnswers found = Best(0, {2, 100, 100, 1, 4, 2, 1, 100}, {1, 100, 100, 1, 1, 1, 6, 100});
  // The best span is p2, with 2/10 * 6/10. The span from p1 to p3 is longer than two tokens.
  EXPECT_EQ(found.best()->bytes, (TextSpan{2, 4}));
  EXPECT_FLOAT_EQ(found.best()->score, 0.12F);
  EXPECT_FLOAT_EQ(found.no_answer, 0.02F);
  EXPECT_FALSE(found.declines());
  found.Add(passage_, Best(1, {1, 1, 1, 1, 5, 2, 1, 1}, {1, 1, 1, 1, 7, 1, 1, 1}));  // the score is 5/10 * 7/11
  EXPECT_EQ(found.best()->bytes, (TextSpan{3, 4}));
  EXPECT_FLOAT_EQ(found.no_answer, 1.0F / 110);
  found.Add(passage_, Best(2, {96, 1, 1, 1, 1, 1, 1, 1}, {96, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(found.best()->bytes, (TextSpan{3, 4}));
  EXPECT_FALSE(found.declines());  // a single window with an answer is sufficient
  EXPECT_TRUE(Best(2, {96, 1, 1, 1, 1, 1, 1, 1}, {96, 1, 1, 1, 1, 1, 1, 1}).declines());
  EXPECT_TRUE(FoundAnswers().declines());
}

// Checks that the scores of texts that differ only in case are added.
TEST_F(BestAnswersOf, EqualTextsAreAdded) {
  passage_ = "abAb efg";
  const FoundAnswers found = Best(0, {1, 1, 1, 3, 1, 4, 1, 1}, {1, 1, 1, 4, 1, 3, 1, 1});
  EXPECT_EQ(found.best()->bytes, (TextSpan{0, 1}));
  EXPECT_FLOAT_EQ(found.best()->score, 0.24F);
}

// Checks that spans are extended to whole words. Tokens p1 and p2 are one word.
TEST_F(BestAnswersOf, PartsOfWordsAreExtended) {
  for (Window& window : windows_)
    for (std::int32_t token = 0; token < window.count; ++token) {
      const std::int32_t number = window.begin + token - 3;  // index of the token in the passage
      window.encoding.words[static_cast<std::size_t>(window.first + token)] = number == 2 ? 1 : number;
    }
  const FoundAnswers found = Best(0, {1, 1, 1, 1, 1, 6, 1, 1}, {1, 1, 1, 1, 1, 6, 1, 1});
  EXPECT_EQ(found.best()->bytes, (TextSpan{1, 3}));
  EXPECT_FLOAT_EQ(found.best()->score, 0.43F);  // the scores of three spans are added: p1, p1 to p2, and p2
}

}  // namespace
}  // namespace headlight::answer_spans_test
