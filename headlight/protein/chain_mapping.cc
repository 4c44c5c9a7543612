#include "headlight/protein/chain_mapping.h"

#include <algorithm>
#include <map>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/protein/superposition.h"

namespace headlight {
namespace {

constexpr double kLeastIdentity = 0.5, kIdentityTolerance = 0.05, kScoreTolerance = 1e-4;
constexpr std::int64_t kMostSteps = 200'000;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// For each chain of the reference: the index of the assigned chain of the model, or kNone.
using Assignment = std::vector<std::size_t>;

// Two chains that may be paired, and the CA positions of their paired residues. `moving` belongs to the model, `fixed`
// to the reference.
struct Candidate {
  std::size_t model = 0, reference = 0;
  std::vector<Vector3> moving, fixed;
};

std::int64_t CountCa(const ProteinChain& chain) { return std::ssize(CaOf(chain.residues)); }

// Returns the sequence identity of each pair of chains, [model chains, reference chains].
std::vector<std::vector<double>> Identities(const Structure& model, const Structure& reference) {
  std::map<std::pair<std::string, std::string>, double> known;
  std::vector<std::vector<double>> identities;
  for (const ProteinChain& own : model.chains) {
    std::vector<double>& row = identities.emplace_back();
    for (const ProteinChain& other : reference.chains) {
      const auto [found, inserted] = known.try_emplace({own.Letters(), other.Letters()}, 0);
      if (inserted) found->second = SequenceIdentity(own, other);
      row.push_back(found->second);
    }
  }
  return identities;
}

std::vector<Candidate> AlikeChains(const Structure& model, const Structure& reference,
                                   std::optional<Pairing> residues) {
  const std::vector<std::vector<double>> identities = Identities(model, reference);
  std::vector<double> best_of_reference(reference.chains.size());
  for (const std::vector<double>& row : identities)
    for (std::size_t r = 0; r < row.size(); ++r) best_of_reference[r] = std::max(best_of_reference[r], row[r]);
  std::vector<Candidate> candidates;
  for (std::size_t r = 0; r < reference.chains.size(); ++r) {
    for (std::size_t m = 0; m < model.chains.size(); ++m) {
      const double identity = identities[m][r], best_of_model = *std::ranges::max_element(identities[m]);
      if (identity < kLeastIdentity || identity < std::max(best_of_model, best_of_reference[r]) - kIdentityTolerance)
        continue;
      const Correspondence pairs = Correspond(model.chains[m], reference.chains[r], residues);
      candidates.push_back({m, r, CaOf(pairs.model), CaOf(pairs.reference)});
    }
  }
  return candidates;
}

// Finds the best assignment of the model's chains to similar chains of the reference.
class Assigning {
 public:
  Assigning(const Structure& model, const Structure& reference, std::vector<Candidate> candidates)
      : model_(model),
        reference_(reference),
        candidates_(std::move(candidates)),
        of_reference_(reference.chains.size()) {
    std::int64_t length = 0;
    for (const ProteinChain& chain : reference.chains) length += CountCa(chain);
    length_ = static_cast<double>(std::max<std::int64_t>(length, 1));
    scale_ = TmScale(length);
    for (std::size_t c = 0; c < candidates_.size(); ++c) of_reference_[candidates_[c].reference].push_back(c);
  }

  Assignment Best() {
    most_pairs_ = MostPairs();
    chosen_.assign(reference_.chains.size(), kNone);
    used_.assign(model_.chains.size(), false);
    if (!Enumerate(0, reference_.chains.size() - most_pairs_)) {
      found_.clear();
      AssignGreedily();
    }
    const auto highest = std::ranges::max_element(found_, {}, &Found::score);
    const auto best = std::ranges::max_element(found_, {}, [&](const Found& found) {
      return found.score < highest->score - kScoreTolerance ? -1 : found.names;
    });
    Assignment assignment(reference_.chains.size(), kNone);
    for (const std::size_t c : best->candidates) assignment[candidates_[c].reference] = candidates_[c].model;
    return assignment;
  }

 private:
  struct Found {
    std::vector<std::size_t> candidates;
    double score = 0;  // the TM-score of the complex
    int names = 0;     // the number of pairs with equal names
  };

