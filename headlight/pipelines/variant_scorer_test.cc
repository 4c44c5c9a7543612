#include "headlight/pipelines/variant_scorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/test_support.h"
#include "headlight/pipelines/protein_testing.h"

namespace headlight::variant_scorer_test {
namespace {

TEST(VariantScorer, NamesEachVariantAndAddsItsSubstitutions) {
  const TemporaryFolder folder;
  SaveTinyEsm(folder.path());
  const VariantScorer scorer = VariantScorer::Load(folder.path());
  const std::vector<std::string> variants = {"K2R", "G6A", "K2R:G6A", "K2K"};
  const std::vector<VariantScore> scores = scorer.Score("MKVLAGMK", variants);
  ASSERT_EQ(scores.size(), variants.size());
  for (std::size_t i = 0; i < variants.size(); ++i) EXPECT_EQ(scores[i].variant, variants[i]);
  EXPECT_NE(scores[0].score, 0);
  EXPECT_DOUBLE_EQ(scores[2].score, scores[0].score + scores[1].score);
  EXPECT_EQ(scores[3].score, 0);
  EXPECT_THAT(ErrorOf([&] { scorer.Score("MKVLAGMK", std::vector<std::string>{"A2R"}); }),
              testing::HasSubstr("residue 2 is K"));
}

}  // namespace
}  // namespace headlight::variant_scorer_test
