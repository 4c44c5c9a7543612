// Compares the features of alignments and the predicted errors with OpenFold. tools/make_alignment_feature_goldens.py
// and, for templates, tools/make_alphafold_goldens.py describe the goldens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/protein/alignment_features.h"
#include "headlight/protein/predicted_error.h"
#include "headlight/protein/templates.h"
#include "headlight/protein/testing.h"
#include "tests/alphafold_testing.h"

namespace headlight::folding_features_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kTestData = HEADLIGHT_SOURCE_DIR "/headlight/protein/testdata/";

AlignmentTable ReadTable(const std::vector<std::string>& paths, const AlignmentTableOptions& options = {}) {
  return ReadAlignmentTable(paths, options);
}

class AlignmentFeaturesGolden : public testing::Test {
 protected:
  template <typename To>
  std::vector<To> Integers(const std::string& name) const {
    const std::vector<std::int32_t> numbers = file_.Read(name, DType::int32).ToVector<std::int32_t>();
    return {numbers.begin(), numbers.end()};
  }
  std::vector<float> Floats(const std::string& name) const { return file_.Read(name).ToVector<float>(); }
  AlignmentChoices Choices() const {
    std::vector<std::uint8_t> replaced;
    for (const float one : Floats("replaced")) replaced.push_back(one != 0);
    return {Integers<std::int32_t>("centres"), Integers<std::uint8_t>("letters"), replaced,
            Integers<std::int32_t>("extra")};
  }

  const Safetensors file_{kTestData + "alignment_features.safetensors"};
  const AlignmentTable table_ = ReadTable({kTestData + "alignment.a3m"});
};

void ExpectClose(const Tensor& made, const std::vector<float>& wanted, const std::string& name) {
  ASSERT_EQ(made.elements(), std::ssize(wanted)) << name;
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(made.span<float>()[i], wanted[i], 1e-6) << name << i;
}

TEST_F(AlignmentFeaturesGolden, TableHasDistinctRows) {
  EXPECT_EQ(table_.read, 19);
  EXPECT_EQ(table_.distinct, 17);
  std::vector<std::uint8_t> rows;
  std::vector<float> deletions;
  for (const AlignmentTable::Row& row : table_.rows) {
    rows.insert(rows.end(), row.residues.begin(), row.residues.end());
    const std::size_t first = deletions.size();
    deletions.resize(rows.size());
    for (const Deletions& one : row.deletions)
      deletions[first + static_cast<std::size_t>(one.column)] = static_cast<float>(one.count);
  }
  EXPECT_EQ(rows, Integers<std::uint8_t>("rows"));
  EXPECT_EQ(deletions, Floats("deletions"));
  ExpectClose(Tensor::From<float>(table_.profile, {std::ssize(table_.profile)}), Floats("profile"), "profile");
}

TEST_F(AlignmentFeaturesGolden, FeaturesDependOnTheChoices) {
  const AlignmentFeatures features = FeaturesOf(table_, Choices());
  ExpectClose(features.target, Floats("target"), "target");
  ExpectClose(features.alignment, Floats("msa"), "msa");
  ExpectClose(features.extra, Floats("extra_msa"), "extra_msa");
  EXPECT_EQ(features.letters, Integers<std::int32_t>("own"));
  EXPECT_EQ(features.replaced, Choices().replaced);
  EXPECT_EQ(features.alignment.columns(), 49);
  EXPECT_EQ(features.extra.columns(), 25);
}

// Checks the features of a crop. The clusters are computed from the whole chain.
TEST_F(AlignmentFeaturesGolden, CropSelectsColumns) {
  const AlignmentFeatures whole = FeaturesOf(table_, Choices()), crop = FeaturesOf(table_, Choices(), 3, 5);
  for (const auto part : {&AlignmentFeatures::target, &AlignmentFeatures::alignment, &AlignmentFeatures::extra}) {
    const Tensor& from = whole.*part;
    const Tensor& to = crop.*part;
    const std::int64_t rows = from.rows() / 12;
    ASSERT_EQ(to.rows(), rows * 5);
    for (std::int64_t row = 0; row < rows; ++row)
      EXPECT_EQ(to.ViewRows(row * 5, 5).ToVector<float>(), from.ViewRows(row * 12 + 3, 5).ToVector<float>());
  }
  EXPECT_EQ(crop.types, std::vector<std::int32_t>(whole.types.begin() + 3, whole.types.begin() + 8));
  EXPECT_EQ(crop.letters.size(), 25U);
}

