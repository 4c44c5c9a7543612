#include "headlight/protein/structure.h"

#include <algorithm>

#include "headlight/base/error.h"
#include "headlight/base/json.h"

namespace headlight {
namespace {

constexpr std::size_t kN = 0, kCa = 1, kC = 2;  // of atom37

// Whether a peptide bond joins the residue to the next.
bool Bound(const Residue& residue, const Residue& next) {
  constexpr double kFarthestBond = 2.5, kFarthestCa = 5;
  if (residue.known[kC] && next.known[kN]) return Distance(residue.atoms[kC], next.atoms[kN]) <= kFarthestBond;
  return residue.known[kCa] && next.known[kCa] && Distance(residue.atoms[kCa], next.atoms[kCa]) <= kFarthestCa;
}

}  // namespace

bool Residue::observed() const { return std::find(known.begin(), known.end(), true) != known.end(); }

std::string ProteinChain::Letters() const {
  std::string letters;
  for (const Residue& residue : residues) letters += ResidueTypes()[static_cast<std::size_t>(residue.type)].letter;
  return letters;
}

const ProteinChain& ChainOf(const Structure& structure, std::string_view chain) {
  std::string names;
  for (const ProteinChain& one : structure.chains) {
    if (one.name == chain) return one;
    if (names.size() < 200) names += (names.empty() ? "" : ", ") + one.name;
  }
  Check(!structure.chains.empty(), "{}: there is no protein chain", structure.name);
  Check(chain.empty(), "{}: there is no chain {}; the protein chains are {}", structure.name, Quoted(chain), names);
  Check(structure.chains.size() == 1, "{}: there are {} protein chains, {}: one must be chosen", structure.name,
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
