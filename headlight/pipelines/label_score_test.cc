#include "headlight/pipelines/label_score.h"

#include <gmock/gmock.h>

#include "headlight/base/test_support.h"

namespace headlight::label_score_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kLabels = {"cat", "dog", "bird"};
const Tensor kScores = Tensor::From<float>({0.25F, 0.5F, 0.25F, 3, -1, 2}, {2, 3});

TEST(LabelScores, AreSortedByScoreAndThenByLabel) {
  const auto all = LabelScores(kScores, kLabels);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0], ElementsAre(LabelScore{"dog", 0.5F}, LabelScore{"cat", 0.25F}, LabelScore{"bird", 0.25F}));
  EXPECT_THAT(all[1], ElementsAre(LabelScore{"cat", 3}, LabelScore{"bird", 2}, LabelScore{"dog", -1}));
  for (const Problem problem : {Problem::one_label, Problem::several_labels, Problem::number})
    EXPECT_THAT(LabelScores(kScores, kLabels, problem, 2)[0],
                ElementsAre(LabelScore{"dog", 0.5F}, LabelScore{"cat", 0.25F}));
  EXPECT_EQ(LabelScores(kScores, kLabels, Problem::one_label, 9), all);
}

TEST(LabelScores, OfRegressionKeepTheOrderOfTheLabels) {
  EXPECT_THAT(LabelScores(kScores, kLabels, Problem::number)[1],
              ElementsAre(LabelScore{"cat", 3}, LabelScore{"dog", -1}, LabelScore{"bird", 2}));
}

TEST(LabelScores, RefuseImpossibleArguments) {
  EXPECT_THAT(ErrorOf([] { LabelScores(kScores, kLabels, Problem::one_label, 0); }), HasSubstr("`top_k`"));
  EXPECT_THAT(ErrorOf([] { LabelScores(kScores, {}); }), HasSubstr("scores of 0 labels"));
}

}  // namespace
}  // namespace headlight::label_score_test
