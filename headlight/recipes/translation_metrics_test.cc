#include "headlight/recipes/translation_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/text/metrics/bleu.h"
#include "headlight/text/metrics/bleu_tokenizer.h"
#include "headlight/text/metrics/bootstrap.h"
#include "headlight/text/metrics/ter.h"

namespace headlight::translation_metrics_test {
namespace {

using testing::HasSubstr;

using Lines = std::vector<std::string>;

const std::string kModels = HEADLIGHT_SOURCE_DIR "/headlight/text/tokenizers/testdata/";

// Returns the results of sacreBLEU (tools/make_bleu_goldens.py).
const JsonView& Golden() {
  static const JsonView golden = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/text/metrics/testdata/bleu.json");
  return golden;
}

std::vector<Lines> References(const JsonView& golden) {
  std::vector<Lines> references;
  for (const JsonView& lines : golden["references"].Items()) references.push_back(lines.Strings());
  return references;
}

bool IsModel(const std::string& tokenization) { return tokenization.ends_with(".model"); }

// Returns the metrics of a golden file, in the order of the file.
std::vector<TranslationMetric> MetricsOf(const JsonView& golden, const std::string& tokenization = "13a",
                                         bool lowercase = false) {
  TranslationMetricOptions options{.metrics = {"bleu", "chrf", "chrf++", "ter"}, .lowercase = lowercase};
  if (IsModel(tokenization))
    options.spm = kModels + tokenization;
  else
    options.tokenization = tokenization;
  return MakeTranslationMetrics(options, golden["references"].Items().size());
}

// Returns the signature without our additions, which sacreBLEU does not have.
std::string Foreign(std::string text) {
  constexpr std::string_view kOurs = "|by:headlight";
  const std::size_t at = text.find(kOurs);
  return at == std::string::npos ? "no mark in " + text : text.erase(at, kOurs.size());
}

TEST(BleuTokenizer, EqualsSacreBleu) {
  int compared = 0;
  for (const JsonView& golden : Golden()["tokenizations"].Items()) {
    const std::string name = golden["name"].String();
    const BleuTokenizer tokenizer = IsModel(name) ? ReadBleuTokenizer(kModels + name) : MakeBleuTokenizer(name);
    for (const JsonView& line : golden["lines"].Items()) {
      EXPECT_EQ(tokenizer.words(line["line"].String()), line["words"].Strings())
          << name << ": " << line["line"].String();
      ++compared;
    }
  }
  EXPECT_GT(compared, 150);
}

TEST(BleuTokenizer, RefusesUnknownNames) {
  EXPECT_THAT(ErrorOf([] { MakeBleuTokenizer("ja-mecab"); }), HasSubstr("not \"ja-mecab\""));
  EXPECT_THAT(ErrorOf([] { ReadBleuTokenizer(kModels + "family_t5.json"); }), HasSubstr("family_t5.json"));
  EXPECT_THAT(ErrorOf([] { ReadBleuTokenizer("/none.model"); }), HasSubstr("/none.model"));
}

TEST(TranslationMetrics, EqualSacreBleu) {
  int sentences = 0;
  for (const JsonView& golden : Golden()["metrics"].Items()) {
    SCOPED_TRACE(golden["name"].String());
    const Lines hypotheses = golden["hypotheses"].Strings();
    const std::vector<Lines> references = References(golden);
    const auto metrics = MetricsOf(golden, golden["tokenization"].String(), golden["lowercase"].Bool());
    const std::vector<JsonView> scores = golden["scores"].Items();
    ASSERT_EQ(metrics.size(), scores.size());
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      SCOPED_TRACE(metrics[i].keys.name);
      ASSERT_EQ(metrics[i].keys.name, scores[i]["metric"].String());
      const auto lines = StatisticsOfLines(metrics[i], hypotheses, references);
      const std::vector<double> sums = SumOfLines(lines);
      EXPECT_NEAR(metrics[i].score(sums), scores[i]["score"].Number(), 1e-9);
      EXPECT_EQ(Foreign(metrics[i].text(sums)), scores[i]["line"].String());
      EXPECT_EQ(Foreign(metrics[i].sentence_signature), scores[i]["sentence_signature"].String());
      const std::vector<JsonView> alone = scores[i]["sentences"].Items();
      ASSERT_EQ(lines.size(), alone.size());
      for (std::size_t line = 0; line < lines.size(); ++line) {
        EXPECT_NEAR(metrics[i].sentence_score(lines[line]), alone[line].Number(), 1e-9) << hypotheses[line] << "\n"
                                                                                        << references[0][line];
        ++sentences;
      }
    }
  }
  EXPECT_GT(sentences, 500);
}

TEST(CorpusTer, CountsShiftsOnce) {
  const Lines hypotheses = {"c d e a b"};
  const std::vector<Lines> references = {{"A B c d e"}};
  const Ter ter = CorpusTer(hypotheses, references);
  EXPECT_EQ(ter.edits, 1);
  EXPECT_EQ(ter.reference_length, 5);
  EXPECT_NEAR(ter.score, 20, 1e-12);
}

TEST(CorpusTer, BoundsLongLines) {
  std::string line;
  for (int i = 0; i < 3000; ++i) line += i % 3 == 0 ? "a " : "b ";
  const Lines hypotheses = {line}, reversed = {std::string(line.rbegin(), line.rend())};
  const std::vector<Lines> references = {reversed};
  EXPECT_GT(CorpusTer(hypotheses, references).score, 0);
  std::string spaced;
  for (int i = 0; i < 100'001; ++i) spaced += "a ";
  EXPECT_THAT(ErrorOf([&] { CorpusTer(Lines{spaced}, std::vector<Lines>{{"a"}}); }),
              HasSubstr("a line has 100001 words"));
}

TEST(TranslationMetrics, RefuseUnknownNames) {
  EXPECT_THAT(ErrorOf([] { MakeTranslationMetrics({.metrics = {"meteor"}}, 1); }), HasSubstr("not \"meteor\""));
  EXPECT_THAT(ErrorOf([] { MakeTranslationMetrics({.metrics = {"ter"}, .tokenization = "zh"}, 1); }),
              HasSubstr("`tokenization` is for BLEU"));
  EXPECT_THAT(ErrorOf([] { MakeTranslationMetrics({.metrics = {"ter"}, .spm = "x"}, 1); }),
              HasSubstr("`spm` is for BLEU"));
  EXPECT_EQ(MakeTranslationMetrics({.metrics = {"ter", "bleu", "ter"}}, 1).size(), 2u);
}

TEST(NumpyChoice, EqualsNumpy) {
  const std::vector<std::pair<std::uint64_t, std::uint32_t>> made = {
      {12345, 7}, {0, 1}, {std::uint64_t{1} << 40, 1000}, {5, (std::uint32_t{1} << 31) + 3}};
  const std::vector<JsonView> goldens = Golden()["paired"]["choices"].Items();
  ASSERT_EQ(made.size(), goldens.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    NumpyChoice choice(made[i].first, made[i].second);
    for (const JsonView& number : goldens[i].Items()) EXPECT_EQ(choice(), number.Integer()) << i;
  }
}

TEST(PairedBootstrap, EqualsSacreBleu) {
  const JsonView golden = Golden()["paired"];
  const auto metrics = MetricsOf(golden);
  const std::vector<JsonView> expected = golden["metrics"].Items();
  ASSERT_EQ(metrics.size(), expected.size());
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    SCOPED_TRACE(metrics[i].keys.name);
    const auto system = StatisticsOfLines(metrics[i], golden["hypotheses"].Strings(), References(golden));
    const auto baseline = StatisticsOfLines(metrics[i], golden["baseline"].Strings(), References(golden));
    const PairedBootstrap paired = ComparePaired(system, baseline, metrics[i].score, golden["samples"].Integer());
    EXPECT_NEAR(paired.system.mean, expected[i]["mean"].Number(), 1e-9);
    EXPECT_NEAR(paired.system.half_width, expected[i]["half_width"].Number(), 1e-9);
    EXPECT_NEAR(paired.baseline.mean, expected[i]["baseline_mean"].Number(), 1e-9);
    EXPECT_NEAR(paired.baseline.half_width, expected[i]["baseline_half_width"].Number(), 1e-9);
    EXPECT_NEAR(paired.p_value, expected[i]["p_value"].Number(), 1e-12);

    const PairedBootstrap same = ComparePaired(system, system, metrics[i].score, 100);
    EXPECT_EQ(same.system.mean, same.baseline.mean);
    EXPECT_NEAR(same.p_value, 1.0 / 101, 1e-12);  // as in sacreBLEU: no sample differs by more
  }
}

TEST(PairedBootstrap, RefusesUnequalNumbersOfLines) {
  const std::vector<std::vector<double>> one(1, {1, 2}), two(2, {1, 2});
  EXPECT_THAT(ErrorOf([&] { ComparePaired(one, two, TerOf); }), HasSubstr("the baseline has 2 lines"));
  EXPECT_THAT(ErrorOf([&] { ComparePaired({}, {}, TerOf); }), HasSubstr("0 lines"));
  EXPECT_THAT(ErrorOf([&] { ComparePaired(one, one, TerOf, 0); }), HasSubstr("at least one sample"));
}

}  // namespace
}  // namespace headlight::translation_metrics_test
