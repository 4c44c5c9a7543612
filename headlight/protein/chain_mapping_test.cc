#include "headlight/protein/chain_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/test_support.h"

namespace headlight::chain_mapping_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kFirst = "MKVLAEYTWGRDAACFHIKL", kSecond = "GSSPTNQERKWYVVLDDMHC";

// Returns a helix with these residues, numbered from `number`, whose axis passes through `at`.
ProteinChain Helix(const std::string& name, std::string_view letters, const Vector3& at, int number = 1) {
  ProteinChain chain{name, {}};
  for (std::size_t i = 0; i < letters.size(); ++i) {
    Residue residue;
    residue.type = ResidueOfLetter(letters[i]).value();
    residue.number = number + static_cast<int>(i);
    residue.known[1] = true;
    const double angle = 1.745 * static_cast<double>(i);
    residue.atoms[1] = at + Vector3{2.3 * std::cos(angle), 2.3 * std::sin(angle), 1.5 * static_cast<double>(i)};
    chain.residues.push_back(residue);
  }
  return chain;
}

// Returns the structure rotated by 90 degrees and shifted.
Structure Moved(Structure structure) {
  for (ProteinChain& chain : structure.chains)
    for (Residue& residue : chain.residues)
      for (Vector3& p : residue.atoms) p = {5 - p.y, p.x + 2, p.z - 1};
  return structure;
}

void Rename(Structure& structure, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) structure.chains[i].name = names[i];
}

// Formats each pair as the names of the model's and the reference's chain, such as "XA YB -C".
std::string PairsOf(const ChainMapping& mapping, const Structure& model, const Structure& reference) {
  std::string pairs;
  for (const MappedChain& chain : mapping.chains) {
    pairs += pairs.empty() ? "" : " ";
    pairs += chain.model ? model.chains[*chain.model].name : "-";
    pairs += chain.reference ? reference.chains[*chain.reference].name : "-";
  }
  return pairs;
}

double TmScore(const ChainMapping& mapping) {
  const Correspondence& pairs = mapping.residues;
  return ScoreSuperposed(CaOf(pairs.model), CaOf(pairs.reference), pairs.reference_length).tm_score;
}

double Lddt(const ChainMapping& mapping) {
  return ScoreLocalDistances(mapping.residues.model_or_none, mapping.residues.whole_reference, false).score;
}

TEST(ChainMapping, PairsBySequenceIfNamesAndOrderDiffer) {
  const Structure reference{"reference", {Helix("A", kFirst, {0, 0, 0}), Helix("B", kSecond, {9, 0, 0})}};
  Structure model = Moved(reference);
  Rename(model, {"B", "A"});
  ChainMapping mapping = MapChains(model, reference);
  EXPECT_EQ(PairsOf(mapping, model, reference), "BA AB");
  EXPECT_EQ(mapping.paired_by, ChainPairing::sequence);
  EXPECT_EQ(mapping.residues.paired_by, Pairing::index);
  EXPECT_EQ(mapping.residues.reference_length, 40);
  EXPECT_NEAR(TmScore(mapping), 1, 1e-9);
  EXPECT_EQ(Lddt(mapping), 1);  // including distances between the chains, which are 9 A apart
  std::swap(model.chains[0], model.chains[1]);
  EXPECT_EQ(PairsOf(MapChains(model, reference), model, reference), "BA AB");
  // On request, chains are paired by name. Residues with equal numbers then have different types.
  mapping = MapChains(model, reference, ChainPairing::name, Pairing::number);
  EXPECT_EQ(PairsOf(mapping, model, reference), "AA BB");
  EXPECT_EQ(mapping.paired_by, ChainPairing::name);
  // A chain's name can have several letters.
  Rename(model, {"long", "Q"});
  EXPECT_EQ(PairsOf(MapChains(model, reference), model, reference), "QA longB");
}

