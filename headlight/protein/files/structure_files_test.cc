#include "headlight/protein/files/structure_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headlight/base/gzip_testing.h"
#include "headlight/base/test_support.h"
#include "headlight/protein/testing.h"

namespace headlight::structure_files_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Formats an ATOM line.
std::string Atom(const std::string& name, const std::string& residue, int number, double x, double b = 50,
                 const std::string& location = " ", double occupancy = 1, char insertion = ' ', char chain = 'A',
                 const char* record = "ATOM") {
  static int serial = 0;
  return fmt::format("{:<6}{:>5} {:<4}{}{:>3} {}{:>4}{}   {:8.3f}{:8.3f}{:8.3f}{:6.2f}{:6.2f}          {:>2}  \n",
                     record, ++serial, " " + name, location, residue, chain, number, insertion, x, 1.5, -2.25,
                     occupancy, b, name.substr(0, 1));
}

std::string Backbone(const std::string& residue, int number, double x, char insertion = ' ', char chain = 'A',
                     const char* record = "ATOM") {
  std::string text;
  double step = 0;
  for (const char* name : {"N", "CA", "C", "O"})
    text += Atom(name, residue, number, x + 1.2 * step++, 50, " ", 1, insertion, chain, record);
  return text;
}

// Returns a PDB file in which residues are 3.8 A apart.
std::string SmallPdb() {
  return Backbone("GLY", -1, 0) + Backbone("ALA", 52, 3.8) + Atom("CB", "ALA", 52, 5, 60.5) +
         Backbone("SER", 52, 7.6, 'A') + Atom("OG", "SER", 52, 8, 10, "A", 0.4, 'A') +
         Atom("OG", "SER", 52, 9, 20, "B", 0.6, 'A') + Atom("HA", "SER", 52, 9, 20, " ", 1, 'A') +
         Backbone("MSE", 53, 11.4, ' ', 'A', "HETATM") +
         "HETATM 9999 SE   MSE A  53      12.000   1.500  -2.250  1.00 50.00          SE  \n" +
         Backbone("TRP", 60, 40) + "TER\n" +
         "HETATM 9998  O   HOH A 101      12.000   1.500  -2.250  1.00 50.00           O  \n" +
         Backbone("LYS", 1, 80, ' ', 'B') + Backbone("GLU", 2, 83.8, ' ', 'B') + "TER\nEND\n";
}

std::vector<std::string> ResidueNames(const ProteinChain& chain) {
  std::vector<std::string> places;
  for (const Residue& residue : chain.residues) {
    places.push_back(fmt::format("{}{}{}", residue.name, residue.number, residue.observed() ? "" : "?"));
    if (residue.insertion != ' ') places.back() += residue.insertion;
  }
  return places;
}

std::size_t At(const char* name) { return static_cast<std::size_t>(Atom37Of(name).value()); }

TEST(StructureFiles, ReadsPdb) {
  const Structure structure = ParseStructure(SmallPdb(), "small.pdb");
  ASSERT_EQ(structure.chains.size(), 2U);
  const ProteinChain& chain = ChainOf(structure, "A");
  EXPECT_THAT(ResidueNames(chain), ElementsAre("GLY-1", "ALA52", "SER52A", "MSE53", "TRP60"));
  EXPECT_EQ(chain.Letters(), "GASMW");
  EXPECT_EQ(ChainOf(structure, "B").Letters(), "KE");
  EXPECT_THAT(BreaksOf(chain), ElementsAre(3));
  EXPECT_EQ(chain.residues[1].atoms[At("CB")], (Vector3{5, 1.5, -2.25}));
  EXPECT_EQ(chain.residues[1].b_factors[At("CB")], 60.5F);
  // The second alternative location has the greater occupancy. Hydrogen is skipped.
  EXPECT_EQ(chain.residues[2].atoms[At("OG")].x, 9);
  EXPECT_TRUE(chain.residues[3].known[At("SD")]);  // converted from selenium
  EXPECT_FALSE(chain.residues[4].known[At("CB")]);
}

