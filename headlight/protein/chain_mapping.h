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

/// The method that pairs the chains of two structures.
enum class ChainPairing {
  name,      // pairs chains with equal names
  sequence,  // pairs chains with similar sequences; if several pairings are possible, uses the best TM-score
};

inline constexpr std::size_t kMostMappedChains = 64;  // the maximum number of chains per structure
/// The maximum number of residues per structure with several chains.
inline constexpr std::int64_t kMostMappedResidues = 20'000;

/// A pair of corresponding chains, or an unpaired chain.
struct MappedChain {
  std::optional<std::size_t> model, reference;  // chain indices; nullopt if the chain is unpaired
  std::int64_t residues = 0;                    // the number of residue pairs in which both residues have a CA
  std::int64_t reference_residues = 0;          // the number of residues of the reference's chain with a CA
  std::optional<Pairing> paired_by;             // nullopt for an unpaired chain
  std::int64_t different = 0;                   // as in Correspondence
};

struct ChainMapping {
  std::vector<MappedChain> chains;  // the reference's chains in order, then the model's unpaired chains
  ChainPairing paired_by = ChainPairing::name;
  /// The residues of all chains of the reference, concatenated. paired_by is set by the first pair.
  Correspondence residues;
};

/// Pairs chains by `chains`, and the residues of each pair by `residues` (Correspond). If both structures have only one
/// chain, these chains are paired. Otherwise, if `chains` is empty, chains are paired by sequence, or by name if no two
/// sequences are similar. The result is called a pairing by name if both chains of each pair have the same name.
///
/// Pairing by sequence: two chains are similar if at least half of the residues of the shorter chain are equal
/// (SequenceIdentity). In addition, neither chain may have a sequence identity higher by more than 0.05 with another
/// chain of the other structure. Among the assignments of similar chains with the most pairs, the assignment with the
/// highest TM-score of the complex is chosen. The complex is superposed by each pair of chains in the assignment,
/// refined on the residues that are close. Among assignments whose scores are within 0.0001 of the best, the assignment
/// with the most equal names is chosen.
///
/// All assignments are tried if they need at most 200,000 enumeration steps (8 equal chains). Otherwise, only one chain
/// of the reference is superposed on each similar chain of the model. This chain is the longest among those with the
/// fewest similar chains. Under each superposition, pairs are chosen greedily by their contribution to the TM-score.
///
/// Throws Error, with a message that begins with the names of both structures, for more than kMostMappedChains chains
/// or kMostMappedResidues residues. Also throws Error for duplicate names if chains are paired by name, and if no
/// chains can be paired. Throws the errors of Correspond.
HEADLIGHT_API ChainMapping MapChains(const Structure& model, const Structure& reference,
                                     std::optional<ChainPairing> chains = std::nullopt,
                                     std::optional<Pairing> residues = std::nullopt);

}  // namespace headlight
