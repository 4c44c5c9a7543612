#include "headlight/protein/nn/covariation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/random.h"
#include "headlight/protein/alignment_table.h"

namespace headlight::covariation_test {
namespace {

using testing::HasSubstr;

// Returns an alignment with random letters. Column 4 copies column 1 and column 6 copies column 4, so columns 1 and 6
// covary only through column 4.
AlignmentTable ChainOfCopies(int rows) {
  Random random(1, 0);
  AlignmentTable table;
  for (int i = 0; i < rows; ++i) {
    std::vector<std::uint8_t> letters(8);
    for (std::uint8_t& letter : letters) letter = static_cast<std::uint8_t>(random.Below(4));
    if (random.Uniform() < 0.8) letters[4] = letters[1];
    if (random.Uniform() < 0.8) letters[6] = letters[4];
    table.rows.push_back({letters, {}});
  }
  return table;
}

TEST(Covariation, CouplingsAreDirectAndMutualInformationIsNot) {
  const Tensor features = Covariation(ChainOfCopies(1000));
  ASSERT_EQ(features.shape(), (Shape{64, 2}));
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t which) {
    return features.matrix<float>().row(8 * i + j)[which];
  };
  for (std::int64_t which = 0; which < 2; ++which)
    for (std::int64_t i = 0; i < 8; ++i) {
      EXPECT_EQ(at(i, i, which), 0);
      for (std::int64_t j = 0; j < 8; ++j) {
        EXPECT_NEAR(at(i, j, which), at(j, i, which), 1e-4);
        const bool copies = (i == 1 && j == 4) || (i == 4 && j == 6), through = i == 1 && j == 6;
        if (i < j && !copies) {
          EXPECT_GT(at(1, 4, which) - at(i, j, which), through ? 0.1 : 1) << i << ", " << j;
        }
      }
    }
  // Columns 1 and 6 covary only through column 4, so they have mutual information but no coupling.
  EXPECT_GT(at(1, 6, 1), at(0, 2, 1) + 0.5);
  EXPECT_LT(at(1, 6, 0), at(1, 6, 1));
}

TEST(Covariation, DownweightsSimilarRows) {
  AlignmentTable table = ChainOfCopies(300), repeated = table;
  for (int i = 0; i < 200; ++i) repeated.rows.push_back(table.rows[7]);
  const Tensor once = Covariation(table), often = Covariation(repeated);
  for (const std::int64_t pair : {1 * 8 + 4, 4 * 8 + 6})
    EXPECT_NEAR(once.matrix<float>().row(pair)[0], often.matrix<float>().row(pair)[0], 0.02);
}

TEST(Covariation, OneRowGivesZerosAndTooManyResiduesAreRefused) {
  for (const float number : Covariation(TableOfSequence("ACDE")).ToVector<float>()) EXPECT_EQ(number, 0);
  try {
    Covariation(TableOfSequence(std::string(kMostCovarying + 1, 'A')));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("at most 1024 residues"));
  }
}

TEST(Covariation, ACropHasTheFeaturesOfItsResidues) {
  const Tensor whole = Covariation(ChainOfCopies(100)), crop = CropOfCovariation(whole, 8, 2, 5);
  ASSERT_EQ(crop.shape(), (Shape{25, 2}));
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 5; ++j)
      EXPECT_EQ(crop.matrix<float>().row(5 * i + j)[1], whole.matrix<float>().row(8 * (i + 2) + j + 2)[1]);
}

}  // namespace
}  // namespace headlight::covariation_test
