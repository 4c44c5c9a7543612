#include "headlight/protein/structure.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

// Returns true if a peptide bond joins the residue to the next residue.
bool Bound(const Residue& residue, const Residue& next) {
  constexpr double kFarthestBond = 2.5, kFarthestCa = 5;
  if (residue.known[kAtomC] && next.known[kAtomN])
    return Distance(residue.atoms[kAtomC], next.atoms[kAtomN]) <= kFarthestBond;
  return residue.known[kAtomCa] && next.known[kAtomCa] &&
         Distance(residue.atoms[kAtomCa], next.atoms[kAtomCa]) <= kFarthestCa;
}

}  // namespace

bool Residue::observed() const { return std::find(known.begin(), known.end(), true) != known.end(); }

std::string ProteinChain::Letters() const {
  std::string letters;
  for (const Residue& residue : residues) letters += ResidueTypes()[static_cast<std::size_t>(residue.type)].letter;
  return letters;
}

std::vector<std::uint8_t> ProteinChain::Types() const {
  std::vector<std::uint8_t> types;
  for (const Residue& residue : residues) types.push_back(static_cast<std::uint8_t>(residue.type));
  return types;
}

const ProteinChain& ChainOf(const Structure& structure, std::string_view chain) {
  std::string names;
  for (const ProteinChain& one : structure.chains) {
    if (one.name == chain) return one;
    if (names.size() < 200) names += (names.empty() ? "" : ", ") + one.name;
  }
  Check(!structure.chains.empty(), "{}: there is no protein chain", structure.name);
  Check(chain.empty(), "{}: there is no chain {}; the protein chains are {}", structure.name, Quoted(chain), names);
  Check(structure.chains.size() == 1, "{}: there are {} protein chains, {}: choose one", structure.name,
        structure.chains.size(), names);
  return structure.chains.front();
}

std::vector<int> BreaksOf(const ProteinChain& chain) {
  std::vector<int> breaks;
  for (std::size_t i = 0; i + 1 < chain.residues.size(); ++i)
    if (!Bound(chain.residues[i], chain.residues[i + 1])) breaks.push_back(static_cast<int>(i));
  return breaks;
}

}  // namespace headlight