  // Returns the size of a maximum matching, found by augmenting paths (Kuhn's algorithm).
  std::size_t MostPairs() const {
    std::vector<std::size_t> partner(model_.chains.size(), kNone);  // [chains of the model] the chain of the reference
    std::size_t pairs = 0;
    for (std::size_t r = 0; r < reference_.chains.size(); ++r) {
      std::vector<bool> seen(model_.chains.size());
      pairs += Augment(r, partner, seen) ? 1 : 0;
    }
    return pairs;
  }

  bool Augment(std::size_t r, std::vector<std::size_t>& partner, std::vector<bool>& seen) const {
    for (const std::size_t c : of_reference_[r]) {
      const std::size_t m = candidates_[c].model;
      if (seen[m]) continue;
      seen[m] = true;
      if (partner[m] != kNone && !Augment(partner[m], partner, seen)) continue;
      partner[m] = r;
      return true;
    }
    return false;
  }

  // Enumerates all assignments of the reference's chains from index r on that leave `skips` of these chains unassigned.
  // Returns false after kMostSteps steps.
  bool Enumerate(std::size_t r, std::size_t skips) {
    if (++steps_ > kMostSteps) return false;
    if (r == reference_.chains.size()) {
      Found found;
      for (const std::size_t c : chosen_)
        if (c != kNone) found.candidates.push_back(c);
      for (const std::size_t seed : found.candidates)
        found.score = std::max(found.score, Score(seed, found.candidates));
      found.names = Names(found.candidates);
      found_.push_back(std::move(found));
      return true;
    }
    for (const std::size_t c : of_reference_[r]) {
      const std::size_t m = candidates_[c].model;
      if (used_[m]) continue;
      used_[m] = true;
      chosen_[r] = c;
      const bool all = Enumerate(r + 1, skips);
      chosen_[r] = kNone;
      used_[m] = false;
      if (!all) return false;
    }
    return skips == 0 || Enumerate(r + 1, skips - 1);
  }

  void AssignGreedily() {
    std::size_t first = kNone;
    const auto rank = [&](std::size_t r) {
      return std::pair(std::ssize(of_reference_[r]), -CountCa(reference_.chains[r]));
    };
    for (std::size_t r = 0; r < reference_.chains.size(); ++r)
      if (!of_reference_[r].empty() && (first == kNone || rank(r) < rank(first))) first = r;
    for (const std::size_t seed : of_reference_[first]) {
      std::vector<std::pair<double, std::size_t>> parts;
      for (std::size_t c = 0; c < candidates_.size(); ++c) parts.emplace_back(-Part(seed, c), c);
      std::ranges::sort(parts);
      std::vector<bool> taken_model(model_.chains.size()), taken_reference(reference_.chains.size());
      Found found;
      for (const auto& [part, c] : parts) {
        const Candidate& candidate = candidates_[c];
        if (taken_model[candidate.model] || taken_reference[candidate.reference]) continue;
        taken_model[candidate.model] = taken_reference[candidate.reference] = true;
        found.candidates.push_back(c);
        found.score -= part;
      }
      found.names = Names(found.candidates);
      found_.push_back(std::move(found));
    }
  }

  int Names(const std::vector<std::size_t>& candidates) const {
    return static_cast<int>(std::ranges::count_if(candidates, [&](std::size_t c) {
      return model_.chains[candidates_[c].model].name == reference_.chains[candidates_[c].reference].name;
    }));
  }

  double Score(std::size_t seed, const std::vector<std::size_t>& candidates) {
    double sum = 0;
    for (const std::size_t c : candidates) sum += Part(seed, c);
    return sum;
  }

  // Returns the contribution of a pair of chains to the TM-score under the superposition of the pair `seed`. The result
  // is 0 if the pair `seed` has fewer than 3 residues.
  double Part(std::size_t seed, std::size_t candidate) {
    if (candidates_[seed].moving.size() < 3) return 0;
    if (parts_.empty()) parts_.resize(candidates_.size());
    std::vector<double>& parts = parts_[seed];
    if (parts.empty()) {
      const RigidFrame frame = SuperposeClose(candidates_[seed].moving, candidates_[seed].fixed);
      for (const Candidate& pair : candidates_) {
        double sum = 0;
        for (std::size_t i = 0; i < pair.moving.size(); ++i) {
          const double ratio = Distance(frame(pair.moving[i]), pair.fixed[i]) / scale_;
          sum += 1 / (1 + ratio * ratio);
        }
        parts.push_back(sum / length_);
      }
    }
    return parts[candidate];
  }

