#include "headlight/protein/sequence_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/protein/sequences.h"

namespace headlight::sequence_alignment_test {
namespace {

using testing::ElementsAre;

LocalAlignment Aligned(const std::string& first, const std::string& second) {
  return AlignLocally(ResiduesOf(first), ResiduesOf(second));
}

TEST(AlignLocally, FindsSimilarSegments) {
  const LocalAlignment same = Aligned("MARNDW", "MARNDW");
  EXPECT_EQ(same.score, 5 + 4 + 5 + 6 + 6 + 11);
  EXPECT_THAT(same.partners, ElementsAre(0, 1, 2, 3, 4, 5));
  // Dissimilar ends are not aligned.
  EXPECT_THAT(Aligned("GGGWCHWPPP", "KKWCHWDD").partners, ElementsAre(-1, -1, -1, 2, 3, 4, 5, -1, -1, -1));
  EXPECT_EQ(Aligned("AAAA", "WWWW").score, 0);
  EXPECT_THAT(Aligned("AAAA", "WWWW").partners, ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(Aligned("AC", "").partners, ElementsAre(-1, -1));
  EXPECT_THAT(Aligned("", "AC").partners, ElementsAre());
}

// Checks that a gap of three residues costs 11 + 3.
TEST(AlignLocally, GapCostsAreAffine) {
  const int whole = Aligned("WCWHFYWCWHFY", "WCWHFYWCWHFY").score;
  const LocalAlignment in_second = Aligned("WCWHFYWCWHFY", "WCWHFYGGGWCWHFY");
  EXPECT_EQ(in_second.score, whole - 14);
  EXPECT_THAT(in_second.partners, ElementsAre(0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14));
  const LocalAlignment in_first = Aligned("WCWHFYGGGWCWHFY", "WCWHFYWCWHFY");
  EXPECT_EQ(in_first.score, whole - 14);
  EXPECT_THAT(in_first.partners, ElementsAre(0, 1, 2, 3, 4, 5, -1, -1, -1, 6, 7, 8, 9, 10, 11));
}

// Checks scores computed by Biopython's PairwiseAligner with BLOSUM62. Opening a gap costs 12 and extending it costs 1.
TEST(AlignLocally, ScoresMatchBiopython) {
  struct Case {
    std::string first, second;
    int score;
  };
  for (const auto& [first, second, score] :
       {Case{"VHKTAPGRQDKSGMWDYGAEFHQMQNCVVP", "AQETAPKRVDKSGAWDYGAPHQMQEVHVQP", 82},
        Case{"ISQRNVWMRGVKHPFCRRSLECYCFDQFKCRFICPVQTPSLSHIS", "MSQSNVWMRSVKAPICKRSLYCFDYFKARQSPVQTESHFDWLIDIWTYHIS",
             116},
        Case{"PCQVMYSECVNKAMDLYVWCLYMFFGSISMMQVVHISHFALISICSADVPGIRCMASWWH",
             "PHCIICVMIIYTKYCHCVNKAMDLYAWCSYFGNFDMIVQWSYFNLIIICSADGPARVCMASWWS", 162}}) {
    const LocalAlignment found = Aligned(first, second);
    EXPECT_EQ(found.score, score);
    EXPECT_EQ(Aligned(second, first).score, score);
    std::vector<std::int32_t> aligned = found.partners;
    std::erase(aligned, -1);
    EXPECT_TRUE(std::adjacent_find(aligned.begin(), aligned.end(), std::greater_equal{}) == aligned.end());
  }
}

TEST(AlignLocally, PairsUnknownResidues) {
  EXPECT_THAT(Aligned("WWXWW", "WWCWW").partners, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(Aligned("WWXWW", "WWCWW").score, 43);
}

}  // namespace
}  // namespace headlight::sequence_alignment_test
