// Which chains of two structures correspond.
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
  name,      // those of one name
  sequence,  // those with alike sequences; of several such assignments the one with the best TM-score
};

inline constexpr std::size_t kMostMappedChains = 64;         // of each structure
inline constexpr std::int64_t kMostMappedResidues = 20'000;  // likewise, if it has several chains

/// A chain of the reference and that of the model which corresponds to it, or a chain without a partner.
struct MappedChain {
  std::optional<std::size_t> model, reference;  // indices of chains
  std::int64_t residues = 0;                    // pairs of which both have a CA
  std::int64_t reference_residues = 0;          // residues of the reference's chain that have a CA
  std::optional<Pairing> paired_by;             // of a pair of chains
  std::int64_t different = 0;                   // as in Correspondence
};

struct ChainMapping {
  std::vector<MappedChain> chains;  // those of the reference in its order, then those that only the model has
  ChainPairing paired_by = ChainPairing::name;
  Correspondence
      residues;  // of all chains of the reference, one after another; its paired_by is that of the first pair
};

/// Pairs chains by `chains`, and the residues of each pair by `residues` (Correspond). Of one chain each these are
/// paired. Else, without `chains`, they are paired by sequence, or by name if no two sequences are alike; the result
/// is called a pairing by name if all pairs have one name.
///
/// By sequence: two chains are alike if at least half of the shorter one's residues are equal (SequenceIdentity), and
/// neither is more than 0.05 closer to another chain of the other structure. Of the assignments of alike chains with
/// the most pairs the one with the best score is taken: the highest TM-score of the complex under the superpositions
/// of one of its pairs of chains, each refined on residues that lie close. Within 0.0001 of the best the one with the
/// most equal names is taken. All assignments are tried up to 200,000 steps of their enumeration (8 equal chains);
/// beyond that, only the superpositions of one chain of the reference on each alike one of the model (a chain with the
/// fewest, then the longest), and under each the pairs are taken greedily by their part of the TM-score.
///
/// Throws Error, which begins with the names of both structures, for more chains or residues than kMostMapped...,
/// equal names where chains are paired by name, and no pair of chains; and as Correspond does.
HEADLIGHT_API ChainMapping MapChains(const Structure& model, const Structure& reference,
                                     std::optional<ChainPairing> chains = std::nullopt,
                                     std::optional<Pairing> residues = std::nullopt);

}  // namespace headlight
