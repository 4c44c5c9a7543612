#include "headlight/protein/predicted_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"

namespace headlight {
namespace {

using testing::HasSubstr;

TEST(PredictedError, IsWrittenAsTheDatabaseDoes) {
  std::vector<float> errors = {0.25F, 3.14F, 31.75F, 0};
  const auto write = [&](std::int64_t rows) { return WritePredictedErrors({errors.data(), rows, 2, 2}); };
  const Json json = ParseJson(write(2), "errors");
  const Json& object = json.As<Json::Array>()->at(0);
  EXPECT_EQ(*object.Find("predicted_aligned_error"), "[[0.2, 3.1], [31.8, 0.0]]"_json);
  EXPECT_EQ(*object.Find("max_predicted_aligned_error"), "31.75"_json);
  EXPECT_THAT(ErrorOf([&] { write(1); }), HasSubstr("1 x 2 residues, which must be square"));
  for (const float bad : {-1.0F, 32.0F, std::numeric_limits<float>::quiet_NaN()}) {
    errors[1] = bad;
    EXPECT_THAT(ErrorOf([&] { write(2); }), HasSubstr("the predicted error of residues 1 and 2 is"));
  }
}

// Against OpenFold: tools/make_confidence_goldens.py.
TEST(PredictedError, ExpectationsAreOpenFolds) {
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
    EXPECT_NEAR(ExpectedTmScore(pairs, residues), golden.Read(size + ".tm").data<float>()[0], 1e-6);
    EXPECT_THAT(ErrorOf([&] { ExpectedTmScore(pairs, residues + 1); }), HasSubstr("logits of"));
  }
  const std::vector<float> two(8);
  EXPECT_THAT(ErrorOf([&] { ExpectedErrors({two.data(), 4, 2, 2}); }), HasSubstr("2 bins of errors"));
}

}  // namespace
}  // namespace headlight
