#include "headlight/text/tokenizers/answer_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "headlight/base/test_support.h"

namespace headlight::answer_spans_test {
namespace {

using testing::ElementsAre;

// [CLS] q [SEP] p0 ... p7 [SEP], cut into windows of eight tokens that share two.
std::vector<Window> Windows() {
  Encoding encoding;
  encoding.texts = {-1, 0, -1, 1, 1, 1, 1, 1, 1, 1, 1, -1};
  encoding.ids.resize(12);
  encoding.type_ids.resize(12);
  encoding.spans.resize(12);
  return SlidingWindows(encoding, 1, 8, 2);
}

TEST(Windows, EachTokenHasTheOneWithTheFarthestEdges) {
  const std::vector<Window> windows = Windows();
  ASSERT_EQ(windows.size(), 3U);  // p0 to p3, p2 to p5, p4 to p7
  EXPECT_THAT(WindowOfEachToken(windows), ElementsAre(0, 0, 0, 1, 1, 2, 2, 2));
}

TEST(BestSpan, IsTheMostProbableOneOfAllWindows) {
  const std::vector<Window> windows = Windows();
  const auto best = [&](std::size_t window, const std::vector<float>& begins, const std::vector<float>& ends) {
    std::vector<float> logits;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      logits.push_back(std::log(begins[i]));
      logits.push_back(std::log(ends[i]));
    }
    return BestSpan({logits.data(), 8, 2, 2}, windows[window], 2);
  };
  // The question and [SEP] do not count: 1 is as good as 100 there.
  FoundSpan span = best(0, {2, 100, 100, 1, 4, 2, 1, 100}, {1, 100, 100, 1, 1, 1, 6, 100});
  EXPECT_EQ(span.begin, 5);  // p2: 2/10 * 6/10; from p1 to p3 would be longer than two tokens
  EXPECT_EQ(span.last, 6);
  EXPECT_FLOAT_EQ(span.score, 0.12F);
  EXPECT_FLOAT_EQ(span.no_answer, 0.02F);
  EXPECT_FALSE(span.declines());
  span.Add(best(1, {1, 1, 1, 1, 5, 2, 1, 1}, {1, 1, 1, 1, 7, 1, 1, 1}));  // 5/10 * 7/11
  EXPECT_EQ(span.begin, 6);
  EXPECT_EQ(span.last, 6);
  EXPECT_FLOAT_EQ(span.no_answer, 1.0F / 110);
  span.Add(best(2, {96, 1, 1, 1, 1, 1, 1, 1}, {96, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(span.begin, 6);
  EXPECT_FALSE(span.declines());  // one window that has an answer is enough
  EXPECT_TRUE(best(2, {96, 1, 1, 1, 1, 1, 1, 1}, {96, 1, 1, 1, 1, 1, 1, 1}).declines());
}

}  // namespace
}  // namespace headlight::answer_spans_test
