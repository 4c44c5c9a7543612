#include <gmock/gmock.h>

#include <cmath>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/models/family.h"
#include "headlight/models/transformer.h"
#include "headlight/text/metrics/bleu.h"
#include "headlight/text/metrics/chrf.h"
#include "headlight/text/metrics/rouge.h"

namespace headlight::evaluate_test {
namespace {

using testing::HasSubstr;

double NumberIn(const std::string& json, std::string_view name) {
  return *ParseJson(json, "output").Find(name)->As<double>();
}

struct EvaluateTest : ProgramTest {
  const std::string source = Write("de", "Ein Hund läuft.\nZwei Kinder spielen.\n\n"),
                    reference = Write("en", "A dog runs.\nTwo children play.\n\n"), output = folder.File("out");
};

TEST_F(EvaluateTest, ScoresTheTranslationsOfTranslate) {
  const std::vector<std::string> arguments = {"evaluate", model, source, "--reference", reference, "--out", output};
  const Outcome outcome = RunProgram(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string translations = RunProgram({"translate", model, source}).out;
  EXPECT_EQ(ReadFile(output), translations);
  const std::vector<std::string> hypotheses = Lines(translations);
  const std::vector<std::vector<std::string>> references = {Lines(ReadFile(reference))};
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], ToString(CorpusBleu(hypotheses, references)));
  EXPECT_EQ(lines[1], ToString(CorpusChrf(hypotheses, references)));
  EXPECT_THAT(lines[2], testing::MatchesRegex("loss [0-9.]+, perplexity [0-9.]+ of [0-9]+ target tokens"));
}

TEST_F(EvaluateTest, ScoresGroupsAndTheWhole) {
  const std::string learned = Write("learned.de", "Ein Hund läuft.\nEin Hund schläft.\n");
  std::vector<std::string> arguments = {"evaluate", model,  source,    "--reference", reference,
                                        "--out",    output, "--train", learned};
  const Outcome outcome = RunProgram(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("rarest word"));
  const std::vector<std::string> hypotheses = Lines(ReadFile(output)), wanted = Lines(ReadFile(reference));
  arguments.push_back("--json");
  const Json json = ParseJson(RunProgram(arguments).out, "output");
  const Json::Array& groups = *json.Find("groups")->As<Json::Array>();
  ASSERT_GE(groups.size(), 5U);
  EXPECT_EQ(*groups[0].Find("by")->As<std::string>(), "words");
  EXPECT_EQ(*groups[0].Find("range")->As<std::string>(), "0 to 0");
  EXPECT_EQ(*groups[0].Find("lines")->As<std::int64_t>(), 1);
  EXPECT_EQ(*groups[1].Find("range")->As<std::string>(), "3 to 3");
  const std::vector<std::vector<std::string>> references = {{wanted[0], wanted[1]}};
  const Bleu bleu = CorpusBleu(std::span(hypotheses).first(2), references);
  EXPECT_NEAR(*groups[1].Find("bleu")->As<double>(), bleu.score, 1e-9);
  EXPECT_THAT(RefusalOf({"evaluate", model, source, "--reference", reference, "--out", learned, "--train", learned}),
              HasSubstr("reads the same file"));
  EXPECT_THAT(RefusalOf({"evaluate", model, source, "--reference", reference, "--train", Write("no.de", "")}),
              HasSubstr("has no lines"));
}

TEST_F(EvaluateTest, LossOfZeroWeightsIsThatOfUniformPredictions) {
  // If all weights are zero, all 60 tokens are equally probable.
  auto transformer = LoadModel<Transformer>(model);
  for (const Parameter& parameter : transformer->parameters().all()) parameter.value.Fill(0);
  transformer->parameters().Pack();
  transformer->Save(model);
  const Outcome outcome =
      RunProgram({"evaluate", model, source, "--reference", reference, "--json", "--quiet", "--max-length", "5"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NEAR(NumberIn(outcome.out, "loss"), std::log(60), 1e-5);
  EXPECT_NEAR(NumberIn(outcome.out, "perplexity"), 60, 1e-3);
}

TEST_F(EvaluateTest, RefusesFilesThatDoNotFit) {
  const auto refusal = [&](const std::string& one, const std::string& other) {
    return RefusalOf({"evaluate", model, one, "--reference", other, "--out", output});
  };
  EXPECT_THAT(refusal(source, Write("short", "A dog runs.\n")), HasSubstr("short has 1"));
  EXPECT_THAT(refusal(Write("empty", ""), Write("empty", "")), HasSubstr("empty: has no lines"));
  EXPECT_THAT(refusal(folder.File("none"), reference), HasSubstr("none: cannot open"));
  EXPECT_THAT(refusal(source, Write("latin1", "A dog.\nM\xe4use\n\n")), HasSubstr("latin1: line 2: byte 1"));
  EXPECT_THAT(refusal(Write("cut.gz", "\x1f\x8b\x08"), reference), HasSubstr("cut.gz"));
  EXPECT_FALSE(std::filesystem::exists(output));
  EXPECT_THAT(RefusalOf({"evaluate", model, source, "--reference", reference, "--out", "/nowhere/out"}),
              HasSubstr("/nowhere/out"));
}

TEST_F(EvaluateTest, ReadsPairsOfAFile) {
  const std::string pairs =
      Write("pairs.jsonl", R"({"source": "Ein Hund l\u00e4uft.", "target": "A dog runs."})"
                           "\n"
                           R"({"source": "Zwei Kinder spielen.", "target": "Two children play."})");
  const Outcome by_pairs = RunProgram({"evaluate", model, pairs, "--json"});
  ASSERT_EQ(by_pairs.exit_code, 0) << by_pairs.err;
  const Outcome by_lines =
      RunProgram({"evaluate", model, "--json", Write("two.de", "Ein Hund läuft.\nZwei Kinder spielen.\n"),
                  "--reference", Write("two.en", "A dog runs.\nTwo children play.\n")});
  EXPECT_EQ(by_pairs.out, by_lines.out);
}

TEST_F(EvaluateTest, ScoresSummariesByRouge) {
  const std::vector<std::string> arguments = {"evaluate", model,   source, "--reference",
                                              reference,  "--out", output, "--rouge"};
  const Outcome outcome = RunProgram(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Rouge rouge = MeanRouge(Lines(ReadFile(output)), Lines(ReadFile(reference)), false);
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[0], testing::StartsWith(fmt::format("ROUGE-1 {:.2f} (", 100 * rouge.rouge1.f1)));
  EXPECT_THAT(lines[3], testing::StartsWith("ROUGE-Lsum "));
  const Outcome json =
      RunProgram({"evaluate", model, source, "--reference", reference, "--rouge", "--stemmer", "--json"});
  EXPECT_GE(NumberIn(json.out, "rougeLsum"), 0);
  EXPECT_THAT(json.out, HasSubstr("\"stemmer\":true"));
}

TEST_F(EvaluateTest, RefusesOptionsThatTheTaskDoesNotHave) {
  const auto refusal = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"evaluate", model};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RefusalOf(arguments);
  };
  EXPECT_THAT(refusal({}), HasSubstr("FILE, the texts to evaluate"));
  EXPECT_THAT(refusal({source, source, "--reference", reference}), HasSubstr("--reference is for one FILE"));
  EXPECT_THAT(refusal({source, "--reference", reference, "--end"}), HasSubstr("--end is for language"));
  EXPECT_THAT(refusal({source, "--reference", reference, "--stemmer"}), HasSubstr("--stemmer is for --rouge"));
  EXPECT_THAT(refusal({source}), HasSubstr("de:1: expected a source, a"));
  EXPECT_THAT(RefusalOf({"evaluate", folder.File("none"), source}), HasSubstr("none"));
}

TEST_F(EvaluateTest, BleuPrintsSacreBleusLine) {
  const std::string first = Write("first", "The dog bit the man.\nIt was not unexpected.\nThe man bit him first.\n"),
                    second = Write("second",
                                   "The dog had bit the man.\nNo one was surprised.\nThe man had bitten the dog.\n"),
                    system = "The dog bit the man.\nIt wasn't surprising.\nThe man had just bitten him.\n";
  // The example is from sacreBLEU's README.
  const Outcome outcome = RunProgram({"bleu", "--reference", first, "--reference", second}, system);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:"));
  EXPECT_THAT(outcome.out,
              HasSubstr(" = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)"));
  const Outcome more = RunProgram({"bleu", "--reference", first, "--chrf", "--lowercase"}, system);
  EXPECT_THAT(more.out, HasSubstr("case:lc"));
  EXPECT_THAT(more.out, HasSubstr("\nchrF2|"));
  const Outcome json = RunProgram({"bleu", "--reference", first, "--reference", second, "--json"}, system);
  EXPECT_NEAR(NumberIn(json.out, "bleu"), 48.53, 0.01);
}

TEST_F(EvaluateTest, BleuPrintsOtherMetricsAndSentences) {
  const std::string first = Write("first", "The dog bit the man.\nIt was not unexpected.\nThe man bit him first.\n"),
                    system = "The dog bit the man.\nIt wasn't surprising.\nThe man had just bitten him.\n",
                    baseline = Write("baseline", "The dog.\nIt was not unexpected.\nThe man.\n");
  const std::vector<std::string> all = {"bleu", "--reference", first, "--metric", "ter", "chrf++", "bleu"};
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = all;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments, system);
  };
  const std::vector<std::string> lines = Lines(run({"--tokenization", "char"}).out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], testing::StartsWith("TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|"));
  EXPECT_THAT(lines[1], testing::StartsWith("chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|"));
  EXPECT_THAT(lines[2], testing::StartsWith("BLEU|nrefs:1|case:mixed|eff:no|tok:char|"));

  const std::vector<std::string> sentences = Lines(run({"--sentence-level"}).out);
  ASSERT_EQ(sentences.size(), 3u);
  EXPECT_THAT(sentences[0], testing::StartsWith(R"({"line":1,"ter":0.0,"chrf++":100.0,"bleu":100.)"));
  EXPECT_NEAR(NumberIn(sentences[1], "ter"), 75, 1e-9);

  const Outcome paired = run({"--baseline", baseline, "--samples", "50"});
  EXPECT_THAT(paired.out, HasSubstr("TER|nrefs:1|bs:50|seed:12345|case:lc|"));
  EXPECT_THAT(paired.out, testing::ContainsRegex("\n  mean [0-9.]+ ± [0-9.]+; baseline [0-9.]+, mean .*; p = 0[.]"));
  const Outcome json = run({"--baseline", baseline, "--seed", "7", "--json"});
  EXPECT_THAT(json.out, HasSubstr("\"ter_paired\":{\"mean\":"));
  EXPECT_THAT(json.out, HasSubstr("bs:1000|seed:7|"));
  EXPECT_THAT(RefusalOf({"bleu", "--reference", first, "--baseline", Write("short", "a\n")}, system),
              HasSubstr("short has 1 lines, and"));
  EXPECT_THAT(RefusalOf({"bleu", "--reference", first, "--metric", "ter", "--tokenization", "zh"}, system),
              HasSubstr("--tokenization is for BLEU, which"));
}

TEST_F(EvaluateTest, BleuRefusesTextsThatDoNotFit) {
  EXPECT_THAT(RefusalOf({"bleu", "--reference", reference}, "one\n"), HasSubstr("3"));
  EXPECT_THAT(RefusalOf({"bleu", "--reference", Write("empty", "")}, ""), HasSubstr("no hypothesis"));
  EXPECT_THAT(RefusalOf({"bleu", "--reference", reference}, "a\nb\xff\nc\n"), HasSubstr("line 2: byte 1"));
  EXPECT_THAT(RefusalOf({"bleu", "--reference", folder.File("none")}), HasSubstr("none: cannot open"));
  EXPECT_THAT(RefusalOf({"bleu"}), HasSubstr("headlight bleu needs --reference"));
}

}  // namespace
}  // namespace headlight::evaluate_test
