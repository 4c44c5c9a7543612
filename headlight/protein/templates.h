// Templates: known structures of related proteins, aligned to a chain, and their features in AlphaFold (Jumper et al.,
// "Highly accurate protein structure prediction with AlphaFold", 2021, supplement, sections 1.2.3 and 1.2.9, table 1).
//   const std::vector<ProteinTemplate> templates = ReadTemplates({"1abc.cif.gz"}, "", query, ReadStructure);
//   const TemplateFeatures features = FeaturesOf(templates.front());
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/alignment.h"
#include "headlight/protein/structure.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

/// A chain of a known structure, aligned to the chain to predict.
struct ProteinTemplate {
  std::string name;  // "1abc.cif.gz, chain A"
  /// For each residue of the chain to predict, the aligned residue, or one of type kGap if there is none.
  std::vector<Residue> residues;

  std::int64_t aligned() const;  // the number of residues that are aligned
};

/// A template in which residue i is aligned to places[i] of the chain, or to none if that is -1. Throws Error for an
/// index out of range, and if no aligned residue has a known N, C alpha and C.
HEADLIGHT_API ProteinTemplate TemplateOf(std::string name, const ProteinChain& chain,
                                         std::span<const std::int32_t> places);

/// The templates of a query (residue types as in protein/residues.h), from structures read by `read`.
/// - Without an alignment, for each structure, in order, the chain with the highest score of a local alignment to the
///   query (protein/sequence_alignment.h); ties go to the first.
/// - With an alignment, its rows after the first (the query's), in order: A3M, A2M, aligned FASTA or Stockholm. A row's
///   name begins with that of a structure's file without extensions, then _ and the chain, as in 1abc_A; without a
///   chain the file must have only one. The row's letters must be a part of the chain's sequence; X matches any letter.
/// Throws the errors of AlignmentReader and TemplateOf. Also throws Error for a row whose file or chain does not exist
/// or whose letters are not the chain's, for a structure that no row names, and for two structures with the same name.
HEADLIGHT_API std::vector<ProteinTemplate> ReadTemplates(const std::vector<std::string>& structures,
                                                         const std::string& alignment,
                                                         std::span<const std::uint8_t> query,
                                                         const StructureReader& read);

inline constexpr std::int64_t kTemplateAngles = kAlignmentLetters + 7 * 5;

/// The features of a template. As in AlphaFold and OpenFold, positions of unknown atoms are 0, and torsions that
/// involve them are computed from these.
struct TemplateFeatures {
  std::vector<std::int32_t> types;                       // [residues] residue types, or kGap
  Tensor beta;                                           // [residues, 3]: C beta, C alpha for glycine, in angstrom
  std::vector<std::uint8_t> beta_known, backbone_known;  // [residues]; the backbone is N, C alpha and C
  /// [residues, 57]: the one-hot type (22); sine and cosine of omega, phi, psi and chi1 to chi4; the same with
  /// ambiguous angles rotated by half a turn; and whether each of the seven is known.
  Tensor angles;
};

/// The column of `angles` with whether psi is known.
inline constexpr std::int64_t kPsiKnown = kAlignmentLetters + 2 * 14 + 2;

HEADLIGHT_API TemplateFeatures FeaturesOf(const ProteinTemplate& one);

/// The features of residues [first, first + count), for cropped chains. Throws Error for residues out of range.
HEADLIGHT_API TemplateFeatures CropOf(const TemplateFeatures& features, std::int64_t first, std::int64_t count);

}  // namespace headlight
