#include "headlight/protein/secondary_structure.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace headlight {
namespace {

constexpr double kFarthestAlphas = 9;  // in angstrom; residues with a greater CA distance are not bonded

// Returns the energy in kcal/mol between the charges of C=O and N-H, with partial charges of 0.42 and 0.2 electrons.
double BondEnergy(const BackboneAtoms& acceptor, const Vector3& n, const Vector3& hydrogen) {
  const Vector3 &c = acceptor[2], &o = acceptor[3];
  // The lower bound avoids division by zero, since the atoms of a wrong structure can coincide.
  const auto inverse = [](const Vector3& a, const Vector3& b) { return 1 / std::max(0.5, Distance(a, b)); };
  return 0.42 * 0.2 * 332 * (inverse(o, n) + inverse(c, hydrogen) - inverse(o, hydrogen) - inverse(c, n));
}

// Finds for each residue the residues whose N-H is bonded to its C=O.
class HydrogenBonds {
 public:
  HydrogenBonds(std::span<const BackboneAtoms> backbone, std::span<const int> breaks) : bonds_(backbone.size()) {
    for (std::size_t donor = 1; donor < backbone.size(); ++donor) {
      if (std::ranges::find(breaks, static_cast<int>(donor) - 1) != breaks.end()) continue;
      const BackboneAtoms& before = backbone[donor - 1];
      const Vector3& n = backbone[donor][0];
      const Vector3 from_o = before[2] - before[3];
      if (Norm(from_o) == 0) continue;
      const Vector3 hydrogen = n + Unit(from_o);
      for (std::size_t acceptor = 0; acceptor < backbone.size(); ++acceptor)
        if (acceptor != donor && acceptor + 1 != donor &&
            Distance(backbone[acceptor][1], backbone[donor][1]) < kFarthestAlphas &&
            BondEnergy(backbone[acceptor], n, hydrogen) < -0.5)
          bonds_[acceptor].push_back(static_cast<int>(donor));
    }
  }

  bool operator()(int acceptor, int donor) const {
    return acceptor >= 0 && acceptor < static_cast<int>(bonds_.size()) &&
           std::ranges::find(bonds_[static_cast<std::size_t>(acceptor)], donor) !=
               bonds_[static_cast<std::size_t>(acceptor)].end();
  }
  const std::vector<int>& of(int acceptor) const { return bonds_[static_cast<std::size_t>(acceptor)]; }

 private:
  std::vector<std::vector<int>> bonds_;
};

}  // namespace

std::vector<SecondaryStructure> SecondaryStructureOf(std::span<const BackboneAtoms> backbone,
                                                     std::span<const int> breaks) {
  const HydrogenBonds bonds(backbone, breaks);
  const int residues = static_cast<int>(backbone.size());
  std::vector<bool> bridged(backbone.size());
  const auto bridge = [&](int i, int j) {
    if (i < 0 || j < 0 || i >= residues || j >= residues || std::abs(i - j) < 3) return;
    const bool parallel = (bonds(i - 1, j) && bonds(j, i + 1)) || (bonds(j - 1, i) && bonds(i, j + 1));
    const bool antiparallel = (bonds(i, j) && bonds(j, i)) || (bonds(i - 1, j + 1) && bonds(j - 1, i + 1));
    if (parallel || antiparallel) bridged[static_cast<std::size_t>(i)] = bridged[static_cast<std::size_t>(j)] = true;
  };
  // In each of the four bridge patterns, i and j differ by at most one from the acceptor and donor of a bond.
  for (int acceptor = 0; acceptor < residues; ++acceptor)
    for (const int donor : bonds.of(acceptor))
      for (int i = acceptor - 1; i <= acceptor + 1; ++i)
        for (int j = donor - 1; j <= donor + 1; ++j) bridge(i, j);

  std::vector<SecondaryStructure> kinds(backbone.size(), SecondaryStructure::coil);
  for (std::size_t i = 0; i + 1 < kinds.size(); ++i)
    if (bridged[i] && bridged[i + 1]) kinds[i] = kinds[i + 1] = SecondaryStructure::strand;
  for (int i = 1; i + 4 < residues; ++i)
    if (bonds(i - 1, i + 3) && bonds(i, i + 4)) std::fill_n(kinds.begin() + i, 4, SecondaryStructure::helix);
  return kinds;
}

}  // namespace headlight
