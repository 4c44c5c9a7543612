#include "headlight/protein/templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/protein/sequences.h"

namespace headlight::templates_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Returns a chain of these residues at consecutive positions, with backbones and C betas.
ProteinChain ChainOfLetters(const std::string& letters, const std::string& name = "A") {
  ProteinChain chain{name, {}};
  for (const std::uint8_t type : ResiduesOf(letters)) {
    Residue& residue = chain.residues.emplace_back();
    residue.type = type;
    residue.number = static_cast<int>(chain.residues.size());
    for (std::size_t atom = 0; atom < 5; ++atom) {
      residue.known[atom] = true;
      const auto at = static_cast<double>(5 * chain.residues.size() + atom);
      residue.atoms[atom] = {at, std::sin(at), std::cos(at)};
    }
  }
  return chain;
}

class Files {
 public:
  void Add(const std::string& path, std::vector<ProteinChain> chains) { structures_[path] = {path, std::move(chains)}; }
  std::vector<ProteinTemplate> Read(const std::string& query, const std::vector<std::string>& paths,
                                    const std::string& alignment = "") const {
    std::string path;
    if (!alignment.empty()) WriteFile(path = folder_.File("templates.a3m"), alignment);
    return ReadTemplates(paths, path, ResiduesOf(query), [&](const std::string& name) { return structures_.at(name); });
  }

 private:
  TemporaryFolder folder_;
  std::map<std::string, Structure> structures_;
};

std::string LettersOf(const ProteinTemplate& one) {
  std::string letters;
  for (const Residue& residue : one.residues)
    letters += residue.type == kGap ? '-' : ResidueTypes()[static_cast<std::size_t>(residue.type)].letter;
  return letters;
}

TEST(ReadTemplates, AlignsTheMostSimilarChain) {
  Files files;
  files.Add("1abc.cif", {ChainOfLetters("GGGG", "A"), ChainOfLetters("PPWCHWFKK", "B"), ChainOfLetters("WCHW", "C")});
  const std::vector<ProteinTemplate> templates = files.Read("AWCHWFA", {"1abc.cif"});
  ASSERT_EQ(templates.size(), 1U);
  EXPECT_EQ(templates[0].name, "1abc.cif, chain B");
  EXPECT_EQ(LettersOf(templates[0]), "-WCHWF-");
  EXPECT_EQ(templates[0].aligned(), 5);
  EXPECT_EQ(templates[0].residues[1].number, 3);
}

TEST(ReadTemplates, FindsChainsByRowNames) {
  Files files;
  files.Add("dir/1abc.cif.gz", {ChainOfLetters("MANCDCW", "A"), ChainOfLetters("GGG", "B")});
  files.Add("2xyz.pdb", {ChainOfLetters("KKAFNDK", "Q")});
  files.Add("2xyz_1.pdb", {ChainOfLetters("WCW", "1")});
  // Inserted letters must match the chain too, and X matches any letter.
  const std::vector<ProteinTemplate> templates =
      files.Read("ARND", {"dir/1abc.cif.gz", "2xyz.pdb", "2xyz_1.pdb"},
                 ">query\nARND\n>2xyz tail\nAXND\n>1abc_A\nA-NcD\n>2xyz_1_1\n-WcW-\n>1abc_A again\n--DCw\n");
  std::vector<std::string> names, letters;
  for (const ProteinTemplate& one : templates) {
    names.push_back(one.name);
    letters.push_back(LettersOf(one));
  }
  EXPECT_THAT(names, ElementsAre("2xyz.pdb, chain Q", "dir/1abc.cif.gz, chain A", "2xyz_1.pdb, chain 1",
                                 "dir/1abc.cif.gz, chain A"));
  EXPECT_THAT(letters, ElementsAre("AFND", "A-ND", "-WW-", "--DC"));
}

TEST(ReadTemplates, RefusesInvalidTemplates) {
  Files files;
  ProteinChain unresolved = ChainOfLetters("ARND");
  for (Residue& residue : unresolved.residues) residue.known[2] = false;
  files.Add("1abc.cif", {ChainOfLetters("MARND", "A"), ChainOfLetters("GGG", "B")});
  files.Add("1abc.pdb", {ChainOfLetters("MARND", "A")});
  files.Add("empty.cif", {});
  files.Add("poor.cif", {unresolved});
  const auto error_of = [&](const std::vector<std::string>& paths, const std::string& alignment = "") {
    return ErrorOf([&] { files.Read("ARND", paths, alignment); });
  };
  const std::string query = ">query\nARND\n";
  EXPECT_EQ(error_of({"1abc.cif"}, query + ">1abc_A\nARND\n"), "");
  EXPECT_THAT(error_of({"empty.cif"}), HasSubstr("empty.cif: there is no"));
  EXPECT_THAT(error_of({"poor.cif"}), HasSubstr("a known N, CA and C"));
  EXPECT_THAT(error_of({"1abc.cif"}, ">query\nARNN\n"), HasSubstr("first row must be"));
  EXPECT_THAT(error_of({"1abc.cif"}, ">query\nARN\n"), HasSubstr("another sequence with 3"));
  EXPECT_THAT(error_of({"1abc.cif"}, query + ">1abd_A\nARND\n"),
              AllOf(HasSubstr("row '1abd_A'"), HasSubstr("no structure has this name")));
  EXPECT_THAT(error_of({"1abc.cif"}, query + ">1abc_C\nARND\n"), HasSubstr("there is no chain 'C'"));
  EXPECT_THAT(error_of({"1abc.cif"}, query + ">1abc\nARND\n"), HasSubstr("choose one"));
  EXPECT_THAT(error_of({"1abc.cif"}, query + ">1abc_A\nAR-D\n"), HasSubstr("not a part of"));
  EXPECT_THAT(error_of({"1abc.cif"}, query + ">1abc_A\n----\n"), HasSubstr("a known N, CA and C"));
  EXPECT_THAT(error_of({"1abc.cif", "poor.cif"}, query + ">1abc_A\nARND\n"), HasSubstr("no row names poor.cif"));
  EXPECT_THAT(error_of({"1abc.cif", "1abc.pdb"}, query + ">1abc_A\nARND\n"), HasSubstr("both 1abc"));
}

TEST(TemplateFeatures, OfACropAreThoseOfTheWhole) {
  const ProteinChain chain = ChainOfLetters("MARNDGW");
  const TemplateFeatures whole = FeaturesOf(TemplateOf("made", chain, std::vector<std::int32_t>{0, 1, -1, 2, 5, 6})),
                         part = CropOf(whole, 1, 4);
  EXPECT_THAT(part.types, ElementsAre(0, kGap, 1, 7));
  EXPECT_THAT(part.backbone_known, ElementsAre(1, 0, 1, 1));
  EXPECT_EQ(part.beta.ToVector<float>(), whole.beta.ViewRows(1, 4).ToVector<float>());
  EXPECT_EQ(part.angles.ToVector<float>(), whole.angles.ViewRows(1, 4).ToVector<float>());
  EXPECT_THAT(ErrorOf([&] { CropOf(whole, 1, 1000); }), HasSubstr("residues 2 to 1001"));
}

}  // namespace
}  // namespace headlight::templates_test