// Checks that each cell's substitutes have OpenFold's probabilities, within 5 standard deviations of 20,000 samples.
TEST_F(AlignmentFeaturesGolden, SubstitutesHaveOpenFoldsProbabilities) {
  constexpr int kDraws = 20000, kCells = 5 * 12;
  const std::vector<float> probabilities = Floats("substitutes");
  const std::vector<std::int32_t> centers = Integers<std::int32_t>("centres");
  AlignmentTable five = table_;
  for (std::size_t i = 0; i < centers.size(); ++i) five.rows[i] = table_.rows[static_cast<std::size_t>(centers[i])];
  five.rows.resize(centers.size());
  std::vector<int> counts(kCells * kFeatureLetters), replaced(kCells);
  Random random(1);
  for (int draw = 0; draw < kDraws; ++draw) {
    const AlignmentChoices choices = DrawChoices(five, {.rows = 5, .masked = 0.5}, random);
    for (std::size_t row = 0; row < 5; ++row) {
      for (std::size_t column = 0; column < 12; ++column) {
        if (!choices.replaced[row * 12 + column]) continue;
        const std::size_t cell = static_cast<std::size_t>(choices.centers[row]) * 12 + column;
        ++replaced[cell];
        ++counts[cell * kFeatureLetters + choices.letters[row * 12 + column]];
      }
    }
  }
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    EXPECT_NEAR(replaced[cell], kDraws / 2, 5 * std::sqrt(kDraws / 4));
    for (std::size_t letter = 0; letter < kFeatureLetters; ++letter) {
      const double p = static_cast<double>(probabilities[cell * kFeatureLetters + letter]), n = replaced[cell];
      EXPECT_NEAR(counts[cell * kFeatureLetters + letter], n * p, 5 * std::sqrt(n * p * (1 - p)) + 1) << cell << letter;
    }
  }
}

TEST_F(AlignmentFeaturesGolden, ChoicesAreDistinctAndDependOnTheSeed) {
  Random random(5), again(5);
  std::vector<int> chosen(17);
  for (int draw = 0; draw < 2000; ++draw) {
    const AlignmentChoices choices = DrawChoices(table_, {.rows = 5, .extra = 4}, random);
    const AlignmentChoices same = DrawChoices(table_, {.rows = 5, .extra = 4}, again);
    EXPECT_EQ(choices.centers, same.centers);
    EXPECT_EQ(choices.extra, same.extra);
    EXPECT_EQ(choices.letters, same.letters);
    EXPECT_EQ(choices.centers.size(), 5U);
    EXPECT_EQ(choices.centers.front(), 0);
    EXPECT_EQ(choices.extra.size(), 4U);
    std::vector<std::int32_t> rows = choices.centers;
    rows.insert(rows.end(), choices.extra.begin(), choices.extra.end());
    for (const std::int32_t row : rows) ++chosen[static_cast<std::size_t>(row)];
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(std::unique(rows.begin(), rows.end()), rows.end());
  }
  // 8 of 16 rows are chosen.
  for (std::size_t row = 1; row < 17; ++row) EXPECT_NEAR(chosen[row], 1000, 5 * std::sqrt(500));
  const AlignmentChoices all = DrawChoices(table_, {.rows = 512, .extra = 1024}, random);
  EXPECT_EQ(all.centers.size(), 17U);
  EXPECT_THAT(all.extra, IsEmpty());
  EXPECT_EQ(FeaturesOf(table_, all).extra.rows(), 0);
}