TEST(ChainMapping, ResiduesOfEachPairAreCounted) {
  const Structure reference{"reference", {Helix("A", kFirst, {0, 0, 0}), Helix("B", kSecond, {9, 0, 0})}};
  // The second chain lacks the last 5 residues of the first sequence and is numbered from 101.
  const Structure model{"model", {Helix("A", kSecond, {9, 0, 0}), Helix("B", kFirst.substr(0, 15), {0, 0, 0}, 101)}};
  const ChainMapping mapping = MapChains(model, reference);
  ASSERT_EQ(PairsOf(mapping, model, reference), "BA AB");
  EXPECT_EQ(mapping.chains[0].residues, 15);
  EXPECT_EQ(mapping.chains[0].reference_residues, 20);
  EXPECT_EQ(mapping.chains[0].paired_by, Pairing::alignment);
  EXPECT_EQ(mapping.chains[1].residues, 20);
  EXPECT_EQ(mapping.chains[1].paired_by, Pairing::index);
  EXPECT_NEAR(TmScore(mapping), 35.0 / 40, 1e-9);
}

TEST(ChainMapping, ChoosesTheBestPermutationOfEqualChains) {
  const Structure reference{
      "reference", {Helix("A", kFirst, {0, 0, 0}), Helix("B", kFirst, {20, 0, 0}), Helix("C", kFirst, {50, 0, 10})}};
  for (const auto& names : std::vector<std::vector<std::string>>{
           {"A", "B", "C"}, {"A", "C", "B"}, {"B", "A", "C"}, {"B", "C", "A"}, {"C", "A", "B"}, {"C", "B", "A"}}) {
    Structure model = Moved(reference);
    Rename(model, names);
    const ChainMapping mapping = MapChains(model, reference);
    EXPECT_EQ(PairsOf(mapping, model, reference), names[0] + "A " + names[1] + "B " + names[2] + "C");
    EXPECT_NEAR(TmScore(mapping), 1, 1e-9);
    const bool named = names[0] == "A" && names[1] == "B";
    EXPECT_EQ(mapping.paired_by, named ? ChainPairing::name : ChainPairing::sequence);
    const double by_name = TmScore(MapChains(model, reference, ChainPairing::name));
    EXPECT_EQ(by_name < 0.9, !named) << by_name;
  }
}

TEST(ChainMapping, NamesBreakTiesOfScores) {
  // Each chain is the other chain rotated by 180 degrees.
  Structure reference{"reference", {Helix("A", kFirst, {6, 0, 0}), Helix("B", kFirst, {6, 0, 0})}};
  for (Residue& residue : reference.chains[1].residues) {
    Vector3& p = residue.atoms[1];
    p = {-p.x, -p.y, p.z};
  }
  Structure model = Moved(reference);
  EXPECT_EQ(PairsOf(MapChains(model, reference), model, reference), "AA BB");
  std::swap(model.chains[0], model.chains[1]);
  EXPECT_EQ(PairsOf(MapChains(model, reference), model, reference), "AA BB");
  EXPECT_EQ(MapChains(model, reference).paired_by, ChainPairing::name);
}

TEST(ChainMapping, ChainsThatTheModelLacksCountAsMissing) {
  const Structure reference{
      "reference", {Helix("A", kFirst, {0, 0, 0}), Helix("B", kFirst, {20, 0, 0}), Helix("C", kFirst, {50, 0, 10})}};
  Structure model = Moved(reference);
  model.chains.erase(model.chains.begin());
  Rename(model, {"A", "B"});
  ChainMapping mapping = MapChains(model, reference);
  EXPECT_EQ(PairsOf(mapping, model, reference), "-A AB BC");
  EXPECT_EQ(mapping.residues.reference_length, 60);
  EXPECT_NEAR(TmScore(mapping), 40.0 / 60, 1e-9);
  EXPECT_NEAR(Lddt(mapping), 2.0 / 3, 1e-9);  // the chains are more than 15 A apart
  // If the structures are exchanged, one chain exists only in the model. This chain does not change the scores.
  mapping = MapChains(reference, model);
  EXPECT_EQ(PairsOf(mapping, reference, model), "BA CB A-");
  EXPECT_EQ(mapping.residues.reference_length, 40);
  EXPECT_NEAR(TmScore(mapping), 1, 1e-9);
}

TEST(ChainMapping, PairsTheMoreSimilarSequence) {
  // 17 of the 20 residues are equal to the residues of kFirst.
  const std::string close = "MKVLAEYTWGRDAACFHWWW";
  const Structure reference{"reference", {Helix("A", kFirst, {0, 0, 0}), Helix("B", close, {20, 0, 0})}};
  // The positions of the two chains are exchanged.
  const Structure model{"model", {Helix("A", close, {0, 0, 0}), Helix("B", kFirst, {20, 0, 0})}};
  EXPECT_EQ(PairsOf(MapChains(model, reference), model, reference), "BA AB");
}