TEST(StructureFiles, UnobservedResiduesKeepTheirPositions) {
  const std::string sequence = "SEQRES   1 A    8  MET GLY ALA SER MSE VAL TRP LYS\n";
  std::string text = sequence;
  for (const char* part : {"GLY", "ALA"}) text += Backbone(part, part[0] == 'G' ? 2 : 3, part[0] == 'G' ? 0 : 3.8);
  text += Backbone("SER", 4, 7.6) + Backbone("MSE", 5, 11.4, ' ', 'A', "HETATM") + Backbone("TRP", 7, 19) + "TER\n";
  const ProteinChain chain = ParseStructure(text, "small.pdb").chains.at(0);
  EXPECT_EQ(chain.Letters(), "MGASMVWK");
  EXPECT_FALSE(chain.residues[0].observed());
  EXPECT_TRUE(chain.residues[4].observed());
  EXPECT_FALSE(chain.residues[5].observed());
  EXPECT_FALSE(chain.residues[7].observed());
  EXPECT_THAT(BreaksOf(chain), ElementsAre(0, 4, 5, 6));
  // Writing mmCIF and parsing it again keeps the unobserved residues.
  Structure structure{"small", {chain}};
  const ProteinChain again = ParseStructure(WriteMmcif(structure), "small.cif").chains.at(0);
  EXPECT_EQ(again.Letters(), "MGASMVWK");
  EXPECT_FALSE(again.residues[5].observed());
}

void ExpectSame(const ProteinChain& a, const ProteinChain& b) {
  ASSERT_EQ(ResidueNames(a), ResidueNames(b));
  for (std::size_t i = 0; i < a.residues.size(); ++i) {
    EXPECT_EQ(a.residues[i].known, b.residues[i].known) << i;
    for (std::size_t atom = 0; atom < kAtom37; ++atom) {
      EXPECT_LT(Distance(a.residues[i].atoms[atom], b.residues[i].atoms[atom]), 1e-3);
      EXPECT_NEAR(a.residues[i].b_factors[atom], b.residues[i].b_factors[atom], 0.006);
    }
  }
}

TEST(StructureFiles, RoundTrips) {
  const Structure structure = ParseStructure(SmallPdb(), "small");
  for (const std::string& text : {WritePdb(structure), WriteMmcif(structure)}) {
    const Structure again = ParseStructure(text, "again");
    ASSERT_EQ(again.chains.size(), 2U) << text;
    for (std::size_t c = 0; c < 2; ++c) ExpectSame(structure.chains[c], again.chains[c]);
  }
}

TEST(StructureFiles, RefusesNamesThatMmcifCannotHave) {
  Structure structure = ParseStructure(SmallPdb(), "small");
  const std::string wanted = "mmCIF cannot have the name";
  for (const char* name : {"_s", "\xed", "\x03", "loop_", "#", ";", ""}) {
    structure.chains[0].name = name;
    EXPECT_THAT(ErrorOf([&] { WriteMmcif(structure); }), HasSubstr(wanted)) << name;
  }
  structure.chains[0].name = "A";
  for (const char insertion : {'\xed', ';', '#', '"'}) {
    structure.chains[0].residues[0].insertion = insertion;
    EXPECT_THAT(ErrorOf([&] { WriteMmcif(structure); }), HasSubstr(wanted)) << insertion;
  }
  structure.chains[0].residues[0].insertion = ' ';
  structure.chains[0].residues[0].name = "A B";
  EXPECT_THAT(ErrorOf([&] { WriteMmcif(structure); }), HasSubstr(wanted));
}

TEST(StructureFiles, WritesThePredictionsMetadata) {
  const Structure structure = ParseStructure(SmallPdb(), "small");
  const std::string text = WriteMmcif(structure, PredictionNote{"a fold", "headlight", "0.1.0", 50.5, 0.75});
  for (const char* category :
       {"_ma_model_list.model_type", "_ma_qa_metric.name", "_ma_qa_metric_global.metric_value",
        "_ma_qa_metric_local.label_seq_id", "_ma_data.content_type", "_software.name", "_ma_protocol_step.method_type",
        "_audit_conform.dict_name", "_entity_poly_seq.mon_id", "_atom_site.B_iso_or_equiv", "_atom_site.group_PDB"})
    EXPECT_THAT(text, HasSubstr(category));
  EXPECT_THAT(text, HasSubstr("50.50"));
  EXPECT_THAT(text, HasSubstr("0.7500"));
  EXPECT_EQ(ParseStructure(text, "again").chains.size(), 2U);
}