TEST_F(AlignmentFeaturesGolden, RefusesInvalidInput) {
  const auto error_of = [&](auto spoil) {
    AlignmentChoices choices = Choices();
    std::int64_t first = 0, count = -1;
    spoil(choices, first, count);
    return ErrorOf([&] { FeaturesOf(table_, choices, first, count); });
  };
  using C = AlignmentChoices;
  EXPECT_EQ(error_of([](C&, auto&, auto&) {}), "");
  EXPECT_THAT(error_of([](C& c, auto&, auto&) { c.centers[0] = 1; }), HasSubstr("the query is not"));
  EXPECT_THAT(error_of([](C& c, auto&, auto&) { c.letters.pop_back(); }), HasSubstr("with 59 letters"));
  EXPECT_THAT(error_of([](C& c, auto&, auto&) { c.centers[1] = 17; }), HasSubstr("row 17 was chosen"));
  EXPECT_THAT(error_of([](C& c, auto&, auto&) { c.extra[0] = -1; }), HasSubstr("row -1 was chosen"));
  EXPECT_THAT(error_of([](C& c, auto&, auto&) { c.letters[3] = 23; }), HasSubstr("letter 23"));
  EXPECT_THAT(error_of([](C&, auto& first, auto&) { first = 12; }), HasSubstr("residues 13 to 12"));
  EXPECT_THAT(error_of([](C&, auto& first, auto& count) { first = 8, count = 5; }), HasSubstr("residues 9 to 13"));
  Random random(0);
  const auto draw_error = [&](const AlignmentSampling& sampling) {
    return ErrorOf([&] { DrawChoices(table_, sampling, random); });
  };
  EXPECT_THAT(draw_error({.rows = 0}), HasSubstr("not 0 and"));
  EXPECT_THAT(draw_error({.extra = -1}), HasSubstr("not 512 and -1"));
  EXPECT_THAT(draw_error({.masked = 1.5}), HasSubstr("1.5 of letters"));
  EXPECT_THAT(draw_error({.uniform = 0.5, .profile = 0.5, .same = 0.1}), HasSubstr("these are probabilities"));
}

TEST(AlignmentTable, ReadsSeveralFilesOfOneQuery) {
  const TemporaryFolder folder;
  const std::string first = WriteText(folder.File("a.a3m"), ">q\nMKV\n>a\nMKI\n"),
                    second = WriteText(folder.File("b.sto"), "# STOCKHOLM 1.0\nq MKV\nb M-V\na MKI\n//\n"),
                    other = WriteText(folder.File("c.a3m"), ">q\nMKL\n");
  const AlignmentTable table = ReadTable({first, second});
  EXPECT_EQ(table.read, 5);
  EXPECT_EQ(table.distinct, 3);
  EXPECT_EQ(table.rows[2].residues, (std::vector<std::uint8_t>{12, kGap, 19}));
  EXPECT_THAT(ErrorOf([&] { ReadTable({first, other}); }), HasSubstr("c.a3m: its query"));
  EXPECT_THAT(ErrorOf([&] { ReadTable({}); }), HasSubstr("no alignment"));
  EXPECT_THAT(ErrorOf([&] { ReadTable({first}, {.most_cells = 5}); }), HasSubstr("too few for the query"));
}

// Checks that each row except the query is kept with equal probability. The profile is computed from all rows.
TEST(AlignmentTable, KeepsAUniformSampleOfTooManyRows) {
  const TemporaryFolder folder;
  constexpr std::string_view kLetters = "ARNDCQEGHILKMFPSTWYV";
  std::string text = ">q\nWW\n";
  for (const char letter : kLetters) text += std::string(">r\n") + letter + "A\n";
  const std::string path = WriteText(folder.File("a.a3m"), text);
  std::vector<int> held(20);
  constexpr int kDraws = 4000;
  for (int seed = 0; seed < kDraws; ++seed) {
    const AlignmentTable table = ReadTable({path}, {.most_cells = 2 * 6, .seed = static_cast<std::uint64_t>(seed)});
    ASSERT_EQ(table.rows.size(), 6U);
    EXPECT_EQ(table.distinct, 21);
    EXPECT_THAT(table.rows[0].residues, ElementsAre(17, 17));
    for (std::size_t row = 1; row < 6; ++row) ++held[table.rows[row].residues[0]];
    EXPECT_FLOAT_EQ(table.profile[kAlignmentLetters], 20.0F / 21);
  }
  for (const int count : held) EXPECT_NEAR(count, kDraws / 4, 5 * std::sqrt(kDraws * 0.25 * 0.75));
}

TEST(AlignmentTable, OfASequenceHasOneRow) {
  const AlignmentTable table = TableOfSequence("mkX");
  EXPECT_THAT(table.rows[0].residues, ElementsAre(12, 11, 20));
  EXPECT_EQ(table.profile[12], 1);
  EXPECT_EQ(std::accumulate(table.profile.begin(), table.profile.end(), 0.0F), 3);
  Random random(0);
  const AlignmentChoices choices = DrawChoices(table, {}, random);
  EXPECT_EQ(FeaturesOf(table, choices).alignment.rows(), 3);
  EXPECT_THAT(ErrorOf([] { TableOfSequence(""); }), HasSubstr("without residues"));
  EXPECT_THAT(ErrorOf([] { TableOfSequence("M1"); }), HasSubstr("is not a letter"));
}

