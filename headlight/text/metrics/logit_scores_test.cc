#include "headlight/text/metrics/logit_scores.h"

#include <gtest/gtest.h>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"

namespace headlight::logit_scores_test {
namespace {

// Compares with values from tools/make_class_score_goldens.py.
TEST(LogitScores, MatchScikitLearn) {
  const JsonView golden = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/text/metrics/testdata/class_scores.json")["logits"];
  const auto classes = static_cast<std::size_t>(golden["classes"].Integer());
  std::vector<float> logits;
  for (const JsonView& logit : golden["logits"].Items()) logits.push_back(static_cast<float>(logit.Number()));
  LogitScores scores(classes);
  EXPECT_EQ(scores.loss(), 0);
  EXPECT_EQ(scores.top5_accuracy(), 0);
  std::size_t row = 0;
  for (const JsonView& right : golden["right"].Items())
    scores.Add(static_cast<std::int32_t>(right.Integer()), std::span(logits).subspan(row++ * classes, classes));
  EXPECT_NEAR(scores.classes().accuracy(), golden["accuracy"].Number(), 1e-12);
  EXPECT_NEAR(scores.classes().macro_f1(), golden["macro_f1"].Number(), 1e-12);
  EXPECT_NEAR(scores.top5_accuracy(), golden["top5_accuracy"].Number(), 1e-12);
  EXPECT_NEAR(scores.loss(), golden["loss"].Number(), 1e-6);
  for (std::size_t i = 0; i < classes; ++i) {
    const ClassCounts& one = scores.classes().classes()[i];
    EXPECT_NEAR(one.precision(), golden["precision"].Items()[i].Number(), 1e-12);
    EXPECT_NEAR(one.recall(), golden["recall"].Items()[i].Number(), 1e-12);
    EXPECT_NEAR(one.f1(), golden["f1"].Items()[i].Number(), 1e-12);
    EXPECT_EQ(one.labeled, golden["count"].Items()[i].Integer());
  }
  ASSERT_EQ(scores.confusions().size(), classes * classes);
  for (std::size_t i = 0; i < scores.confusions().size(); ++i)
    EXPECT_EQ(scores.confusions()[i], golden["confusions"].Items()[i].Integer()) << i;
}

TEST(LogitScores, TakeTheFirstOfEqualsAndAcceptAnyLogit) {
  const std::vector<float> equal(7, 200.0F), far = {0, 300, 0, 0, 0, 0, 0};
  LogitScores scores(7);
  scores.Add(4, equal);  // the fifth of equal logits is in the top 5
  scores.Add(5, equal);
  EXPECT_EQ(scores.top5_accuracy(), 0.5);
  EXPECT_NEAR(scores.loss(), std::log(7), 1e-9);
  EXPECT_EQ(scores.confusions()[4 * 7], 1);
  scores.Add(0, far);
  EXPECT_NEAR(scores.loss(), (2 * std::log(7) + 300) / 3, 1e-9);
  EXPECT_TRUE(LogitScores(LogitScores::kMostConfused + 1).confusions().empty());
}

}  // namespace
}  // namespace headlight::logit_scores_test
