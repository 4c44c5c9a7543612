#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/pipelines/protein_testing.h"
#include "headlight/pipelines/structure_predictor.h"
#include "headlight/protein/alignment_table.h"

namespace headlight::contacts_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct ContactsTest : ProgramTest {
  ContactsTest() : esm(folder.File("esm")) { SaveTinyEsm(esm); }
  std::string esm;
};

TEST_F(ContactsTest, PrintsTheMostProbablePairs) {
  const std::string fasta = Write("a.fasta", ">one\nMKVLAGSE\n>two\nMKVLAG\n");
  const Outcome outcome = RunProgram({"contacts", esm, fasta, "--separation", "4", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 2U);
  const Json one = ParseJson(lines[0], "one");
  EXPECT_EQ(*one.Find("name"), Json("one"));
  EXPECT_EQ(*one.Find("residues"), Json(8));
  const Json::Array& pairs = *one.Find("contacts")->As<Json::Array>();
  EXPECT_EQ(pairs.size(), 8U);  // limited by the number of residues, although 10 pairs are possible
  double before = 1;
  for (const Json& pair : pairs) {
    const Json::Array& row = *pair.As<Json::Array>();
    EXPECT_GE(*row[1].As<std::int64_t>() - *row[0].As<std::int64_t>(), 4);
    EXPECT_LE(*row[2].As<double>(), before);
    before = *row[2].As<double>();
  }
  EXPECT_EQ(ParseJson(lines[1], "two").Find("contacts")->As<Json::Array>()->size(), 3U);
  EXPECT_THAT(Lines(RunProgram({"contacts", esm, fasta}).out), testing::SizeIs(3));
}

TEST_F(ContactsTest, OfAnAlignmentAreThoseOfItsQuery) {
  const std::string alphafold = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/model";
  const std::string alignment = Write("a.a3m", ">wanted\nMKVLAEYTWGRD\n>other\nMKVLAEYSWGRD\n");
  const Outcome outcome = RunProgram({"contacts", alphafold, alignment});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_THAT(lines, testing::Each(testing::StartsWith("wanted\t")));
  const PredictedStructure predicted = StructurePredictor::Load(alphafold).Predict(ReadAlignmentTable({&alignment, 1}));
  double most = 0;
  for (std::int64_t i = 0; i < 12; ++i)
    for (std::int64_t j = i + 6; j < 12; ++j)
      most = std::max<double>(most, predicted.contacts.matrix<float>().row(i)[j]);
  EXPECT_THAT(lines.front(), testing::EndsWith(fmt::format("\t{:.4f}", most)));
  const Outcome piped = RunProgram({"contacts", alphafold}, ReadFile(alignment));
  EXPECT_THAT(Lines(piped.out), testing::Each(testing::StartsWith("query\t"))) << piped.err;
  EXPECT_THAT(RefusalOf({"contacts", alphafold, Write("not.a3m", "MKVL\n")}), HasSubstr("not.a3m"));
}

TEST_F(ContactsTest, PublishedWeightsPredictThoseOfTheirFolder) {
  const std::string published = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/published/";
  const std::string alignment = Write("a.a3m", ">wanted\nMKVLAEYTWGRD\n>other\nMKVLAEYSWGRD\n");
  const Outcome npz = RunProgram({"contacts", published + "params_model_3_ptm.npz", alignment});
  ASSERT_EQ(npz.exit_code, 0) << npz.err;
  EXPECT_THAT(Lines(npz.out), testing::SizeIs(12));
  EXPECT_EQ(npz.out, RunProgram({"contacts", published + "openfold", alignment}).out);
}

TEST_F(ContactsTest, OtherCommandsReadProteins) {
  const Outcome tokens = RunProgram({"tokenize", esm, "--json"}, "MK <mask>Lzz*A\n");
  EXPECT_THAT(tokens.out, HasSubstr("\"ids\":[0,21,16,7,4,3,5,2]")) << tokens.err;
  const Outcome filled = RunProgram({"fill-mask", esm, "--top-k", "2"}, "MK<mask>LA\n");
  EXPECT_EQ(Lines(filled.out).size(), 2U) << filled.err;
  EXPECT_THAT(RunProgram({"info", esm}).out, HasSubstr("esm"));
  // FASTA sequences give the same vectors as lines of letters.
  const Outcome lines = RunProgram({"embed", esm, "--json"}, "MKVLA\nGG\n");
  ASSERT_EQ(lines.exit_code, 0) << lines.err;
  EXPECT_EQ(RunProgram({"embed", esm, Write("two.fa", ">a\nMKV\nla\n\n>b\nGG*\n"), "--json"}).out, lines.out);
  // The format is also recognized from standard input, and in a file with another extension.
  const std::string fasta = ">a\nMKV\nla\n\n>b\nGG*\n";
  EXPECT_EQ(RunProgram({"embed", esm, "-", "--json"}, fasta).out, lines.out);
  EXPECT_EQ(RunProgram({"embed", esm, "--json"}, "\xEF\xBB\xBF" + fasta).out, lines.out);
  EXPECT_EQ(RunProgram({"embed", esm, Write("two.txt", fasta), "--json"}).out, lines.out);
  EXPECT_THAT(RefusalOf({"embed", esm, folder.File("two.txt"), "--json", "--shard", "1/2"}),
              HasSubstr("--shard divides lines or images,"));
  EXPECT_THAT(RefusalOf({"embed", esm, Write("broken.fasta", ">a\nMK-V\n>b\nGG\n")}),
              HasSubstr("broken.fasta: line 2: gaps"));
  const Outcome skipped = RunProgram({"embed", esm, folder.File("broken.fasta"), "--json", "--skip-errors"});
  EXPECT_EQ(skipped.exit_code, 0) << skipped.err;
  EXPECT_THAT(skipped.err, HasSubstr("1 of 2 lines could"));
  EXPECT_THAT(Lines(skipped.out),
              ElementsAre(HasSubstr("{\"line\":1,\"error\":"), HasSubstr("{\"line\":2,\"vector\"")));
}

TEST_F(ContactsTest, VectorsOfResiduesLeaveOutSpecialTokens) {
  const auto run = [&](const std::string& pool) {
    const Outcome outcome = RunProgram({"embed", esm, "--pool", pool, "--json"}, "MKVLA\nG\n");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Lines(outcome.out);
  };
  const auto numbers = [](const JsonView& list) {
    std::vector<double> all;
    for (const JsonView& number : list.Items()) all.push_back(number.Number());
    return all;
  };
  const std::vector<std::string> whole = run("folder"), residues = run("residues"), each = run("none");
  for (std::size_t line = 0; line < 2; ++line) {
    const std::vector<JsonView> vectors = JsonView(ParseJson(each.at(line), "each"), "each")["vectors"].Items();
    ASSERT_EQ(vectors.size(), line == 0 ? 5U : 1U);
    const std::vector<double> mean = numbers(JsonView(ParseJson(residues.at(line), "mean"), "mean")["vector"]);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      double sum = 0;
      for (const JsonView& vector : vectors) sum += numbers(vector).at(i);
      EXPECT_NEAR(mean[i], sum / static_cast<double>(vectors.size()), 1e-5);
    }
    EXPECT_NE(residues[line], whole.at(line));
  }
  EXPECT_EQ(Lines(RunProgram({"embed", esm, "--json"}, "MKVLA\nG\n").out), whole);
  EXPECT_THAT(RefusalOf({"embed", esm, "--pool", "none", "--out", folder.File("a.npy")}, "MKV\n"),
              HasSubstr("--pool none gives a vector"));
  EXPECT_THAT(RefusalOf({"embed", HEADLIGHT_SOURCE_DIR "/tests/testdata/bert/sentences", "--pool", "residues"}, "a\n"),
              HasSubstr("--pool is for models of"));
}

