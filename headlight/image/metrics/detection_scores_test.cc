#include "headlight/image/metrics/detection_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"

namespace headlight::detection_scores_test {
namespace {

std::vector<double> Numbers(const JsonView& array) {
  std::vector<double> numbers;
  for (const JsonView& item : array.Items()) numbers.push_back(item.Number());
  return numbers;
}

// Compares the scores with goldens from tools/make_detection_score_goldens.py.
TEST(DetectionMatches, MatchesPycocotools) {
  const JsonView cases = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/image/metrics/testdata/detection_scores.json");
  for (const JsonView& golden : cases.Items()) {
    SCOPED_TRACE(golden.location());
    DetectionMatches matches(static_cast<std::int32_t>(golden["classes"].Integer()));
    for (const JsonView& image : golden["images"].Items()) {
      std::vector<LabeledBox> truth;
      for (const JsonView& box : image["truth"].Items()) {
        const std::vector<double> n = Numbers(box);
        truth.push_back({{n[0], n[1], n[2], n[3]}, static_cast<std::int32_t>(n[4]), n[5], n[6] != 0});
      }
      std::vector<FoundBox> found;
      for (const JsonView& box : image["found"].Items()) {
        const std::vector<double> n = Numbers(box);
        found.push_back({{n[0], n[1], n[2], n[3]}, static_cast<std::int32_t>(n[4]), n[5]});
      }
      matches.Add(truth, found);
    }
    const DetectionScores scores = matches.Scores();
    const std::vector<double> expected = Numbers(golden["stats"]);
    const std::vector<double> actual = {scores.ap,        scores.ap50,     scores.ap75,      scores.ap_small,
                                        scores.ap_medium, scores.ap_large, scores.ar1,       scores.ar10,
                                        scores.ar100,     scores.ar_small, scores.ar_medium, scores.ar_large};
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(std::isnan(actual[i]) ? -1 : actual[i], expected[i], 1e-9) << i;
  }
}

TEST(DetectionMatches, PerfectBoxesHaveAScoreOfOne) {
  DetectionMatches matches(3);
  const Box small = {10, 10, 20, 20}, large = {0, 0, 200, 100};
  const std::vector<LabeledBox> truth = {{small, 0, small.area()}, {large, 2, large.area()}};
  const std::vector<FoundBox> found = {{large, 2, 0.9}, {small, 0, 0.5}};
  matches.Add(truth, found);
  const DetectionScores scores = matches.Scores();
  EXPECT_EQ(scores.ap, 1);
  EXPECT_EQ(scores.ar1, 1);
  EXPECT_EQ(scores.ap_small, 1);
  EXPECT_EQ(scores.ap_large, 1);
  EXPECT_TRUE(std::isnan(scores.ap_medium));
  EXPECT_EQ(scores.class_ap50[0], 1);
  EXPECT_TRUE(std::isnan(scores.class_ap[1]));  // there are no objects of this class
}

TEST(DetectionMatches, RefusesInvalidDetections) {
  DetectionMatches matches(2);
  const std::vector<FoundBox> foreign = {{{0, 0, 1, 1}, 2, 0.5}}, unsure = {{{0, 0, 1, 1}, 1, NAN}},
                              endless = {{{0, 0, INFINITY, 1}, 1, 0.5}};
  EXPECT_THAT(ErrorOf([&] { matches.Add({}, foreign); }), testing::HasSubstr("class 2 is out of range"));
  EXPECT_THAT(ErrorOf([&] { matches.Add({}, unsure); }), testing::HasSubstr("score"));
  EXPECT_THAT(ErrorOf([&] { matches.Add({}, endless); }), testing::HasSubstr("side"));
}

}  // namespace
}  // namespace headlight::detection_scores_test
