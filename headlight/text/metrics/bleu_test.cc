#include "headlight/text/metrics/bleu.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "headlight/base/error.h"
#include "headlight/text/metrics/chrf.h"
#include "headlight/text/metrics/tokenize_13a.h"

namespace headlight {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

// What sacreBLEU says (tools/make_bleu_goldens.py).
const json& Golden() {
  static const json golden =
      json::parse(std::ifstream(HEADLIGHT_SOURCE_DIR "/headlight/text/metrics/testdata/bleu.json"));
  return golden;
}

std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Tokenize13a, AsSacreBleu) {
  for (const json& golden : Golden()["tokenized"]) {
    const std::string line = golden["line"];
    EXPECT_EQ(Tokenize13a(line), golden["words"].get<Lines>()) << line;
    EXPECT_EQ(LowerCase(line), golden["lower"]) << line;
  }
}

TEST(CorpusBleu, AsSacreBleu) {
  for (const json& golden : Golden()["cases"]) {
    SCOPED_TRACE(golden["name"]);
    const Bleu bleu = CorpusBleu(golden["hypotheses"].get<Lines>(), golden["references"].get<std::vector<Lines>>(),
                                 golden["lowercase"]);
    EXPECT_NEAR(bleu.score, golden["bleu"], 1e-9);
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_NEAR(bleu.precisions[n], golden["precisions"][n], 1e-9);
      EXPECT_EQ(bleu.matches[n], golden["matches"][n]);
      EXPECT_EQ(bleu.totals[n], golden["totals"][n]);
    }
    EXPECT_NEAR(bleu.brevity_penalty, golden["brevity_penalty"], 1e-12);
    EXPECT_EQ(bleu.hypothesis_length, golden["hypothesis_length"]);
    EXPECT_EQ(bleu.reference_length, golden["reference_length"]);

    std::string line = ToString(bleu);
    const std::size_t ours = line.find("|by:headlight");
    ASSERT_NE(ours, std::string::npos);
    EXPECT_EQ(line.erase(ours, std::string_view("|by:headlight").size()), golden["bleu_line"]);
  }
}

TEST(CorpusChrf, AsSacreBleu) {
  for (const json& golden : Golden()["cases"]) {
    SCOPED_TRACE(golden["name"]);
    const Chrf chrf = CorpusChrf(golden["hypotheses"].get<Lines>(), golden["references"].get<std::vector<Lines>>(),
                                 golden["lowercase"]);
    EXPECT_NEAR(chrf.score, golden["chrf"], 1e-9);
    std::string line = ToString(chrf);
    const std::size_t ours = line.find("|by:headlight");
    ASSERT_NE(ours, std::string::npos);
    EXPECT_EQ(line.erase(ours, std::string_view("|by:headlight").size()), golden["chrf_line"]);
  }
}

// The goldens would tell a score that forgot one of its rules.
TEST(CorpusBleu, TheGoldensHaveWhatTheRulesAreFor) {
  std::size_t smoothed = 0, short_ones = 0, case_matters = 0;
  for (const json& golden : Golden()["cases"]) {
    smoothed += golden["bleu"] > 0.0 && golden["matches"][3] == 0;
    short_ones += golden["bleu"] > 0.0 && golden["brevity_penalty"] < 1.0;
    for (const json& other : Golden()["cases"])
      case_matters += golden["name"] == other["name"] && golden["lowercase"] < other["lowercase"] &&
                      golden["bleu"] < other["bleu"] && golden["chrf"] < other["chrf"];
  }
  EXPECT_GE(smoothed, 2u);
  EXPECT_GE(short_ones, 1u);
  EXPECT_GE(case_matters, 4u);
}

TEST(CorpusBleu, NamesWhatDoesNotFit) {
  const auto failure = [](const Lines& hypotheses, const std::vector<Lines>& references) {
    const std::string bleu = ErrorOf([&] { CorpusBleu(hypotheses, references); });
    EXPECT_EQ(bleu, ErrorOf([&] { CorpusChrf(hypotheses, references); }));
    return bleu;
  };
  EXPECT_EQ(failure({"a", "b"}, {{"a"}}), "the hypothesis has 2 lines, the reference has 1: each needs the other");
  EXPECT_EQ(failure({"a"}, {{"a"}, {"a", "b", "c"}}),
            "the hypothesis has 1 lines, reference 2 has 3: each needs the other");
  EXPECT_EQ(failure({}, {{}}), "there is no hypothesis to score");
  EXPECT_EQ(failure({"a"}, {}), "there is no reference to compare with");
  EXPECT_EQ(failure({"a", "sch\xF6n"}, {{"a", "b"}}), "the hypothesis, line 2: byte 3 is not UTF-8");
  EXPECT_EQ(failure({"a", "b"}, {{"a", "b"}, {"\xC3", "b"}}), "reference 2, line 1: byte 0 is not UTF-8");
}

}  // namespace
}  // namespace headlight