// Compares expected errors with OpenFold. tools/make_confidence_goldens.py describes the goldens.
TEST(PredictedError, ExpectationsEqualOpenFolds) {
  const Safetensors golden(HEADLIGHT_SOURCE_DIR "/headlight/protein/testdata/confidence.safetensors");
  for (const std::string size : {"small", "large"}) {
    const Tensor lddt = golden.Read(size + ".lddt_logits"), errors = golden.Read(size + ".error_logits");
    const std::int64_t residues = lddt.rows();
    const Matrix<const float> pairs = {errors.data<float>(), residues * residues, errors.columns(), errors.columns()};
    const std::vector<float> wanted_lddt = golden.Read(size + ".lddt").ToVector<float>(),
                             wanted_errors = golden.Read(size + ".errors").ToVector<float>();
    const std::vector<float> made_lddt = ExpectedLddt(lddt.matrix<float>()), made_errors = ExpectedErrors(pairs);
    ASSERT_EQ(made_lddt.size(), wanted_lddt.size());
    ASSERT_EQ(made_errors.size(), wanted_errors.size());
    for (std::size_t i = 0; i < made_lddt.size(); ++i) EXPECT_NEAR(made_lddt[i], wanted_lddt[i], 1e-3);
    for (std::size_t i = 0; i < made_errors.size(); ++i) EXPECT_NEAR(made_errors[i], wanted_errors[i], 1e-4);
    std::vector<float> sure(static_cast<std::size_t>(errors.columns()), -100);
    sure.back() = 100;
    EXPECT_EQ(ExpectedErrors({sure.data(), 1, errors.columns(), errors.columns()})[0],
              static_cast<float>(LargestExpectedError(errors.columns())));
    EXPECT_NEAR(ExpectedTmScore(pairs, residues), golden.Read(size + ".tm").data<float>()[0], 1e-6);
    EXPECT_THAT(ErrorOf([&] { ExpectedTmScore(pairs, residues + 1); }), HasSubstr("logits of"));
  }
  EXPECT_EQ(LargestExpectedError(64), 31.75);
  const std::vector<float> two(8);
  EXPECT_THAT(ErrorOf([&] { ExpectedErrors({two.data(), 4, 2, 2}); }), HasSubstr("errors are needed, not 2"));
}

// Compares template features for all residue types, including gaps, with some atoms missing.
TEST(TemplateFeatures, EqualOpenFolds) {
  const Safetensors golden(kAlphaFoldGoldens + "template_features.safetensors");
  const auto numbers = [&](const char* name) {
    return golden.Read(std::string("template_") + name, DType::float32).ToVector<float>();
  };
  const TemplateFeatures features = FeaturesOf(TemplatesOf(golden).front());
  const std::vector<std::int32_t> types = golden.Read("template_aatype", DType::int32).ToVector<std::int32_t>();
  EXPECT_EQ(features.types, types);
  EXPECT_EQ(features.beta.ToVector<float>(), numbers("pseudo_beta"));
  const std::vector<float> betas = numbers("pseudo_beta_mask"), atoms = numbers("all_atom_mask"),
                           torsions = numbers("torsion_angles_sin_cos"), others = numbers("alt_torsion_angles_sin_cos"),
                           known = numbers("torsion_angles_mask");
  for (std::size_t i = 0; i < types.size(); ++i) {
    EXPECT_EQ(features.beta_known[i], betas[i]) << i;
    EXPECT_EQ(features.backbone_known[i], atoms[i * kAtom37] * atoms[i * kAtom37 + 1] * atoms[i * kAtom37 + 2]) << i;
    const float* const row = features.angles.matrix<float>().row(static_cast<std::int64_t>(i));
    for (int type = 0; type < kAlignmentLetters; ++type) EXPECT_EQ(row[type], type == types[i] ? 1 : 0);
    for (std::size_t part = 0; part < 14; ++part) {
      EXPECT_NEAR(row[22 + part], torsions[14 * i + part], 1e-4) << i << " " << part;
      EXPECT_NEAR(row[36 + part], others[14 * i + part], 1e-4) << i << " " << part;
    }
    for (std::size_t torsion = 0; torsion < 7; ++torsion) EXPECT_EQ(row[50 + torsion], known[7 * i + torsion]) << i;
    EXPECT_EQ(row[kPsiKnown], known[7 * i + 2]);
  }
}

}  // namespace
}  // namespace headlight::folding_features_test
