#include "headlight/protein/predicted_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"

namespace headlight::predicted_error_test {
namespace {

using testing::HasSubstr;

TEST(PredictedError, HasTheFormatOfTheDatabase) {
  std::vector<float> errors = {0.25F, 3.14F, 31.75F, 0};
  const auto write = [&](std::int64_t rows) { return WritePredictedErrors({errors.data(), rows, 2, 2}); };
  const Json json = ParseJson(write(2), "errors");
  const Json& object = json.As<Json::Array>()->at(0);
  EXPECT_EQ(*object.Find("predicted_aligned_error"), "[[0.2, 3.1], [31.8, 0.0]]"_json);
  EXPECT_EQ(*object.Find("max_predicted_aligned_error"), "31.75"_json);
  EXPECT_THAT(ErrorOf([&] { write(1); }), HasSubstr("not 1 x 2"));
  for (const float bad : {-1.0F, 32.0F, std::numeric_limits<float>::quiet_NaN()}) {
    errors[1] = bad;
    EXPECT_THAT(ErrorOf([&] { write(2); }), HasSubstr("residues 1 and 2 is"));
  }
}

TEST(PredictedError, ExpectsDistances) {
  // Each row has 64 bins. The probability is concentrated in the first bin, the second bin, the last bin, and two
  // adjacent bins, respectively.
  std::vector<float> logits(4 * 64, -100);
  logits[0] = logits[64 + 1] = logits[2 * 64 + 63] = logits[3 * 64 + 1] = logits[3 * 64 + 2] = 100;
  const std::vector<float> distances = ExpectedDistances({logits.data(), 4, 64, 64});
  EXPECT_NEAR(distances[0], 2.15625, 1e-4);
  EXPECT_NEAR(distances[1], 2.46875, 1e-4);
  EXPECT_NEAR(distances[2], 21.84375, 1e-4);
  EXPECT_NEAR(distances[3], 2.625, 1e-4);
  EXPECT_THAT(ErrorOf([&] { ExpectedDistances({logits.data(), 4, 2, 2}); }), HasSubstr("needed, not 2"));
}

// Checks that the first 19 of 64 bins (up to 7.9375 angstrom) count as contacts.
TEST(PredictedError, GivesContactProbabilities) {
  std::vector<float> logits(4 * 64);
  logits[18] = logits[64 + 19] = logits[2 * 64] = 50;
  const std::vector<float> touch = ContactProbabilities({logits.data(), 4, 64, 64});
  EXPECT_NEAR(touch[0], 1, 1e-6);
  EXPECT_NEAR(touch[1], 0, 1e-6);
  EXPECT_NEAR(touch[2], 1, 1e-6);
  EXPECT_NEAR(touch[3], 19.0 / 64, 1e-6);
}

}  // namespace
}  // namespace headlight::predicted_error_test
