#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/cli/program/testing.h"
#include "headlight/protein/files/structure_files.h"

namespace headlight::compare_test {
namespace {

using testing::HasSubstr;

// Returns a helix of 20 CA atoms, shifted by `at` along x. If `turned` is true, it is rotated by 90 degrees around z.
// `noise` shifts each atom.
std::string Helix(bool turned, double noise, char chain = 'A', double at = 0) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const double angle = 1.745 * i, x = at + 2.3 * std::cos(angle) + noise * (i % 3 - 1), y = 2.3 * std::sin(angle);
    text += fmt::format("ATOM  {:>5}  CA  ALA {}{:>4}    {:8.3f}{:8.3f}{:8.3f}  1.00 50.00           C  \n", i + 1,
                        chain, i + 1, turned ? 5 - y : x, turned ? x + 1 : y, 1.5 * i);
  }
  return text + "TER\n";
}

double NumberIn(const std::string& json, const std::string& name) {
  return JsonView(ParseJson(json, "scores"), "scores")[name].Number();
}

struct CompareTest : ProgramTest {
  std::string model = Write("model.pdb", Helix(true, 0)), reference = Write("reference.pdb", Helix(false, 0));
};

TEST_F(CompareTest, ScoresStructures) {
  const Outcome same = RunProgram({"compare", model, reference, "--json"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(NumberIn(same.out, "residues"), 20);
  EXPECT_LT(NumberIn(same.out, "rmsd"), 1e-3);
  EXPECT_LT(NumberIn(same.out, "all_atom_rmsd"), 1e-3);
  EXPECT_GT(NumberIn(same.out, "tm_score"), 0.9999);
  EXPECT_EQ(NumberIn(same.out, "lddt_ca"), 1);
  EXPECT_EQ(NumberIn(same.out, "gdt_ts"), 1);
  EXPECT_THAT(same.out, HasSubstr("\"paired_by\":\"index\""));
  const Outcome moved = RunProgram({"compare", Write("moved.pdb", Helix(true, 1.5)), reference});
  EXPECT_THAT(moved.out, HasSubstr("residues   20 of the reference's 20, by index\nRMSD       1."));
  EXPECT_THAT(moved.out, HasSubstr("\nlDDT-CA    0."));
}

TEST_F(CompareTest, NotesHowResiduesArePaired) {
  const std::string text = Helix(false, 0);
  std::string renumbered;
  const std::size_t width = text.find('\n') + 1;
  for (int i = 0; i < 18; ++i) {  // all atoms except the last two
    std::string line = text.substr(static_cast<std::size_t>(i) * width, width);
    renumbered += line.replace(22, 4, fmt::format("{:>4}", i + 501));
  }
  const std::string moved = Write("renumbered.pdb", renumbered + "TER\n");
  const Outcome outcome = RunProgram({"compare", moved, reference, "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the residue numbers pair no residues"));
  EXPECT_THAT(outcome.out, HasSubstr("\"paired_by\":\"alignment\""));
  EXPECT_EQ(NumberIn(outcome.out, "residues"), 18);
  EXPECT_LT(NumberIn(outcome.out, "lddt_ca"), 0.95);
  EXPECT_THAT(RefusalOf({"compare", moved, reference, "--pair-by", "number"}),
              HasSubstr("0 residues correspond, by number"));
  EXPECT_EQ(RunProgram({"compare", moved, reference, "--pair-by", "alignment"}).err, "");
}

// Checks the pairing of chains. The reference has three equal chains at 0, 20 and 50 A. The model consists of the last
// two chains, named as the first two.
TEST_F(CompareTest, PairsTheChainsOfComplexes) {
  const auto complex = [](const std::vector<std::pair<char, double>>& chains) {
    std::string text;
    for (const auto& [name, x] : chains) text += Helix(false, 0, name, x);
    return text;
  };
  const std::string trimer = Write("trimer.pdb", complex({{'A', 0}, {'B', 20}, {'C', 50}}));
  const std::string permuted = Write("permuted.pdb", complex({{'B', 0}, {'C', 20}, {'A', 50}}));
  Outcome outcome = RunProgram({"compare", permuted, trimer, "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("A with C (see --pair-chains)"));
  EXPECT_GT(NumberIn(outcome.out, "tm_score"), 0.9999);
  EXPECT_EQ(NumberIn(outcome.out, "lddt"), 1);
  EXPECT_THAT(outcome.out,
              HasSubstr("\"chains_paired_by\":\"sequence\",\"chains\":[{\"model\":\"B\",\"reference\":\"A\","
                        "\"residues\":20,\"reference_residues\":20,\"paired_by\":\"index\"}"));
  const Outcome requested = RunProgram({"compare", permuted, trimer, "--json", "--pair-chains", "sequence"});
  EXPECT_EQ(requested.err, "");
  EXPECT_EQ(requested.out, outcome.out);
  outcome = RunProgram({"compare", permuted, trimer, "--json", "--pair-chains", "name"});
  EXPECT_EQ(outcome.err, "");
  EXPECT_LT(NumberIn(outcome.out, "tm_score"), 0.9);
  EXPECT_THAT(outcome.out, HasSubstr("\"chains_paired_by\":\"name\""));

  const std::string dimer = Write("dimer.pdb", complex({{'A', 20}, {'B', 50}}));
  outcome = RunProgram({"compare", dimer, trimer, "--json"});
  EXPECT_EQ(NumberIn(outcome.out, "residues"), 40);
  EXPECT_EQ(NumberIn(outcome.out, "reference_residues"), 60);
  EXPECT_NEAR(NumberIn(outcome.out, "tm_score"), 2.0 / 3, 1e-4);
  EXPECT_NEAR(NumberIn(outcome.out, "gdt_ts"), 2.0 / 3, 1e-9);
  EXPECT_NEAR(NumberIn(outcome.out, "lddt"), 2.0 / 3, 1e-9);
  EXPECT_THAT(outcome.out, HasSubstr("{\"model\":null,\"reference\":\"A\",\"residues\":0,\"reference_residues\":20,"
                                     "\"paired_by\":null}"));
  EXPECT_THAT(RunProgram({"compare", dimer, trimer}).out, HasSubstr("chains     none with A, A with B, B with C\n"));
  // One chain is chosen by name, or all chains are paired on request.
  outcome = RunProgram({"compare", dimer, trimer, "--model-chain", "A", "--reference-chain", "B", "--json"});
  EXPECT_GT(NumberIn(outcome.out, "tm_score"), 0.9999);
  EXPECT_THAT(outcome.out, HasSubstr("\"chains_paired_by\":\"name\""));
  EXPECT_THAT(RefusalOf({"compare", dimer, trimer, "--model-chain", "A"}), HasSubstr("choose one"));
  outcome = RunProgram({"compare", model, trimer, "--json", "--pair-chains", "sequence"});
  EXPECT_NEAR(NumberIn(outcome.out, "tm_score"), 1.0 / 3, 1e-4);
}

TEST_F(CompareTest, WritesTheSuperposedModel) {
  const std::string out = folder.File("out.cif");
  ASSERT_EQ(RunProgram({"compare", model, reference, "--out", out}).exit_code, 0);
  const Structure moved = ReadStructure(out), fixed = ReadStructure(reference);
  for (std::size_t i = 0; i < 20; ++i)
    EXPECT_LT(Distance(moved.chains[0].residues[i].atoms[1], fixed.chains[0].residues[i].atoms[1]), 5e-3);
  EXPECT_THAT(RefusalOf({"compare", model, reference, "--out", reference}), HasSubstr("reads the same file"));
}

TEST_F(CompareTest, DrawsBothSuperposed) {
  const std::string image = folder.File("both.svg");
  const Outcome outcome = RunProgram({"compare", model, reference, "--plot", image});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(ReadFile(image), HasSubstr("<svg"));
  EXPECT_THAT(RefusalOf({"compare", model, reference, "--plot", folder.File("a.txt")}), HasSubstr(".svg"));
  EXPECT_THAT(RefusalOf({"compare", model, reference, "--plot", image, "--out", image}),
              HasSubstr("goes to the same file"));
}

TEST_F(CompareTest, RefusesWhatDoesNotCorrespond) {
  const std::string two = Write("two.pdb", Helix(false, 0) + Helix(false, 0, 'B'));
  EXPECT_THAT(RefusalOf({"compare", two, reference}), HasSubstr("2 protein chains, A, B:"));
  EXPECT_EQ(RunProgram({"compare", two, reference, "--model-chain", "B"}).exit_code, 0);
  EXPECT_THAT(RefusalOf({"compare", model, two, "--reference-chain", "C"}), HasSubstr("no chain 'C'"));
  EXPECT_THAT(RefusalOf({"compare", Write("none.pdb", "nothing\n"), reference}), HasSubstr("neither PDB nor mmCIF"));
  EXPECT_THAT(RefusalOf({"compare", model, folder.File("missing")}), HasSubstr("missing: cannot open"));
}

}  // namespace
}  // namespace headlight::compare_test
