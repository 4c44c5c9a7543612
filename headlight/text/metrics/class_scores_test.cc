#include "headlight/text/metrics/class_scores.h"

#include <gtest/gtest.h>

namespace headlight::class_scores_test {
namespace {

// Compares with scikit-learn's accuracy_score and its f1_score with average="macro".
TEST(ClassScores, CountsEachClass) {
  ClassScores scores(4);
  EXPECT_EQ(scores.accuracy(), 0);
  EXPECT_EQ(scores.macro_f1(), 0);
  for (const auto& [label, predicted] : {std::pair(0, 0), {0, 0}, {0, 1}, {1, 1}, {2, 0}, {2, -1}})
    scores.Add(label, predicted);
  EXPECT_DOUBLE_EQ(scores.accuracy(), 3.0 / 6);
  EXPECT_DOUBLE_EQ(scores.classes()[0].precision(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.classes()[0].recall(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.classes()[1].f1(), 2.0 / 3);
  EXPECT_EQ(scores.classes()[2].f1(), 0);
  EXPECT_EQ(scores.classes()[2].labeled, 2);
  EXPECT_DOUBLE_EQ(scores.macro_f1(), (2.0 / 3 + 2.0 / 3 + 0) / 3);  // the fourth class does not occur
}

}  // namespace
}  // namespace headlight::class_scores_test
