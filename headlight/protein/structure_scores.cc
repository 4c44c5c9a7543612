#include "headlight/protein/structure_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/protein/sequence_alignment.h"
#include "headlight/protein/superposition.h"

namespace headlight {
namespace {

constexpr std::size_t kOxt = kAtom37 - 1;  // the index in atom37

// Implements the search of the program TMscore over superpositions. Keeps the best value of each score.
class Search {
 public:
  Search(std::span<const Vector3> model, std::span<const Vector3> reference, std::int64_t length)
      : model_(model), reference_(reference), length_(static_cast<double>(length)), moved_(model.size()) {
    d0_ = TmScale(length);
    search_ = std::clamp(d0_, 4.5, 8.0);
  }

  SuperposedScores Run() {
    const std::size_t residues = model_.size();
    constexpr int kLengths = 6;
    constexpr std::size_t kShortest = 4, kMostStarts = 4096;  // the maximum number of starts per fragment length
    std::size_t fragment = residues;
    for (int i = 0; i < kLengths; ++i) {
      if (i > 0) fragment = std::max(std::min(kShortest, residues), residues >> i);
      if (i == kLengths - 1) fragment = std::min(kShortest, residues);
      const std::size_t step = 1 + residues / kMostStarts;
      for (std::size_t start = 0; start + fragment <= residues; start += step) Refine(start, fragment);
      if (fragment <= kShortest) break;
    }
    const auto share = [&](std::size_t cutoff) { return static_cast<double>(within_[cutoff]) / length_; };
    best_.gdt_ts = (share(1) + share(2) + share(3) + share(4)) / 4;
    best_.gdt_ha = (share(0) + share(1) + share(2) + share(3)) / 4;
    return best_;
  }

  RigidFrame RunOnce() {
    Refine(0, model_.size());
    return best_.superposition;
  }

 private:
  // Superposes a fragment. Then superposes the residues that are close, and repeats this until their set is unchanged.
  void Refine(std::size_t start, std::size_t fragment) {
    constexpr int kMostRounds = 20;
    std::vector<std::size_t> close(fragment), next;
    for (std::size_t i = 0; i < fragment; ++i) close[i] = start + i;
    double cutoff = search_ - 1;
    for (int round = 0; round <= kMostRounds; ++round) {
      next = Score(close, cutoff);
      if (round > 0 && next == close) break;
      close = next;
      cutoff = search_ + 1;
    }
  }

  // Superposes the residues `on` and scores all residues. Returns the residues within the cutoff, which is increased
  // until there are at least 3.
  std::vector<std::size_t> Score(const std::vector<std::size_t>& on, double cutoff) {
    from_.clear();
    to_.clear();
    for (const std::size_t i : on) {
      from_.push_back(model_[i]);
      to_.push_back(reference_[i]);
    }
    const RigidFrame frame = Superpose(from_, to_);
    double sum = 0;
    std::array<std::int64_t, 5> within{};
    for (std::size_t i = 0; i < model_.size(); ++i) {
      const double distance = moved_[i] = Distance(frame(model_[i]), reference_[i]);
      sum += 1 / (1 + (distance / d0_) * (distance / d0_));
      for (std::size_t c = 0; c < kCutoffs.size(); ++c) within[c] += distance <= kCutoffs[c] ? 1 : 0;
    }
    for (std::size_t c = 0; c < kCutoffs.size(); ++c) within_[c] = std::max(within_[c], within[c]);
    if (const double score = sum / length_; score > best_.tm_score) {
      best_.tm_score = score;
      best_.superposition = frame;
    }
    std::vector<std::size_t> close;
    for (;; cutoff += 0.5) {
      close.clear();
      for (std::size_t i = 0; i < moved_.size(); ++i)
        if (moved_[i] < cutoff) close.push_back(i);
      if (close.size() >= std::min<std::size_t>(3, moved_.size())) return close;
    }
  }

  static constexpr std::array<double, 5> kCutoffs = {0.5, 1, 2, 4, 8};

