#include "headlight/data/protein_chains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/protein/files/structure_files.h"

namespace headlight::protein_chains_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Returns a chain of consecutive residues with known N, CA and C.
ProteinChain Chain(const std::string& name, const std::string& letters) {
  ProteinChain chain;
  chain.name = name;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    Residue residue;
    residue.type = ResidueOfLetter(letters[i]).value();
    residue.name = ResidueTypes()[static_cast<std::size_t>(residue.type)].name;
    residue.number = static_cast<int>(i) + 1;
    const double x = 3.8 * static_cast<double>(i);
    residue.atoms[0] = {x, 0, 0};
    residue.atoms[1] = {x + 1.4, 0.4, 0};
    residue.atoms[2] = {x + 2.5, -0.4, 0.2};
    for (std::size_t atom = 0; atom < 3; ++atom) residue.known[atom] = true;
    chain.residues.push_back(residue);
  }
  return chain;
}

struct ProteinChains : testing::Test {
  ProteinChains() {
    std::filesystem::create_directories(folder.File("structures/deep"));
    WriteFile(folder.File("structures/two.cif"),
              WriteMmcif({"two", {Chain("A", "MARND"), Chain("B", "MARND"), Chain("C", "GST")}}));
    WriteFile(folder.File("structures/deep/one.pdb"), WritePdb({"one", {Chain("A", "WYV"), Chain("B", "LK")}}));
    WriteFile(folder.File("structures/notes.txt"), "no structure");
    WriteFile(folder.File("mar.a3m"), ">query\nMARND\n>other\nMA-ND\n");
  }
  std::string Index(const std::string& lines) const {
    WriteFile(folder.File("index.tsv"), lines);
    return folder.File("index.tsv");
  }
  static ChainSet Read(const std::string& path) { return ReadChainSet({path}, ReadStructure); }
  static std::vector<std::string> Letters(const ChainSet& set) {
    std::vector<std::string> letters;
    for (const ChainExample& example : set.examples) letters.push_back(example.Letters());
    return letters;
  }

  TemporaryFolder folder;
};

TEST_F(ProteinChains, OfAFolderAreReadOncePerSequence) {
  const ChainSet set = Read(folder.File("structures"));
  EXPECT_THAT(Letters(set), ElementsAre("WYV", "MARND", "GST"));
  EXPECT_EQ(set.repeated, 1);
  EXPECT_EQ(set.unresolved, 1);
  EXPECT_THAT(set.examples[1].name, AllOf(HasSubstr("two.cif"), HasSubstr("chain A")));
  EXPECT_TRUE(set.examples[1].residues[2].known[1]);
  EXPECT_EQ(set.examples[1].alignment, "");
  EXPECT_EQ(HashOfChainSet(set), HashOfChainSet(Read(folder.File("structures"))));
  EXPECT_NE(HashOfChainSet(set), HashOfChainSet(Read(folder.File("structures/two.cif"))));
}

TEST_F(ProteinChains, OfAnIndexHaveAlignments) {
  const ChainSet set = Read(Index("structures/two.cif\tB\tmar.a3m\n\nstructures/two.cif\tC\n"));
  EXPECT_THAT(Letters(set), ElementsAre("MARND", "GST"));
  EXPECT_EQ(set.examples[0].alignment, folder.File("mar.a3m"));
  EXPECT_EQ(set.examples[1].alignment, "");
}

TEST_F(ProteinChains, OfAnIndexHaveTemplates) {
  const ChainSet set =
      Read(Index("structures/two.cif\tC\t\nstructures/two.cif\tA\t\tstructures/two.cif;structures/deep/one.pdb\n"
                 "structures/two.cif\tA\tmar.a3m\tstructures/two.cif\n"));
  ASSERT_EQ(set.examples.size(), 3U);
  EXPECT_EQ(set.examples[0].templates.size(), 0U);
  ASSERT_EQ(set.examples[1].templates.size(), 2U);
  EXPECT_EQ(set.examples[1].alignment, "");
  EXPECT_EQ(set.examples[2].templates.size(), 1U);
  EXPECT_EQ(set.examples[1].templates[0].backbone_known, std::vector<std::uint8_t>(5, 1));
  EXPECT_EQ(set.examples[1].templates[0].types[0], set.examples[1].residues[0].type);
  // Adding a template must change the hash.
  EXPECT_NE(HashOfChainSet(Read(Index("structures/two.cif\tA\t\tstructures/two.cif\n"))),
            HashOfChainSet(Read(Index("structures/two.cif\tA\n"))));
}

TEST_F(ProteinChains, RefuseInvalidFiles) {
  const auto error = [&](const std::string& path) { return ErrorOf([&] { Read(path); }); };
  EXPECT_THAT(error(folder.File("nowhere")), HasSubstr("nowhere: there is no such"));
  std::filesystem::create_directory(folder.File("empty"));
  EXPECT_THAT(error(folder.File("empty")), HasSubstr("empty: there is no structure"));
  EXPECT_THAT(error(folder.File("structures/notes.txt")), HasSubstr("notes.txt"));
  EXPECT_THAT(error(Index("")), HasSubstr("index.tsv: there is no line"));
  EXPECT_THAT(error(Index("a\n")), HasSubstr("index.tsv:1: expected a structure"));
  EXPECT_THAT(error(Index("\tA\n")), HasSubstr("index.tsv:1: expected"));
  EXPECT_THAT(error(Index("structures/two.cif\tA\nb.cif\tA\n")), HasSubstr("index.tsv:2: there is no file"));
  EXPECT_THAT(error(Index(std::string(5000, 'a') + "\tA\n")), HasSubstr("index.tsv:1: there is no file"));
  EXPECT_THAT(error(Index("structures/two.cif\tA\tb.a3m\n")), HasSubstr("b.a3m"));
  EXPECT_THAT(error(Index("structures/two.cif\tA\t\tb.cif\n")), HasSubstr("index.tsv:1: there is no file"));
  EXPECT_THAT(error(Index("structures/two.cif\tA\t\tstructures/notes.txt\n")), HasSubstr("notes.txt"));
  EXPECT_THAT(error(Index("structures/two.cif\tA\t\t\tmore\n")), HasSubstr("not 5 columns"));
  EXPECT_THAT(error(Index("structures/two.cif\tX\n")), AllOf(HasSubstr("index.tsv:1: "), HasSubstr("no chain 'X'")));
  EXPECT_THAT(error(Index("structures/two.cif\t\n")), AllOf(HasSubstr("index.tsv:1: "), HasSubstr("choose one")));
  EXPECT_THAT(error(Index("structures/deep/one.pdb\tB\n")),
              AllOf(HasSubstr("index.tsv:1: "), HasSubstr("fewer than 3 C alpha")));
  EXPECT_THAT(error(Index("structures/two.cif\tC\tmar.a3m\n")),
              AllOf(HasSubstr("index.tsv:1: "), HasSubstr("mar.a3m")));
  WriteFile(folder.File("few.pdb"), WritePdb({"few", {Chain("A", "LK")}}));
  EXPECT_THAT(error(folder.File("few.pdb")), HasSubstr("few.pdb: there is no chain"));
}

}  // namespace
}  // namespace headlight::protein_chains_test