// Checks the greedy pairing, which is used because equal chains have too many assignments.
TEST(ChainMapping, ManyEqualChainsArePairedGreedily) {
  Structure reference{"reference", {}};
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) {
    reference.chains.push_back(Helix(std::string(1, static_cast<char>('A' + i)), kFirst, {20.0 * i, i * 1.5 * i, 0}));
    names.push_back(std::string(1, static_cast<char>('A' + (i * 5 + 3) % 12)));
  }
  Structure model = Moved(reference);
  Rename(model, names);
  const ChainMapping mapping = MapChains(model, reference);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(mapping.chains[i].model, i);
  EXPECT_NEAR(TmScore(mapping), 1, 1e-9);
  // Extends the reference to 64 chains, the maximum.
  for (int i = 12; i < 64; ++i)
    reference.chains.push_back(Helix(std::to_string(i), kFirst, {20.0 * i, i * 1.5 * i, 0}));
  model = Moved(reference);
  std::reverse(model.chains.begin(), model.chains.end());
  EXPECT_NEAR(TmScore(MapChains(model, reference)), 1, 1e-9);
}

TEST(ChainMapping, PairsByNameIfNoSequencesAreSimilar) {
  const Structure reference{"reference", {Helix("A", kFirst, {0, 0, 0}), Helix("B", kFirst, {20, 0, 0})}};
  Structure model{"model", {Helix("B", "GGGGGGGGGGGG", {20, 0, 0}), Helix("X", "GGGGGGGGGGGG", {0, 0, 0})}};
  const ChainMapping mapping = MapChains(model, reference);
  EXPECT_EQ(PairsOf(mapping, model, reference), "-A BB X-");
  EXPECT_EQ(mapping.paired_by, ChainPairing::name);
  EXPECT_THAT(ErrorOf([&] { MapChains(model, reference, ChainPairing::sequence); }), HasSubstr("no two chains"));
  model.chains[0].name = "Y";
  EXPECT_THAT(ErrorOf([&] { MapChains(model, reference); }), HasSubstr("no two chains"));
  // Two single chains are always paired.
  const Structure one{"one", {model.chains[0]}}, other{"other", {reference.chains[0]}};
  EXPECT_EQ(MapChains(one, other).chains[0].residues, 12);
  EXPECT_EQ(MapChains(one, other).paired_by, ChainPairing::name);
}

TEST(ChainMapping, RefusesWhatCannotBePaired) {
  const Structure reference{"reference", {Helix("A", kFirst, {0, 0, 0}), Helix("B", kFirst, {20, 0, 0})}};
  Structure model = reference;
  model.name = "model";
  model.chains[1].name = "A";
  EXPECT_THAT(ErrorOf([&] { MapChains(model, reference, ChainPairing::name); }),
              HasSubstr("model: two chains are called"));
  EXPECT_EQ(MapChains(model, reference).chains[1].residues, 20);
  model.chains.resize(65, model.chains[0]);
  EXPECT_THAT(ErrorOf([&] { MapChains(model, reference); }), HasSubstr("model: 65 chains"));
  EXPECT_THAT(ErrorOf([&] { MapChains({"none", {}}, reference); }), HasSubstr("none: there is no"));
  // Two residues are too few for a superposition, so chains are paired by name.
  const Structure tiny{"tiny", {Helix("A", "MK", {0, 0, 0}), Helix("B", "MK", {20, 0, 0})}};
  EXPECT_EQ(PairsOf(MapChains(tiny, tiny), tiny, tiny), "AA BB");
}

TEST(ChainMapping, IdentityIsRelativeToTheShorterSequence) {
  const ProteinChain whole = Helix("A", kFirst, {}), half = Helix("A", kFirst.substr(5, 10), {});
  EXPECT_EQ(SequenceIdentity(whole, whole), 1);
  EXPECT_EQ(SequenceIdentity(half, whole), 1);
  EXPECT_EQ(SequenceIdentity(Helix("A", "MKVLAEYTWGRDAACFHIKA", {}), whole), 19.0 / 20);
  EXPECT_EQ(SequenceIdentity({}, whole), 0);
  EXPECT_EQ(SequenceIdentity(Helix("A", "XXXX", {}), whole), 0);
}

}  // namespace
}  // namespace headlight::chain_mapping_test
