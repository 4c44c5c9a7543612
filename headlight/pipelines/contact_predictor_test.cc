#include "headlight/pipelines/contact_predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/test_support.h"
#include "headlight/pipelines/protein_testing.h"

namespace headlight::contact_predictor_test {
namespace {

using testing::HasSubstr;

std::vector<std::vector<std::int64_t>> PairsOf(const std::vector<Contact>& contacts) {
  std::vector<std::vector<std::int64_t>> pairs;
  for (const Contact& contact : contacts) pairs.push_back({contact.first, contact.second});
  return pairs;
}

TEST(BestContacts, BestFirstAndAtMostOnePerResidue) {
  const Tensor probabilities =
      Tensor::From<float>({1, 0.9F, 0.2F, 0.7F, 0.9F, 1, 0.3F, 0.2F, 0.2F, 0.3F, 1, 0.1F, 0.7F, 0.2F, 0.1F, 1}, {4, 4});
  EXPECT_EQ(PairsOf(BestContacts(probabilities, 1)),
            (std::vector<std::vector<std::int64_t>>{{1, 2}, {1, 4}, {2, 3}, {1, 3}}));
  EXPECT_EQ(PairsOf(BestContacts(probabilities, 2)), (std::vector<std::vector<std::int64_t>>{{1, 4}, {1, 3}, {2, 4}}));
  EXPECT_FLOAT_EQ(BestContacts(probabilities, 3)[0].score, 0.7F);
  EXPECT_TRUE(BestContacts(probabilities).empty());
  EXPECT_THAT(ErrorOf([&] { BestContacts(probabilities, 0); }), HasSubstr("`separation`"));
  EXPECT_THAT(ErrorOf([] { BestContacts(Tensor::Zeros({2, 3})); }), HasSubstr("are not residues x residues"));
}

TEST(ContactPredictor, PredictsTheBestContactsOfItsScores) {
  const TemporaryFolder folder;
  SaveTinyEsm(folder.path());
  const ContactPredictor predictor = ContactPredictor::Load(folder.path());
  const Tensor scores = predictor.Scores("MKVLAGMK");
  EXPECT_EQ(scores.shape(), (Shape{8, 8}));
  EXPECT_EQ(PairsOf(predictor.Predict("MKVLAGMK", 2)), PairsOf(BestContacts(scores, 2)));
  EXPECT_THAT(ErrorOf([&] { predictor.Predict(""); }), HasSubstr("the sequence"));
}

}  // namespace
}  // namespace headlight::contact_predictor_test
