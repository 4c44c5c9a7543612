#include "headlight/text/metrics/answer_score.h"

#include <gtest/gtest.h>

#include <vector>

namespace headlight::answer_score_test {
namespace {

// Compares with values from SQuAD's official script.
TEST(ScoreAnswer, MatchesTheOfficialScript) {
  struct Case {
    const char* answer;
    std::vector<std::string> right;
    bool exact;
    double f1;
  };
  const Case cases[] = {{"The Cat sat.", {"cat sat"}, true, 1},
                        {"the cat sat on a mat", {"a cat", "the mat sat cat"}, false, 6.0 / 7},
                        {"U.S. Army", {"us army"}, true, 1},
                        {"", {}, true, 1},
                        {"the", {}, true, 1},
                        {"Paris", {}, false, 0},
                        {"", {"Paris"}, false, 0},
                        {"cat", {"The", "the an"}, false, 0},
                        {"a-b c", {"ab  c"}, true, 1},
                        {"The—Dog", {"—dog"}, true, 1},
                        {"the dogs dogs", {"dogs cats dogs dogs"}, false, 2.0 / 3},
                        {"ÄPFEL und Birnen", {"äpfel"}, false, 0.5},
                        {"x a\u0301 y", {"x \u00e1 y"}, false, 2.0 / 3},
                        {"5,000", {"5000"}, true, 1},
                        {"theory of an anthem", {"theory anthem"}, false, 0.8}};
  for (const Case& c : cases) {
    const AnswerScore score = ScoreAnswer(c.answer, c.right);
    EXPECT_EQ(score.exact, c.exact) << c.answer;
    EXPECT_NEAR(score.f1, c.f1, 1e-12) << c.answer;
  }
}

}  // namespace
}  // namespace headlight::answer_score_test
