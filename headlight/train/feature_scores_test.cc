#include "headlight/train/feature_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/base/parallel.h"
#include "headlight/base/random.h"
#include "headlight/base/test_support.h"

namespace headlight::feature_scores_test {
namespace {

using testing::HasSubstr;

// Reference values of scikit-learn, written by tools/make_class_score_goldens.py.
struct Golden {
  JsonView json = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/text/metrics/testdata/class_scores.json")["features"];

  Tensor Vectors(const char* name) const {
    std::vector<float> numbers;
    for (const JsonView& number : json[name].Items()) numbers.push_back(static_cast<float>(number.Number()));
    const std::int64_t dimension = json["dimension"].Integer();
    return Tensor::From<float>(numbers, {std::ssize(numbers) / dimension, dimension});
  }
  std::vector<std::int32_t> Classes(const char* name) const {
    std::vector<std::int32_t> classes;
    for (const JsonView& one : json[name].Items()) classes.push_back(static_cast<std::int32_t>(one.Integer()));
    return classes;
  }
  LabeledFeatures Known() const { return {Vectors("known"), Classes("known_classes")}; }
};

TEST(NeighborClasses, MatchScikitLearn) {
  const Golden golden;
  const auto found = NeighborClasses(golden.Known(), golden.Vectors("asked"), golden.json["neighbours"].Integer());
  EXPECT_EQ(found, golden.Classes("neighbour_classes"));
  EXPECT_NE(found, golden.Classes("asked_classes"));  // some predictions are wrong, so the comparison is not trivial
  EXPECT_THAT(ErrorOf([&] { NeighborClasses(golden.Known(), golden.Vectors("asked"), 61); }),
              HasSubstr("there are 60 labeled examples"));
  EXPECT_THAT(ErrorOf([&] { NeighborClasses(golden.Known(), Tensor::Zeros({1, 5}), 1); }), HasSubstr("5 numbers"));
}

TEST(NeighborAccuracy, VotesByCosineLeavingOneOut) {
  // The vectors of each class have similar directions and different lengths. One vector is closest to the vectors of
  // the other class.
  const Tensor vectors = Tensor::From<float>({1, 0, 5, 0.1F, 2, -0.1F, 0, 1, 0.1F, 3, 9, 0.5F}, {6, 2});
  EXPECT_NEAR(NeighborAccuracy({vectors, {0, 0, 0, 1, 1, 1}}, 2), 100.0 * 5 / 6, 1e-9);
  EXPECT_EQ(NeighborAccuracy({vectors, {0, 0, 0, 1, 1, 0}}, 1), 100);
  EXPECT_EQ(NeighborAccuracy({Tensor::From<float>({1, 0}, {1, 2}), {0}}, 3), 0);  // there is no other vector
}

TEST(LinearProbe, MatchesScikitLearn) {
  const Golden golden;
  const LinearProbe probe(golden.Known());
  EXPECT_TRUE(probe.converged());
  const std::vector<double> found = probe.Probabilities(golden.Vectors("asked"));
  const std::vector<JsonView> expected = golden.json["probabilities"].Items();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i].Number(), 2e-5) << i;
}

TEST(LinearProbe, DoesNotDependOnTheNumberOfThreads) {
  Random random(1);
  const Tensor vectors = Tensor::Empty({90, 5});
  std::vector<std::int32_t> classes;
  for (float& number : vectors.span<float>()) number = static_cast<float>(random.Normal());
  for (std::int32_t i = 0; i < 90; ++i) classes.push_back(i % 3);
  const int before = Threads();
  SetThreads(1);
  const std::vector<double> one = LinearProbe({vectors, classes}).Probabilities(vectors);
  SetThreads(3);
  EXPECT_EQ(LinearProbe({vectors, classes}).Probabilities(vectors), one);
  SetThreads(before);
}

TEST(LinearProbe, AcceptsConstantFeaturesAndRefusesOneClass) {
  const Tensor vectors = Tensor::From<float>({7, 1, 7, 2, 7, -1, 7, -2}, {4, 2});
  EXPECT_EQ(LinearProbe({vectors, {1, 1, 0, 0}}).Classes(vectors), (std::vector<std::int32_t>{1, 1, 0, 0}));
  EXPECT_THAT(ErrorOf([&] { LinearProbe({vectors, {1, 1, 1, 1}}); }), HasSubstr("two classes"));
}

}  // namespace
}  // namespace headlight::feature_scores_test
