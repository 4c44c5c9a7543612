#include "headlight/protein/nn/structure_violations.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/pair_sums.h"
#include "headlight/ops/rowwise.h"
#include "headlight/ops/view.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

using std::sqrt;

constexpr double kDeviations = 12, kOverlap = 1.5;
constexpr std::size_t kN = 0, kC = 2, kSulfur = 5;  // indices in atom14; kSulfur is the index in cysteine

// Implements equations 44 and 45. As in the authors' code, the angle at C uses the standard deviation of the bond
// length.
Tensor BondLoss(const Tensor& atoms, std::span<const ResidueLabels> residues) {
  std::vector<std::int32_t> first, second;
  std::vector<std::size_t> proline;  // 1 if the second residue is proline, otherwise 0
  const int type_of_proline = *ResidueOfLetter('P');
  for (std::size_t i = 0; i + 1 < residues.size(); ++i) {
    const ResidueLabels &here = residues[i], &next = residues[i + 1];
    if (here.type == kUnknownResidue || next.type == kUnknownResidue || next.position != here.position + 1) continue;
    first.push_back(static_cast<std::int32_t>(i));
    second.push_back(static_cast<std::int32_t>(i) + 1);
    proline.push_back(next.type == type_of_proline ? 1 : 0);
  }
  if (first.empty()) return {};
  // Each row has CA and C of the first residue, and N and CA of the second residue.
  const Tensor losses = ops::Rowwise<1, 6, 6>(
      [proline]<typename Number>(std::int64_t row, const Number* ca_c, const Number* n_ca, Number* to) {
        const std::size_t which = proline[static_cast<std::size_t>(row)];
        using Vector = std::array<Number, 3>;
        const Number epsilon = Number(1e-6F);
        const auto between = [](const Number* a, const Number* b) {
          return Vector{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        };
        const auto dot = [](const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
        const auto length = [&](const Vector& a) { return sqrt(epsilon + dot(a, a)); };
        // Returns the part of the error that exceeds the tolerance.
        const auto excess = [&](const Number& value, double ideal, double deviation) {
          const Number difference = value - Number(static_cast<float>(ideal));
          const Number error =
              sqrt(epsilon + difference * difference) - Number(static_cast<float>(kDeviations * deviation));
          return error < Number(0) ? Number(0) : error;
        };
        const Vector c_ca = between(ca_c + 3, ca_c), c_n = between(ca_c + 3, n_ca), n_to_ca = between(n_ca, n_ca + 3);
        const Number bond = length(c_n);
        const Number at_c = dot(c_ca, c_n) / (length(c_ca) * bond),
                     at_n = -(dot(c_n, n_to_ca) / (bond * length(n_to_ca)));
        to[0] = excess(bond, kPeptideBond[which], kPeptideBondDeviation[which]) +
                excess(at_c, kCosCaCN, kPeptideBondDeviation[0]) + excess(at_n, kCosCNCa, kCosCNCaDeviation);
      },
      ops::Embedding(ops::Columns(atoms, 3, 6), first), ops::Embedding(ops::Columns(atoms, 0, 6), second));
  return ops::Scale(ops::Sum(losses), 1 / (static_cast<double>(first.size()) + 1e-6));
}

// Computes the penalty of each pair of atoms in a chain from bounds on their distance. An atom is given by the index
// residue * 14 + atom14.
class Bounds {
 public:
  explicit Bounds(std::span<const ResidueLabels> residues) {
    for (const ResidueLabels& residue : residues) {
      types_.push_back(static_cast<std::size_t>(residue.type));
      places_.push_back(residue.position);
    }
    const auto& types = ResidueTypes();
    for (std::size_t type = 0; type < types.size(); ++type)
      for (std::size_t atom = 0; atom < types[type].atoms.size(); ++atom)
        radii_[type][atom] = static_cast<float>(VanDerWaalsRadius(types[type].atoms[atom].name.front()));
  }

  double atoms() const {
    double count = 0;
    for (const std::size_t type : types_) count += static_cast<double>(ResidueTypes()[type].atoms.size());
    return count;
  }

  // Implements equation 46. A pair of atoms in two residues contributes to the sums of both atoms. A pair within a
  // residue contributes twice to each sum.
  template <typename T>
  ops::PairTerm<T> operator()(std::int64_t i, std::int64_t j, T distance) const {
    const auto residue_i = static_cast<std::size_t>(i / kAtom14), residue_j = static_cast<std::size_t>(j / kAtom14);
    const auto atom_i = static_cast<std::size_t>(i % kAtom14), atom_j = static_cast<std::size_t>(j % kAtom14);
    const float radius_i = radii_[types_[residue_i]][atom_i], radius_j = radii_[types_[residue_j]][atom_j];
    if (radius_i == 0 || radius_j == 0) return {};
    if (residue_i == residue_j) {
      const T least = bounds_.least[types_[residue_i]][atom_i][atom_j];
      const T most = bounds_.most[types_[residue_i]][atom_i][atom_j];
      if (distance < least) return {4 * (least - distance), -4};
      if (distance > most) return {4 * (distance - most), 4};
      return {};
    }
    const T least = static_cast<T>(radius_i) + static_cast<T>(radius_j) - static_cast<T>(kOverlap);
    if (distance >= least || Bonded(residue_i, atom_i, residue_j, atom_j)) return {};
    return {2 * (least - distance), -2};
  }

 private:
  // Returns true for peptide bonds and disulfide bridges. As in the authors' code, two atoms with index 5 count as a
  // bridge for any residue types. Also returns true for two residues at the same position, which a valid chain does not
  // have.
  bool Bonded(std::size_t residue_i, std::size_t atom_i, std::size_t residue_j, std::size_t atom_j) const {
    const auto peptide = [&](std::size_t first, std::size_t c, std::size_t second, std::size_t n) {
      return c == kC && n == kN && places_[first] + 1 == places_[second];
    };
    return peptide(residue_i, atom_i, residue_j, atom_j) || peptide(residue_j, atom_j, residue_i, atom_i) ||
           (atom_i == kSulfur && atom_j == kSulfur) || places_[residue_i] == places_[residue_j];
  }

  DistanceBounds bounds_ = BoundsOfDistances(kOverlap, kDeviations);
  PerResidueType<float, kAtom14> radii_{};  // 0 if there is no such atom
  std::vector<std::size_t> types_;
  std::vector<std::int32_t> places_;
};

}  // namespace

Tensor ViolationLoss(const Tensor& atoms, std::span<const ResidueLabels> residues) {
  Check(atoms.rows() == std::ssize(residues) && atoms.columns() == 3 * kAtom14,
        "ViolationLoss: atoms have shape {} for {} residues", ToString(atoms.shape()), residues.size());
  const Bounds bounds(residues);
  const Tensor clashes = ops::SumOverPairs(
      atoms, [&bounds]<typename T>(std::int64_t i, std::int64_t j, T distance) { return bounds(i, j, distance); },
      1e-10, 1 / (bounds.atoms() + 1e-8));
  const Tensor bonds = BondLoss(atoms, residues);
  return bonds.empty() ? clashes : ops::Add(bonds, clashes);
}

}  // namespace headlight