TEST_F(ContactsTest, PlacesOfAVariantAreMaskedJointlyOnRequest) {
  const std::string fasta = Write("a.fasta", ">one\nMKVLA\n");
  const Outcome filled = RunProgram({"fill-mask", esm, "--top-k", "23", "--json"}, "M<mask><mask>LA\n");
  const JsonView words = JsonView(ParseJson(filled.out, "filled"), "filled")["masks"];
  const auto probability = [&](std::size_t mask, const std::string& residue) {
    for (const JsonView& word : words.Items().at(mask).Items())
      if (word["text"].String() == residue) return word["score"].Number();
    ADD_FAILURE() << residue << filled.err;
    return 1.0;
  };
  const double expected =
      std::log(probability(0, "R") / probability(0, "K")) + std::log(probability(1, "A") / probability(1, "V"));
  const Outcome outcome =
      RunProgram({"score", esm, fasta, "--variant", "K2R:V3A", "V3A:K2R", "K2R", "--mask-jointly", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = Lines(outcome.out);
  const auto score = [&](std::size_t line) { return *ParseJson(lines.at(line), "score").Find("score")->As<double>(); };
  EXPECT_NEAR(score(0), expected, 1e-5);
  EXPECT_NEAR(score(1), expected, 1e-5);
  EXPECT_EQ(lines.at(2), Lines(RunProgram({"score", esm, fasta, "--variant", "K2R", "--json"}).out).at(0));
}

// Checks that a variant's score is the log ratio of the probabilities that fill-mask predicts for the masked residue.
TEST_F(ContactsTest, VariantsAreScoredByMaskedMarginals) {
  const std::string fasta = Write("a.fasta", ">one\nMKVLA\n>two\nMKVGG\n");
  const auto probability = [&](const char* masked, const std::string& residue) {
    const Outcome filled = RunProgram({"fill-mask", esm, "--top-k", "23", "--json"}, std::string(masked) + "\n");
    const JsonView words = JsonView(ParseJson(filled.out, "filled"), "filled")["masks"].Items().at(0);
    for (const JsonView& word : words.Items())
      if (word["text"].String() == residue) return word["score"].Number();
    ADD_FAILURE() << residue << filled.err;
    return 0.0;
  };
  const double first = std::log(probability("M<mask>VLA", "R") / probability("M<mask>VLA", "K"));
  const double second = std::log(probability("MK<mask>LA", "A") / probability("MK<mask>LA", "V"));
  const Outcome outcome = RunProgram({"score", esm, fasta, "--variant", "K2R", "K2R:V3A", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 4U);
  const auto score = [&](std::size_t line) { return *ParseJson(lines[line], "score").Find("score")->As<double>(); };
  EXPECT_NEAR(score(0), first, 1e-5);
  EXPECT_NEAR(score(1), first + second, 1e-5);
  EXPECT_NE(score(2), score(0));
  EXPECT_THAT(lines[3], HasSubstr(R"("name":"two","variant":"K2R:V3A")"));
  EXPECT_THAT(RunProgram({"score", esm, fasta, "--variant", "K2R"}).out, HasSubstr("\tK2R\tone\n"));
  EXPECT_EQ(RunProgram({"score", esm, fasta, "--variant", "K2R", "K2R:V3A", "--json", "--batch-tokens", "1"}).out,
            outcome.out);
}

TEST_F(ContactsTest, VariantsThatAreNoneAreRefused) {
  const std::string fasta = Write("a.fasta", ">one\nMKVLA\n");
  const auto refusal = [&](const std::string& variant) {
    return RefusalOf({"score", esm, fasta, "--variant", variant});
  };
  for (const char* variant :
       {"K2", "2R", "k2r", "K0R", "K2R:", ":K2R", "K2R::V3A", "K+2R", "K 2R", "K99999999999999999999R"})
    EXPECT_THAT(refusal(variant), HasSubstr("a substitution is")) << variant;
  EXPECT_THAT(refusal("K2R:K2A"), HasSubstr("residue 2 is substituted twice"));
  EXPECT_THAT(refusal("V2R"), HasSubstr("a.fasta: line 1: variant V2R:"));
  EXPECT_THAT(refusal("K6R"), HasSubstr("there are 5 residues"));
  EXPECT_THAT(refusal("K2W"), HasSubstr("residue 'W' is not in"));
  EXPECT_THAT(RefusalOf({"score", esm, fasta}), HasSubstr("name them with --variant"));
  EXPECT_THAT(RefusalOf({"score", esm, fasta, "--variant", "K2R", "--tokens"}), HasSubstr("--tokens is for language"));
  const std::string gpt = folder.File("gpt");
  std::filesystem::create_directory(gpt);
  SaveTinyGpt(gpt);
  EXPECT_THAT(RefusalOf({"score", gpt, fasta, "--variant", "K2R"}), HasSubstr("--variant is for masked language"));
  EXPECT_THAT(RefusalOf({"score", HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/classify", fasta, "--variant", "K2R"}),
              HasSubstr("no head for masked words"));
}

TEST_F(ContactsTest, RefusesWhatItCannotRead) {
  EXPECT_THAT(RefusalOf({"contacts", esm}, "MKV\n"), HasSubstr("standard input: line 1: not"));
  EXPECT_THAT(RefusalOf({"contacts", esm}, ">a\nMKJJV\n"), HasSubstr("line 1: residue 'J' is"));
  EXPECT_THAT(RefusalOf({"contacts", HEADLIGHT_SOURCE_DIR "/tests/testdata/encoders/fill_mask"}, ">a\nM\n"),
              HasSubstr("contacts are predicted by an ESM"));
}

}  // namespace
}  // namespace headlight::contacts_test