  std::span<const Vector3> model_, reference_;
  double length_, d0_ = 0, search_ = 0;
  std::vector<double> moved_;  // the distances after superposition
  std::vector<Vector3> from_, to_;
  std::array<std::int64_t, 5> within_{};
  SuperposedScores best_;
};

void CheckFinite(std::span<const Vector3> points) {
  for (const Vector3& p : points)
    if (!std::isfinite(p.x + p.y + p.z)) Fail("a position is not finite");
}

void CheckComparable(std::span<const Vector3> model, std::span<const Vector3> reference, std::int64_t length) {
  Check(model.size() == reference.size() && model.size() >= 3 && static_cast<std::int64_t>(model.size()) <= length,
        "the model has {} residues and the reference {} of {}: TM-score needs at least 3, equally many in both",
        model.size(), reference.size(), length);
  CheckFinite(model);
  CheckFinite(reference);
}

// The positions of an atom in the reference and in the model.
struct ComparedAtom {
  Vector3 reference, model;
  std::size_t residue = 0;
  bool in_model = false, certain = true;  // certain: true if the atom's name is unambiguous
};

// Returns the number of thresholds within which the model preserves the distance.
int Kept(const ComparedAtom& a, const ComparedAtom& b, double distance) {
  if (!a.in_model || !b.in_model) return 0;
  return KeptThresholds(std::abs(Distance(a.model, b.model) - distance));
}

using AtomPairs = std::vector<std::array<std::size_t, 2>>;  // indices in atom37

// Returns the pairs of atoms with ambiguous names.
AtomPairs ConventionalPairs(int residue_type) {
  const ResidueType& type = ResidueTypes()[static_cast<std::size_t>(residue_type)];
  AtomPairs pairs;
  for (const auto& [a, b] : type.swapped)
    pairs.push_back({static_cast<std::size_t>(type.atoms[static_cast<std::size_t>(a)].atom37),
                     static_cast<std::size_t>(type.atoms[static_cast<std::size_t>(b)].atom37)});
  return pairs;
}

// Returns the pairs of atoms that lDDT may exchange. These include atoms of ARG, LEU and VAL (Mariani et al., section
// 2).
AtomPairs SymmetricPairs(int residue_type) {
  struct Pair {
    std::string_view residue, first, second;
  };
  constexpr std::array<Pair, 3> kMore = {{{"ARG", "NH1", "NH2"}, {"LEU", "CD1", "CD2"}, {"VAL", "CG1", "CG2"}}};
  AtomPairs pairs = ConventionalPairs(residue_type);
  for (const Pair& pair : kMore)
    if (residue_type == ResidueOfName(pair.residue))
      pairs.push_back({static_cast<std::size_t>(Atom37Of(pair.first).value()),
                       static_cast<std::size_t>(Atom37Of(pair.second).value())});
  return pairs;
}

// Returns the residue with these pairs of atoms exchanged.
Residue Swapped(const Residue& residue, const AtomPairs& pairs) {
  Residue swapped = residue;
  for (const auto& [i, j] : pairs) {
    std::swap(swapped.atoms[i], swapped.atoms[j]);
    std::swap(swapped.known[i], swapped.known[j]);
  }
  return swapped;
}

std::vector<ComparedAtom> AtomsOf(const Residue& model, const Residue& reference, std::size_t index, bool all_atoms) {
  const AtomPairs symmetric = SymmetricPairs(reference.type);
  std::vector<ComparedAtom> atoms;
  for (std::size_t a = all_atoms ? 0 : kAtomCa; a < (all_atoms ? kOxt : kAtomCa + 1); ++a) {
    if (!reference.known[a]) continue;
    const bool ambiguous =
        std::ranges::any_of(symmetric, [&](const auto& pair) { return pair[0] == a || pair[1] == a; });
    atoms.push_back({reference.atoms[a], model.atoms[a], index, model.known[a], !ambiguous});
  }
  return atoms;
}

// The bounding sphere of a residue's atoms in the reference.
struct Sphere {
  Vector3 center;
  double radius = 0;

