#include "headlight/protein/structure_labels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "headlight/base/error.h"

namespace headlight {
namespace {

constexpr std::size_t kFirstChi = 3;       // index of chi1 among the torsions
constexpr std::size_t kFirstChiGroup = 4;  // index of chi1 among the rigid groups

// Returns the frame at the middle of three atoms, or nullopt if they are collinear.
std::optional<RigidFrame> FrameOfAtoms(const Vector3& x, const Vector3& near_y, const Vector3& origin) {
  constexpr double kLeast = 1e-3;  // area in square angstrom
  if (!(Norm(Cross(x, near_y)) > kLeast)) return std::nullopt;
  return FrameOf(x, near_y, origin);
}

void SetFrame(ResidueLabels& labels, std::size_t group, const std::optional<RigidFrame>& frame) {
  if (!frame) return;
  labels.frames[group] = *frame;
  labels.frame_known[group] = true;
}

void SetFrames(ResidueLabels& labels, const Residue& residue) {
  const ResidueTables& tables = TablesOfResidues();
  const auto type = static_cast<std::size_t>(labels.type);
  for (std::size_t group = 0; group < kRigidGroups; ++group) {
    if (!tables.has_group[type][group]) continue;
    const auto& atoms = tables.group_atoms[type][group];
    const auto known = [&](std::int32_t atom) { return residue.known[static_cast<std::size_t>(atom)]; };
    if (!std::all_of(atoms.begin(), atoms.end(), known)) continue;
    const auto at = [&](std::size_t i) { return residue.atoms[static_cast<std::size_t>(atoms[i])]; };
    // The x axis of the backbone points from CA to C. The x axis of other groups points from their first atom to their
    // origin.
    const Vector3 x = group == 0 ? at(0) - at(1) : at(1) - at(0);
    SetFrame(labels, group, FrameOfAtoms(x, at(2) - at(1), at(1)));
  }
}

void SetTorsion(ResidueLabels& labels, std::size_t torsion, const std::array<Vector3, 4>& atoms) {
  const auto& [a, b, c, d] = atoms;
  if (!FrameOfAtoms(c - b, a - b, b) || !FrameOfAtoms(c - b, d - c, c)) return;
  const double angle = Dihedral(a, b, c, d);
  labels.torsions[torsion] = {std::sin(angle), std::cos(angle)};
  labels.torsion_known[torsion] = true;
}

// Sets the torsions of a residue. `before` is the previous residue, or null.
void SetTorsions(ResidueLabels& labels, const Residue* before, const Residue& residue) {
  if (before != nullptr && before->known[kAtomC]) {
    if (before->known[kAtomCa] && residue.known[kAtomN] && residue.known[kAtomCa])
      SetTorsion(labels, 0,
                 {before->atoms[kAtomCa], before->atoms[kAtomC], residue.atoms[kAtomN], residue.atoms[kAtomCa]});
    if (residue.known[kAtomN] && residue.known[kAtomCa] && residue.known[kAtomC])
      SetTorsion(labels, 1,
                 {before->atoms[kAtomC], residue.atoms[kAtomN], residue.atoms[kAtomCa], residue.atoms[kAtomC]});
  }
  if (residue.known[kAtomN] && residue.known[kAtomCa] && residue.known[kAtomC] && residue.known[kAtomO]) {
    SetTorsion(labels, 2,
               {residue.atoms[kAtomN], residue.atoms[kAtomCa], residue.atoms[kAtomC], residue.atoms[kAtomO]});
    for (double& part : labels.torsions[2]) part = -part;  // psi is defined by the next N, which is opposite O
  }
  const ResidueTables& tables = TablesOfResidues();
  const auto type = static_cast<std::size_t>(labels.type);
  for (std::size_t chi = 0; chi < kChiAngles; ++chi) {
    if (!tables.has_chi[type][chi]) continue;
    std::array<Vector3, 4> atoms;
    bool known = true;
    for (std::size_t i = 0; i < 4; ++i) {
      const auto atom = static_cast<std::size_t>(tables.chi_atoms[type][chi][i]);
      known = known && residue.known[atom];
      atoms[i] = residue.atoms[atom];
    }
    if (known) SetTorsion(labels, kFirstChi + chi, atoms);
  }
}

}  // namespace

std::vector<std::int32_t> PositionsOf(const ProteinChain& chain) {
  const std::vector<int> breaks = BreaksOf(chain);
  std::vector<std::int32_t> positions;
  std::int64_t index = 0;
  for (std::size_t i = 0; i < chain.residues.size(); ++i) {
    if (i > 0) {
      const Residue &before = chain.residues[i - 1], &residue = chain.residues[i];
      const bool gap = before.observed() && residue.observed() &&
                       std::binary_search(breaks.begin(), breaks.end(), static_cast<int>(i) - 1);
      index += gap ? std::max<std::int64_t>(1, std::int64_t{residue.number} - before.number) : 1;
    }
    constexpr std::int64_t kFarthest = std::int64_t{1} << 30;
    Check(index <= kFarthest, "chain {}: the numbers of its residues jump by more than {}", chain.name, kFarthest);
    positions.push_back(static_cast<std::int32_t>(index));
  }
  return positions;
}

std::vector<ResidueLabels> LabelsOf(const ProteinChain& chain) {
  const ResidueTables& tables = TablesOfResidues();
  const std::vector<std::int32_t> positions = PositionsOf(chain);
  const int glycine = *ResidueOfLetter('G');
  std::vector<ResidueLabels> all;
  for (std::size_t i = 0; i < chain.residues.size(); ++i) {
    const Residue& residue = chain.residues[i];
    const auto type = static_cast<std::size_t>(residue.type);
    ResidueLabels labels;
    labels.type = residue.type;
    labels.position = positions[i];
    for (std::size_t atom = 0; atom < kAtom37; ++atom)
      labels.resolved[atom] = tables.has_atom37[type][atom] && residue.known[atom];
    for (std::size_t atom = 0; atom < kAtom14; ++atom) {
      const auto column = static_cast<std::size_t>(tables.atom14_to_atom37[type][atom]);
      if (!tables.has_atom14[type][atom] || !residue.known[column]) continue;
      labels.atoms[atom] = residue.atoms[column];
      labels.known[atom] = true;
    }
    SetFrames(labels, residue);
    SetTorsions(labels, i > 0 ? &chain.residues[i - 1] : nullptr, residue);
    const std::size_t beta = residue.type == glycine ? kAtomCa : kAtomCb;
    labels.beta_known = residue.known[beta];
    if (labels.beta_known) labels.beta = residue.atoms[beta];
    all.push_back(labels);
  }
  return all;
}

ResidueLabels Renamed(const ResidueLabels& residue) {
  const ResidueTables& tables = TablesOfResidues();
  const auto type = static_cast<std::size_t>(residue.type);
  ResidueLabels renamed = residue;
  for (std::size_t atom = 0; atom < kAtom14; ++atom) {
    const auto other = static_cast<std::size_t>(tables.atom14_swap[type][atom]);
    renamed.atoms[atom] = residue.atoms[other];
    renamed.known[atom] = residue.known[other];
  }
  for (std::size_t group = kFirstChiGroup; group < kRigidGroups; ++group) {
    if (!tables.group_ambiguous[type][group]) continue;
    for (Vector3& row : renamed.frames[group].rows) row = {row.x, -row.y, -row.z};
    for (double& part : renamed.torsions[kFirstChi + group - kFirstChiGroup]) part = -part;
  }
  return renamed;
}

std::vector<bool> BetterRenamed(std::span<const ResidueLabels> residues,
                                std::span<const std::array<Vector3, kAtom14>> predicted) {
  Check(residues.size() == predicted.size(), "{} residues of a structure and {} of a prediction", residues.size(),
        predicted.size());
  const ResidueTables& tables = TablesOfResidues();
  struct Certain {
    Vector3 known, predicted;
  };
  std::vector<Certain> certain;
  for (std::size_t i = 0; i < residues.size(); ++i)
    for (std::size_t atom = 0; atom < kAtom14; ++atom)
      if (residues[i].known[atom] && !tables.atom14_ambiguous[static_cast<std::size_t>(residues[i].type)][atom])
        certain.push_back({residues[i].atoms[atom], predicted[i][atom]});
  std::vector<bool> better(residues.size());
  for (std::size_t i = 0; i < residues.size(); ++i) {
    const auto type = static_cast<std::size_t>(residues[i].type);
    double as_named = 0, as_renamed = 0;
    for (std::size_t atom = 0; atom < kAtom14; ++atom) {
      const auto other_name = static_cast<std::size_t>(tables.atom14_swap[type][atom]);
      if (!tables.atom14_ambiguous[type][atom] || !residues[i].known[atom] || !residues[i].known[other_name]) continue;
      const Vector3 named = residues[i].atoms[atom], renamed = residues[i].atoms[other_name];
      for (const Certain& other : certain) {
        const double distance = Distance(predicted[i][atom], other.predicted);
        as_named += std::abs(distance - Distance(named, other.known));
        as_renamed += std::abs(distance - Distance(renamed, other.known));
      }
    }
    better[i] = as_renamed < as_named;
  }
  return better;
}

}  // namespace headlight
