#include "headlight/protein/templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "headlight/base/file.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/protein/sequences.h"

namespace headlight {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Places = std::vector<std::int32_t>;

// A chain of these residues at places that follow one another, with backbones and C betas.
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

TEST(ReadTemplates, TheChainThatIsMostAlikeIsAligned) {
  Files files;
  files.Add("1abc.cif", {ChainOfLetters("GGGG", "A"), ChainOfLetters("PPWCHWFKK", "B"), ChainOfLetters("WCHW", "C")});
  const std::vector<ProteinTemplate> templates = files.Read("AWCHWFA", {"1abc.cif"});
  ASSERT_EQ(templates.size(), 1U);
  EXPECT_EQ(templates[0].name, "1abc.cif, chain B");
  EXPECT_EQ(LettersOf(templates[0]), "-WCHWF-");
  EXPECT_EQ(templates[0].aligned(), 5);
  EXPECT_EQ(templates[0].residues[1].number, 3);
}

TEST(ReadTemplates, RowsOfAnAlignmentNameChains) {
  Files files;
  files.Add("dir/1abc.cif.gz", {ChainOfLetters("MANCDCW", "A"), ChainOfLetters("GGG", "B")});
  files.Add("2xyz.pdb", {ChainOfLetters("KKAFNDK", "Q")});
  files.Add("2xyz_1.pdb", {ChainOfLetters("WCW", "1")});
  // Inserted letters are the chain's too, and X stands for any of it.
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

TEST(ReadTemplates, RefusesWhatDoesNotFit) {
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
  EXPECT_THAT(error_of({"empty.cif"}), HasSubstr("empty.cif: there is no protein chain"));
  EXPECT_THAT(error_of({"poor.cif"}), HasSubstr("known of no residue that is aligned"));
  EXPECT_THAT(error_of({"1abc.cif"}, ">query\nARNN\n"), HasSubstr("its first row must be the query"));
  EXPECT_THAT(error_of({"1abc.cif"}, ">query\nARN\n"), HasSubstr("of 4 residues, and is another sequence, of 3"));
  EXPECT_THAT(error_of({"1abc.cif"}, query + ">1abd_A\nARND\n"),
              AllOf(HasSubstr("row '1abd_A'"), HasSubstr("none of the structures")));
  EXPECT_THAT(error_of({"1abc.cif"}, query + ">1abc_C\nARND\n"), HasSubstr("there is no chain 'C'"));
  EXPECT_THAT(error_of({"1abc.cif"}, query + ">1abc\nARND\n"), HasSubstr("one must be chosen"));
  EXPECT_THAT(error_of({"1abc.cif"}, query + ">1abc_A\nAR-D\n"), HasSubstr("no part of the sequence"));
  EXPECT_THAT(error_of({"1abc.cif"}, query + ">1abc_A\n----\n"), HasSubstr("known of no residue"));
  EXPECT_THAT(error_of({"1abc.cif", "poor.cif"}, query + ">1abc_A\nARND\n"), HasSubstr("no row names poor.cif"));
  EXPECT_THAT(error_of({"1abc.cif", "1abc.pdb"}, query + ">1abc_A\nARND\n"), HasSubstr("both as 1abc"));
}

// All types of residues, gaps among them, with atoms missing here and there, against OpenFold.
TEST(TemplateFeatures, AreOpenFolds) {
  const Safetensors golden(HEADLIGHT_SOURCE_DIR "/headlight/protein/testdata/template_features.safetensors");
  const auto numbers = [&](const char* name) {
    return golden.Read(std::string("template_") + name, DType::float32).ToVector<float>();
  };
  const std::vector<std::int32_t> types = golden.Read("template_aatype", DType::int32).ToVector<std::int32_t>();
  const std::vector<float> atoms = numbers("all_atom_positions"), known = numbers("all_atom_mask");
  ProteinTemplate one{"made", {}};
  for (std::size_t i = 0; i < types.size(); ++i) {
    Residue& residue = one.residues.emplace_back();
    residue.type = types[i];
    for (std::size_t atom = 0; atom < kAtom37; ++atom) {
      const std::size_t at = i * kAtom37 + atom;
      residue.known[atom] = known[at] != 0;
      residue.atoms[atom] = {atoms[3 * at], atoms[3 * at + 1], atoms[3 * at + 2]};
    }
  }
  const TemplateFeatures features = FeaturesOf(one);
  EXPECT_EQ(features.types, types);
  EXPECT_EQ(features.beta.ToVector<float>(), numbers("pseudo_beta"));
  const std::vector<float> betas = numbers("pseudo_beta_mask"), torsions = numbers("torsion_angles_sin_cos"),
                           others = numbers("alt_torsion_angles_sin_cos"), mask = numbers("torsion_angles_mask");
  for (std::size_t i = 0; i < types.size(); ++i) {
    EXPECT_EQ(features.beta_known[i], betas[i]) << i;
    EXPECT_EQ(features.backbone_known[i], known[i * kAtom37] * known[i * kAtom37 + 1] * known[i * kAtom37 + 2]) << i;
    const float* const row = features.angles.matrix<float>().row(static_cast<std::int64_t>(i));
    for (int type = 0; type < kAlignmentLetters; ++type) EXPECT_EQ(row[type], type == types[i] ? 1 : 0);
    for (std::size_t part = 0; part < 14; ++part) {
      EXPECT_NEAR(row[22 + part], torsions[14 * i + part], 1e-4) << i << " " << part;
      EXPECT_NEAR(row[36 + part], others[14 * i + part], 1e-4) << i << " " << part;
    }
    for (std::size_t torsion = 0; torsion < 7; ++torsion) EXPECT_EQ(row[50 + torsion], mask[7 * i + torsion]) << i;
    EXPECT_EQ(row[kPsiKnown], mask[7 * i + 2]);
  }

  // A part has the features of the whole.
  const TemplateFeatures part = CropOf(features, 3, 5);
  EXPECT_EQ(part.types, Places(types.begin() + 3, types.begin() + 8));
  EXPECT_EQ(part.angles.ToVector<float>(), features.angles.ViewRows(3, 5).ToVector<float>());
  EXPECT_THAT(ErrorOf([&] { CropOf(features, 3, 1000); }), HasSubstr("residues 4 to 1003 of a template of 30"));
}

}  // namespace
}  // namespace headlight
