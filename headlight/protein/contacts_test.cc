#include "headlight/protein/contacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "headlight/base/test_support.h"

namespace headlight::contacts_test {
namespace {

// Returns the residues of a hairpin: residues i and 59 - i are 5 angstrom apart.
std::vector<ResidueLabels> Hairpin() {
  std::vector<ResidueLabels> residues(60);
  for (std::size_t i = 0; i < residues.size(); ++i) {
    residues[i].position = static_cast<std::int32_t>(i);
    residues[i].beta_known = true;
    residues[i].beta =
        i < 30 ? Vector3{3.8 * static_cast<double>(i), 0, 0} : Vector3{3.8 * static_cast<double>(59 - i), 5, 0};
  }
  return residues;
}

std::optional<double> PrecisionOf(const std::vector<float>& scores, const std::vector<ResidueLabels>& residues) {
  const auto count = std::ssize(residues);
  return ContactPrecision({scores.data(), count, count, count}, residues);
}

TEST(ContactPrecision, CountsTheBestFifthOfLongRangePairs) {
  std::vector<ResidueLabels> residues = Hairpin();
  std::vector<float> scores(60 * 60);
  // There are 12 evaluated pairs. The pairs with i = 0 to 8 are in contact. Pairs near the diagonal are not evaluated.
  for (std::size_t i = 0; i < 9; ++i) scores[i * 60 + 59 - i] = 1;
  for (std::size_t i = 0; i < 3; ++i) scores[i * 60 + 30] = 0.5F;
  for (std::size_t i = 0; i + 20 < 60; ++i) scores[i * 60 + i + 20] = 2;
  EXPECT_NEAR(*PrecisionOf(scores, residues), 9.0 / 12, 1e-12);
  // Scores below the diagonal are ignored. Residue 0 becomes unknown, so the pair (9, 50) replaces (0, 59).
  for (std::size_t i = 0; i < 60; ++i)
    for (std::size_t j = 0; j < i; ++j) scores[i * 60 + j] = 9;
  residues[0].beta_known = false;
  scores[9 * 60 + 50] = 0.9F;
  EXPECT_NEAR(*PrecisionOf(scores, residues), 9.0 / 12, 1e-12);
  scores[9 * 60 + 50] = 0;
  EXPECT_LT(*PrecisionOf(scores, residues), 9.0 / 12);
}

TEST(ContactPrecision, NeedsLongRangePairs) {
  std::vector<ResidueLabels> residues = Hairpin();
  residues.resize(24);
  EXPECT_FALSE(PrecisionOf(std::vector<float>(24 * 24), residues));
  residues.back().position = 24;  // follows a gap
  EXPECT_TRUE(PrecisionOf(std::vector<float>(24 * 24), residues));
  const std::vector<float> few(4);
  EXPECT_THAT(ErrorOf([&] { ContactPrecision({few.data(), 2, 2, 2}, residues); }), testing::HasSubstr("2 x 2 scores"));
}

// Checks an alignment in which columns 0 and 2 are equal and column 1 is independent. In row 6, column 0 has a gap.
TEST(MutualInformation, HasTheAverageProductCorrection) {
  AlignmentTable table;
  const std::uint8_t gap = kGap;
  for (const std::vector<std::uint8_t>& residues : std::vector<std::vector<std::uint8_t>>{
           {1, 5, 7}, {1, 6, 7}, {2, 5, 8}, {2, 6, 8}, {1, 5, 7}, {2, 5, 8}, {gap, 6, 8}})
    table.rows.push_back({residues, {}});
  const std::vector<float> map = CorrectedMutualInformation(table);
  const double same = std::log(2.0);  // each of two letters occurs in three rows
  // Columns 0 and 1 are independent: letters 1 and 2 both occur with letter 5 twice and with letter 6 once. All seven
  // rows count for columns 1 and 2.
  const auto term = [](double both, double a, double b) { return both / 7 * std::log(both * 7 / (a * b)); };
  const double other = term(2, 4, 3) + term(1, 3, 3) + term(2, 4, 4) + term(2, 3, 4);
  const double of_0 = same / 2, of_1 = other / 2, of_2 = (same + other) / 2, all = (same + other) / 3;
  EXPECT_NEAR(map[2], same - of_0 * of_2 / all, 1e-6);
  EXPECT_NEAR(map[1], -of_0 * of_1 / all, 1e-6);
  EXPECT_NEAR(map[5], other - of_1 * of_2 / all, 1e-6);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(map[i * 3 + i], 0);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(map[i * 3 + j], map[j * 3 + i]);
  }
}

TEST(MutualInformation, OfOneRowIsZero) {
  for (const float value : CorrectedMutualInformation(TableOfSequence("MKVLAEYTWG"))) EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace headlight::contacts_test