  // Returns true if no two atoms of the spheres are within lDDT's inclusion radius. The slack allows for rounding
  // errors.
  bool IsFarFrom(const Sphere& other) const {
    constexpr double kSlack = 0.1;
    return Distance(center, other.center) > radius + other.radius + kLddtInclusion + kSlack;
  }
};

Sphere SphereOf(const std::vector<ComparedAtom>& atoms) {
  Sphere sphere;
  if (!atoms.empty()) sphere.center = atoms.front().reference;
  for (const ComparedAtom& atom : atoms)
    sphere.radius = std::max(sphere.radius, Distance(sphere.center, atom.reference));
  return sphere;
}

// For each residue of the reference: the index of the paired residue of the model, or -1.
using Partners = std::vector<std::int32_t>;

Partners ByNumber(const ProteinChain& model, const ProteinChain& reference) {
  std::map<std::pair<int, char>, std::int32_t> index_of;
  for (std::size_t i = 0; i < model.residues.size(); ++i)
    index_of.emplace(std::pair(model.residues[i].number, model.residues[i].insertion), static_cast<std::int32_t>(i));
  Partners partners;
  for (const Residue& residue : reference.residues) {
    const auto found = index_of.find({residue.number, residue.insertion});
    partners.push_back(found == index_of.end() ? -1 : found->second);
  }
  return partners;
}

// Counts of residue pairs with equal and with different types. Pairs with unknown types are not counted.
struct TypesPaired {
  std::int64_t same = 0, different = 0;
};

TypesPaired CountTypes(const ProteinChain& model, const ProteinChain& reference, const Partners& partners) {
  TypesPaired count;
  for (std::size_t i = 0; i < partners.size(); ++i) {
    if (partners[i] < 0) continue;
    const int own = reference.residues[i].type, other = model.residues[static_cast<std::size_t>(partners[i])].type;
    if (own == kUnknownResidue || other == kUnknownResidue) continue;
    ++(own == other ? count.same : count.different);
  }
  return count;
}

}  // namespace

SuperposedScores ScoreSuperposed(std::span<const Vector3> model, std::span<const Vector3> reference,
                                 std::int64_t length) {
  CheckComparable(model, reference, length);
  return Search(model, reference, length).Run();
}

double TmScale(std::int64_t length) {
  constexpr double kLeast = 0.5;
  return std::max(kLeast, length > 15 ? 1.24 * std::cbrt(static_cast<double>(length) - 15) - 1.8 : kLeast);
}

RigidFrame SuperposeClose(std::span<const Vector3> model, std::span<const Vector3> reference) {
  const std::int64_t length = std::ssize(reference);
  CheckComparable(model, reference, length);
  return Search(model, reference, length).RunOnce();
}

double DistanceRootMeanSquare(std::span<const Vector3> model, std::span<const Vector3> reference) {
  Check(model.size() == reference.size() && model.size() >= 2, "the model has {} atoms, but the reference has {}",
        model.size(), reference.size());
  double sum = 0;
  for (std::size_t i = 0; i < model.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double difference = Distance(model[i], model[j]) - Distance(reference[i], reference[j]);
      sum += difference * difference;
    }
  }
  const auto atoms = static_cast<double>(model.size());
  return std::sqrt(sum / (atoms * (atoms - 1) / 2));
}

LocalDistanceScore ScoreLocalDistances(std::span<const Residue> model, std::span<const Residue> reference,
                                       bool all_atoms) {
  Check(model.size() == reference.size(), "the model has {} residues, but the reference has {}", model.size(),
        reference.size());
  std::vector<std::vector<ComparedAtom>> residues;
  std::vector<Sphere> spheres;
  for (std::size_t r = 0; r < reference.size(); ++r) {
    residues.push_back(AtomsOf(model[r], reference[r], r, all_atoms));
    spheres.push_back(SphereOf(residues.back()));
  }
  if (all_atoms) {
    std::vector<std::vector<ComparedAtom>> chosen = residues;
    for (std::size_t r = 0; r < reference.size(); ++r) {
      const AtomPairs symmetric = SymmetricPairs(reference[r].type);
      if (model[r].type != reference[r].type || symmetric.empty()) continue;
      std::vector<ComparedAtom> swapped = AtomsOf(Swapped(model[r], symmetric), reference[r], r, true);
      std::int64_t as_named = 0, as_swapped = 0;
      for (std::size_t a = 0; a < residues[r].size(); ++a) {
        if (residues[r][a].certain) continue;
        for (std::size_t o = 0; o < residues.size(); ++o) {
          if (spheres[r].IsFarFrom(spheres[o])) continue;
          for (const ComparedAtom& other : residues[o]) {
            const double distance = Distance(residues[r][a].reference, other.reference);
            if (other.residue == r || !other.certain || distance >= kLddtInclusion) continue;
            as_named += Kept(residues[r][a], other, distance);
            as_swapped += Kept(swapped[a], other, distance);
          }
        }
      }
      if (as_swapped > as_named) chosen[r] = std::move(swapped);
    }
    residues = std::move(chosen);
  }
  std::vector<std::int64_t> kept(reference.size()), all(reference.size());
  for (std::size_t r = 0; r < residues.size(); ++r) {
    for (std::size_t s = 0; s < r; ++s) {
      if (spheres[r].IsFarFrom(spheres[s])) continue;
      for (const ComparedAtom& a : residues[r]) {
        for (const ComparedAtom& b : residues[s]) {
          const double distance = Distance(a.reference, b.reference);
          if (distance >= kLddtInclusion) continue;
          const int within = Kept(a, b, distance);
          for (const std::size_t residue : {r, s}) {
            kept[residue] += within;
            ++all[residue];
          }
        }
      }
    }
  }
  LocalDistanceScore score;
  double all_kept = 0, all_distances = 0;
  constexpr double kShares = kLddtThresholds.size();
  for (std::size_t r = 0; r < reference.size(); ++r) {
    all_kept += static_cast<double>(kept[r]) / kShares;
    all_distances += static_cast<double>(all[r]);
    score.by_residue.push_back(all[r] == 0 ? -1 : static_cast<double>(kept[r]) / kShares / static_cast<double>(all[r]));
  }
  if (all_distances > 0) score.score = all_kept / all_distances;
  return score;
}