  const Structure& model_;
  const Structure& reference_;
  std::vector<Candidate> candidates_;
  // [chains of the reference] the indices of each chain's candidates.
  std::vector<std::vector<std::size_t>> of_reference_;
  // [seeds, candidates] contributions to the TM-score; each row is computed on first use.
  std::vector<std::vector<double>> parts_;
  double length_ = 1, scale_ = 1;  // the number of the reference's residues with a CA, and the TM-score's d0
  std::size_t most_pairs_ = 0;
  std::int64_t steps_ = 0;
  std::vector<std::size_t> chosen_;  // [chains of the reference] the index of the chosen candidate, or kNone
  std::vector<bool> used_;           // [chains of the model] true if the chain is assigned
  std::vector<Found> found_;
};

Assignment ByName(const Structure& model, const Structure& reference) {
  for (const Structure* structure : {&model, &reference}) {
    std::map<std::string, int> count;
    for (const ProteinChain& chain : structure->chains)
      Check(++count[chain.name] == 1, "{}: two chains are called {}: they cannot be paired by name", structure->name,
            Quoted(chain.name));
  }
  Assignment assignment;
  for (const ProteinChain& chain : reference.chains) {
    const auto found = std::ranges::find(model.chains, chain.name, &ProteinChain::name);
    assignment.push_back(found == model.chains.end() ? kNone : static_cast<std::size_t>(found - model.chains.begin()));
  }
  return assignment;
}

void CheckSize(const Structure& structure) {
  Check(!structure.chains.empty(), "{}: there is no protein chain", structure.name);
  std::int64_t residues = 0;
  for (const ProteinChain& chain : structure.chains) residues += std::ssize(chain.residues);
  Check(
      structure.chains.size() == 1 || (structure.chains.size() <= kMostMappedChains && residues <= kMostMappedResidues),
      "{}: {} chains with {} residues: at most {} chains and {} residues can be compared; choose a chain",
      structure.name, structure.chains.size(), residues, kMostMappedChains, kMostMappedResidues);
}

Assignment Assign(const Structure& model, const Structure& reference, std::optional<ChainPairing> chains,
                  std::optional<Pairing> residues) {
  if (model.chains.size() == 1 && reference.chains.size() == 1) return {0};
  if (chains == ChainPairing::name) return ByName(model, reference);
  std::vector<Candidate> candidates = AlikeChains(model, reference, residues);
  if (!candidates.empty()) return Assigning(model, reference, std::move(candidates)).Best();
  Check(!chains, "{} and {}: no two chains have similar sequences", model.name, reference.name);
  return ByName(model, reference);
}

template <typename T>
void Append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

ChainMapping MapChains(const Structure& model, const Structure& reference, std::optional<ChainPairing> chains,
                       std::optional<Pairing> residues) {
  CheckSize(model);
  CheckSize(reference);
  const Assignment assignment = Assign(model, reference, chains, residues);
  ChainMapping mapping;
  std::vector<bool> used(model.chains.size());
  bool any = false;
  for (std::size_t r = 0; r < assignment.size(); ++r) {
    const ProteinChain& chain = reference.chains[r];
    MappedChain& mapped = mapping.chains.emplace_back();
    mapped.reference = r;
    Correspondence pairs;
    if (assignment[r] == kNone) {
      pairs = Correspond(ProteinChain{}, chain, Pairing::number);
    } else {
      mapped.model = assignment[r];
      used[assignment[r]] = true;
      const ProteinChain& partner = model.chains[assignment[r]];
      pairs = Correspond(partner, chain, residues);
      mapped.paired_by = pairs.paired_by;
      mapped.different = pairs.different;
      if (!any) mapping.residues.paired_by = pairs.paired_by;
      any = true;
      if (partner.name != chain.name && assignment.size() + model.chains.size() > 2)
        mapping.paired_by = ChainPairing::sequence;
    }
    mapped.residues = std::ssize(pairs.model);
    mapped.reference_residues = pairs.reference_length;
    Append(mapping.residues.model, pairs.model);
    Append(mapping.residues.reference, pairs.reference);
    Append(mapping.residues.model_or_none, pairs.model_or_none);
    Append(mapping.residues.whole_reference, pairs.whole_reference);
    mapping.residues.reference_length += pairs.reference_length;
    mapping.residues.different += pairs.different;
  }
  Check(any, "{} and {}: no two chains have equal names or similar sequences", model.name, reference.name);
  for (std::size_t m = 0; m < used.size(); ++m)
    if (!used[m]) mapping.chains.emplace_back().model = m;
  return mapping;
}

}  // namespace headlight
