#include "headlight/train/objectives/class_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/test_support.h"

namespace headlight::class_weights_test {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kLabels = {"O", "x=y", "none"};

std::vector<double> Weights(std::string_view rule) {
  TextExample text;
  text.labels = {0, 0, 0, 1, -1};  // no text has the third label
  return ClassWeights(rule, kLabels, {text, {}});
}

TEST(ClassWeights, BalancedOnesMatchScikitLearn) {
  // The expected weights are texts / (classes * count), over the classes that occur.
  EXPECT_THAT(Weights("balanced"),
              ElementsAre(DoubleNear(4.0 / (2 * 3), 1e-12), DoubleNear(4.0 / (2 * 1), 1e-12), DoubleNear(2.0, 1e-12)));
}

TEST(ClassWeights, GivenOnesAreScaledToAMeanOfOne) {
  // The mean of three labels of weight 1 and one label of weight 5 is 2.
  EXPECT_THAT(Weights("x=y=5"), ElementsAre(0.5, 2.5, 0.5));
  EXPECT_THAT(Weights("x=y=2.5,O=0.5"), ElementsAre(0.5, 2.5, 1));
}

TEST(ClassWeights, RefuseOtherRules) {
  const auto refused = [](std::string_view rule) { return ErrorOf([&] { Weights(rule); }); };
  EXPECT_THAT(refused("even"), HasSubstr("not 'even'"));
  EXPECT_EQ(refused("O=1,"), "");
  EXPECT_THAT(refused("O=1,,"), HasSubstr("not ''"));
  EXPECT_THAT(refused("P=1"), AllOf(HasSubstr("'P'"), HasSubstr("O, x=y, none")));
  EXPECT_THAT(refused("O=1,O=2"), HasSubstr("'O' has two weights"));
  for (const char* number : {"0", "-1", "nan", "inf", "1e999", "", "1x"})
    EXPECT_THAT(refused(std::string("O=") + number), HasSubstr("the weight of 'O'"));
}

}  // namespace
}  // namespace headlight::class_weights_test