double AllAtomRootMeanSquare(std::span<const Residue> model, std::span<const Residue> reference) {
  Check(model.size() == reference.size(), "the model has {} residues, but the reference has {}", model.size(),
        reference.size());
  std::vector<Residue> named(model.begin(), model.end());
  RigidFrame closest;
  double rmsd = 0;
  // The second pass decides which atoms are exchanged, using the superposition of the first pass.
  for (const bool may_swap : {false, true}) {
    std::vector<Vector3> a, b;
    for (std::size_t r = 0; r < named.size(); ++r) {
      const auto squared = [&](const Residue& residue) {
        double sum = 0;
        for (std::size_t atom = 0; atom < kOxt; ++atom)
          if (residue.known[atom] && reference[r].known[atom])
            sum += std::pow(Distance(closest(residue.atoms[atom]), reference[r].atoms[atom]), 2);
        return sum;
      };
      if (may_swap && model[r].type == reference[r].type)
        if (Residue swapped = Swapped(model[r], ConventionalPairs(model[r].type)); squared(swapped) < squared(model[r]))
          named[r] = std::move(swapped);
      for (std::size_t atom = 0; atom < kOxt; ++atom) {
        if (!named[r].known[atom] || !reference[r].known[atom]) continue;
        a.push_back(named[r].atoms[atom]);
        b.push_back(reference[r].atoms[atom]);
      }
    }
    closest = Superpose(a, b);
    for (Vector3& point : a) point = closest(point);
    rmsd = RootMeanSquare(a, b);
  }
  return rmsd;
}

std::string_view NameOf(Pairing pairing) {
  return pairing == Pairing::index ? "index" : pairing == Pairing::number ? "number" : "alignment";
}

Correspondence Correspond(const ProteinChain& model, const ProteinChain& reference, std::optional<Pairing> pairing) {
  const bool same_sequence = model.Letters() == reference.Letters();
  Check(pairing != Pairing::index || same_sequence, "the sequences differ: residues cannot be paired by index");
  Correspondence pairs;
  pairs.paired_by = pairing.value_or(same_sequence ? Pairing::index : Pairing::number);
  Partners partners(reference.residues.size());
  std::iota(partners.begin(), partners.end(), 0);
  if (pairs.paired_by == Pairing::number) partners = ByNumber(model, reference);
  if (pairs.paired_by == Pairing::alignment) partners = AlignLocally(reference.Types(), model.Types()).partners;
  if (pairs.paired_by == Pairing::number && !pairing) {
    const TypesPaired numbered = CountTypes(model, reference, partners);
    if (numbered.different > 0 || numbered.same == 0) {
      Partners aligned = AlignLocally(reference.Types(), model.Types()).partners;
      if (CountTypes(model, reference, aligned).same > numbered.same) {
        pairs.paired_by = Pairing::alignment;
        pairs.different = numbered.different;
        partners = std::move(aligned);
      }
    }
  }
  for (std::size_t i = 0; i < reference.residues.size(); ++i) {
    const Residue& residue = reference.residues[i];
    if (!residue.observed()) continue;
    const Residue other = partners[i] < 0 ? Residue{} : model.residues[static_cast<std::size_t>(partners[i])];
    pairs.whole_reference.push_back(residue);
    pairs.model_or_none.push_back(other);
    if (!residue.known[kAtomCa]) continue;
    ++pairs.reference_length;
    if (!other.known[kAtomCa]) continue;
    pairs.model.push_back(other);
    pairs.reference.push_back(residue);
  }
  return pairs;
}

double SequenceIdentity(const ProteinChain& model, const ProteinChain& reference) {
  const std::size_t shorter = std::min(model.residues.size(), reference.residues.size());
  if (shorter == 0) return 0;
  if (model.Letters() == reference.Letters()) return 1;
  const TypesPaired aligned = CountTypes(model, reference, AlignLocally(reference.Types(), model.Types()).partners);
  return static_cast<double>(aligned.same) / static_cast<double>(shorter);
}

std::vector<Vector3> CaOf(std::span<const Residue> residues) {
  std::vector<Vector3> points;
  for (const Residue& residue : residues)
    if (residue.known[kAtomCa]) points.push_back(residue.atoms[kAtomCa]);
  return points;
}

}  // namespace headlight