TEST(StructureFiles, ReadsGzip) {
  TemporaryFolder folder;
  EXPECT_EQ(ReadStructure(WriteText(folder.File("a.pdb.gz"), Gzip(SmallPdb()))).chains.size(), 2U);
}

std::string Failure(const std::string& text) {
  return ErrorOf([&] { ParseStructure(text, "bad"); });
}

TEST(StructureFiles, RefusesDamagedFiles) {
  EXPECT_THAT(Failure(""), HasSubstr("the file is empty"));
  EXPECT_THAT(Failure("hello\n"), HasSubstr("neither PDB nor mmCIF"));
  EXPECT_THAT(Failure("ATOM      1  N   GLY A   1       0.000   1.5"), HasSubstr("bad: line 1: an"));
  const std::string line = "ATOM      1  CA  GLY A   1       0.000   1.500  -2.250  1.00 50.00           C  \n";
  EXPECT_THAT(Failure("\n" + std::string(line).replace(38, 8, "   1.x00")), HasSubstr("line 2: columns 39 to 46"));
  EXPECT_THAT(Failure(std::string(line).replace(30, 8, "     nan")), HasSubstr("columns 31 to 38"));
  EXPECT_THAT(Failure(std::string(line).replace(22, 4, " 1-2")), HasSubstr("columns 23 to 26"));
  EXPECT_THAT(Failure(std::string(line).replace(60, 6, "  5O.0")), HasSubstr("columns 61 to 66"));
  EXPECT_THAT(Failure(Backbone("GLY", 1, 0) + Backbone("ALA", 2, 4) + Backbone("SER", 1, 8)),
              HasSubstr("residue 1 occurs twice"));
  EXPECT_THAT(Failure("data_x\nloop_\n_atom_site.id\n"), HasSubstr("bad: "));
  for (const char* text : {"data_x\n_entry.id 'x\n", "data_x\n;\nloop_", "data_x\nloop_\n_a.b\n_a.c\n1\n2\n3\n"}) {
    EXPECT_THAT(Failure(text), testing::StartsWith("bad: "));
    EXPECT_EQ(Failure(text).find('\n'), std::string::npos);
  }
  EXPECT_THAT(Failure("HETATM    1  O   HOH A   1       0.000   1.500  -2.250  1.00 50.00           O  \n"),
              HasSubstr("there is no protein chain"));
  std::string cif = WriteMmcif(ParseStructure(SmallPdb(), "small"));
  cif.replace(cif.find(" 1.5 "), 5, " ? ");
  EXPECT_THAT(Failure(cif), HasSubstr("GLY -1: the position"));
}

TEST(StructureFiles, PdbRefusesWhatItCannotStore) {
  Structure structure = ParseStructure(SmallPdb(), "small");
  const auto failure = [&] { return ErrorOf([&] { WritePdb(structure); }); };
  structure.chains[0].residues[0].atoms[1].x = 1e5;
  EXPECT_THAT(failure(), HasSubstr("the position 100000"));
  structure.chains[0].residues[0].number = 10000;
  EXPECT_THAT(failure(), HasSubstr("not 10000"));
  structure.chains[0].name = "AA";
  EXPECT_THAT(failure(), HasSubstr("not 'AA'"));
  EXPECT_THAT(ErrorOf([] { WriteMmcif(Structure{"none", {}}); }), HasSubstr("no atom to write"));
}

TEST(StructureFiles, ChainsAreChosenByName) {
  const Structure structure = ParseStructure(SmallPdb(), "small");
  EXPECT_THAT(ErrorOf([&] { ChainOf(structure); }), HasSubstr("2 protein chains, A, B"));
  EXPECT_THAT(ErrorOf([&] { ChainOf(structure, "C"); }), HasSubstr("no chain 'C'"));
}

}  // namespace
}  // namespace headlight::structure_files_test
