#include "headlight/text/metrics/bleu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/json.h"
#include "headlight/base/test_support.h"
#include "headlight/text/metrics/chrf.h"
#include "headlight/text/metrics/ter.h"
#include "headlight/text/metrics/tokenize_13a.h"

namespace headlight::bleu_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Lines = std::vector<std::string>;

// Returns the goldens, which tools/make_bleu_goldens.py computes with sacreBLEU.
const JsonView& Golden() {
  static const JsonView golden = ReadJson(HEADLIGHT_SOURCE_DIR "/headlight/text/metrics/testdata/bleu.json");
  return golden;
}

std::vector<Lines> References(const JsonView& golden) {
  std::vector<Lines> references;
  for (const JsonView& lines : golden["references"].Items()) references.push_back(lines.Strings());
  return references;
}

TEST(Tokenize13a, MatchesSacreBleu) {
  for (const JsonView& golden : Golden()["tokenized"].Items()) {
    const std::string line = golden["line"].String();
    EXPECT_EQ(Tokenize13a(line), golden["words"].Strings()) << line;
    EXPECT_EQ(LowerCase(line), golden["lower"].String()) << line;
  }
}

TEST(CorpusBleu, MatchesSacreBleu) {
  for (const JsonView& golden : Golden()["cases"].Items()) {
    SCOPED_TRACE(golden["name"].String());
    const Bleu bleu =
        CorpusBleu(golden["hypotheses"].Strings(), References(golden), {.lowercase = golden["lowercase"].Bool()});
    EXPECT_NEAR(bleu.score, golden["bleu"].Number(), 1e-9);
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_NEAR(bleu.precisions[n], golden["precisions"].Items()[n].Number(), 1e-9);
      EXPECT_EQ(bleu.matches[n], golden["matches"].Items()[n].Integer());
      EXPECT_EQ(bleu.totals[n], golden["totals"].Items()[n].Integer());
    }
    EXPECT_NEAR(bleu.brevity_penalty, golden["brevity_penalty"].Number(), 1e-12);
    EXPECT_EQ(bleu.hypothesis_length, golden["hypothesis_length"].Integer());
    EXPECT_EQ(bleu.reference_length, golden["reference_length"].Integer());

    std::string line = ToString(bleu);
    const std::size_t ours = line.find("|by:headlight");
    ASSERT_NE(ours, std::string::npos);
    EXPECT_EQ(line.erase(ours, std::string_view("|by:headlight").size()), golden["bleu_line"].String());
  }
}

TEST(CorpusChrf, MatchesSacreBleu) {
  for (const JsonView& golden : Golden()["cases"].Items()) {
    SCOPED_TRACE(golden["name"].String());
    const Chrf chrf =
        CorpusChrf(golden["hypotheses"].Strings(), References(golden), {.lowercase = golden["lowercase"].Bool()});
    EXPECT_NEAR(chrf.score, golden["chrf"].Number(), 1e-9);
    std::string line = ToString(chrf);
    const std::size_t ours = line.find("|by:headlight");
    ASSERT_NE(ours, std::string::npos);
    EXPECT_EQ(line.erase(ours, std::string_view("|by:headlight").size()), golden["chrf_line"].String());
  }
}

// Checks that the goldens have examples of every rule.
TEST(CorpusBleu, GoldensCoverEveryRule) {
  std::size_t smoothed = 0, short_ones = 0, case_matters = 0;
  for (const JsonView& golden : Golden()["cases"].Items()) {
    const double bleu = golden["bleu"].Number();
    smoothed += bleu > 0 && golden["matches"].Items()[3].Integer() == 0;
    short_ones += bleu > 0 && golden["brevity_penalty"].Number() < 1;
    for (const JsonView& other : Golden()["cases"].Items())
      case_matters += golden["name"].String() == other["name"].String() && !golden["lowercase"].Bool() &&
                      other["lowercase"].Bool() && bleu < other["bleu"].Number() &&
                      golden["chrf"].Number() < other["chrf"].Number();
  }
  EXPECT_GE(smoothed, 2u);
  EXPECT_GE(short_ones, 1u);
  EXPECT_GE(case_matters, 4u);
}

TEST(CorpusBleu, ReportsCountsThatDiffer) {
  const auto failure = [](const Lines& hypotheses, const std::vector<Lines>& references) {
    const std::string bleu = ErrorOf([&] { CorpusBleu(hypotheses, references); });
    EXPECT_EQ(bleu, ErrorOf([&] { CorpusChrf(hypotheses, references); }));
    EXPECT_EQ(bleu, ErrorOf([&] { CorpusTer(hypotheses, references); }));
    return bleu;
  };
  EXPECT_THAT(failure({"a", "b"}, {{"a"}}), AllOf(HasSubstr("2 lines"), HasSubstr("the reference has 1")));
  EXPECT_THAT(failure({"a"}, {{"a"}, {"a", "b", "c"}}), HasSubstr("reference 2 has 3"));
  EXPECT_THAT(failure({}, {{}}), HasSubstr("no hypothesis"));
  EXPECT_THAT(failure({"a"}, {}), HasSubstr("no reference"));
  EXPECT_THAT(failure({"a", "sch\xF6n"}, {{"a", "b"}}), HasSubstr("hypothesis, line 2: byte 3"));
  EXPECT_THAT(failure({"a", "b"}, {{"a", "b"}, {"\xC3", "b"}}), HasSubstr("reference 2, line 1:"));
}

}  // namespace
}  // namespace headlight::bleu_test
