// Pairs the chains of two structures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/structure.h"
#include "headlight/protein/structure_scores.h"

namespace headlight {

/// How the chains of two structures are paired.
enum class ChainPairing {
  name,      // chains with equal names
  sequence,  // chains with similar sequences; of several such assignments, the one with the best TM-score
};

inline constexpr std::size_t kMostMappedChains = 64;         // per structure
inline constexpr std::int64_t kMostMappedResidues = 20'000;  // per structure, if it has several chains

/// A pair of corresponding chains, or a chain without a partner.
struct MappedChain {
  std::optional<std::size_t> model, reference;  // indices of chains
  std::int64_t residues = 0;                    // pairs whose two residues have a CA
  std::int64_t reference_residues = 0;          // residues of the reference's chain that have a CA
  std::optional<Pairing> paired_by;             // for a pair of chains
  std::int64_t different = 0;                   // as in Correspondence
};

struct ChainMapping {
  std::vector<MappedChain> chains;  // those of the reference in its order, then chains that only the model has
  ChainPairing paired_by = ChainPairing::name;
  Correspondence residues;  // of all chains of the reference, concatenated; its paired_by is that of the first pair
};

/// Pairs chains by `chains`, and the residues of each pair by `residues` (Correspond). If both structures have one
/// chain, these are paired. Otherwise, if `chains` is empty, chains are paired by sequence, or by name if no two
/// sequences are similar. The result is called a pairing by name if the names of all pairs are equal.
///
/// By sequence: two chains are similar if at least half of the shorter one's residues are equal (SequenceIdentity), and
/// neither has a sequence identity higher by more than 0.05 with another chain of the other structure. Among the
/// assignments of similar chains with the most pairs, the one with the highest TM-score of the complex is taken. The
/// superpositions to try are those of one of its pairs of chains, refined on the residues that are close. Among
/// assignments within 0.0001 of the best, the one with the most equal names is taken. All assignments are tried, up to
/// 200,000 enumeration steps (8 equal chains). Beyond that, only one chain of the reference is superposed on each
/// similar chain of the model. It is one with the fewest similar chains, and among those the longest. Under each
/// superposition, pairs are chosen greedily by their contribution to the TM-score.
///
/// Throws Error, which begins with the names of both structures, for more chains or residues than kMostMapped..., for
/// equal names if chains are paired by name, and if no chains can be paired; also the errors of Correspond.
HEADLIGHT_API ChainMapping MapChains(const Structure& model, const Structure& reference,
                                     std::optional<ChainPairing> chains = std::nullopt,
                                     std::optional<Pairing> residues = std::nullopt);

}  // namespace headlight
