#include "headlight/text/metrics/rouge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/text/metrics/porter_stemmer.h"

namespace headlight::rouge_test {
namespace {

// Returns the goldens, which tools/make_rouge_goldens.py computes with rouge-score and NLTK.
const JsonView& Golden() {
  static const JsonView golden = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/text/metrics/testdata/rouge.json");
  return golden;
}

TEST(PorterStem, MatchesNltk) {
  for (const auto& [word, stem] : Golden()["stems"].Members()) EXPECT_EQ(PorterStem(word), stem.String()) << word;
}

void ExpectEqual(const RougeScore& score, const JsonView& golden) {
  const std::vector<JsonView> numbers = golden.Items();
  EXPECT_NEAR(score.precision, numbers.at(0).Number(), 1e-12) << golden.location();
  EXPECT_NEAR(score.recall, numbers.at(1).Number(), 1e-12) << golden.location();
  EXPECT_NEAR(score.f1, numbers.at(2).Number(), 1e-12) << golden.location();
}

TEST(Rouge, MatchesRougeScore) {
  for (const JsonView& golden : Golden()["cases"].Items()) {
    const Rouge rouge = RougeOf(golden["text"].String(), golden["reference"].String(), golden["stem"].Bool());
    ExpectEqual(rouge.rouge1, golden["rouge1"]);
    ExpectEqual(rouge.rouge2, golden["rouge2"]);
    ExpectEqual(rouge.rouge_l, golden["rougeL"]);
    ExpectEqual(rouge.rouge_lsum, golden["rougeLsum"]);
  }
}

TEST(Rouge, IsTheMeanOverTexts) {
  const std::string texts[] = {"a b", "c"}, references[] = {"a b", "d"};
  const Rouge mean = MeanRouge(texts, references, false);
  EXPECT_DOUBLE_EQ(mean.rouge1.f1, 0.5);
  EXPECT_DOUBLE_EQ(mean.rouge2.f1, 0.5);
  EXPECT_DOUBLE_EQ(mean.rouge_l.recall, 0.5);
  EXPECT_THAT(ErrorOf([&] { MeanRouge(texts, {references, 1}, false); }), testing::HasSubstr("with 1 references"));
}

}  // namespace
}  // namespace headlight::rouge_test
