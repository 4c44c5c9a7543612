// Reads templates, which are known structures of related proteins aligned to a chain, and computes AlphaFold's features
// of them (Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021, supplement, sections
// 1.2.3 and 1.2.9, table 1).
//   const std::vector<ProteinTemplate> templates = ReadTemplates({"1abc.cif.gz"}, "", query, ReadStructure);
//   // ReadStructure: protein/files/structure_files.h
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

/// A chain of a known structure, aligned to the chain that is predicted.
struct ProteinTemplate {
  std::string name;  ///< such as "1abc.cif.gz, chain A"
  /// The aligned residue for each residue of the chain that is predicted. The type is kGap if no residue is aligned.
  std::vector<Residue> residues;

  /// Returns the number of aligned residues.
  HEADLIGHT_API std::int64_t aligned() const;
};

/// Returns a template in which residue i is aligned to residue places[i] of the chain. An index of -1 means that
/// residue i is not aligned. Throws Error if an index is out of range, or if no aligned residue has a known N, C alpha
/// and C.
HEADLIGHT_API ProteinTemplate TemplateOf(std::string name, const ProteinChain& chain,
                                         std::span<const std::int32_t> places);

/// Returns the templates of a query (residue types as in protein/residues.h), from structures read by `read`.
/// - Without an alignment, one chain of each structure is used, in order. It is the chain whose local alignment to the
///   query (Smith-Waterman, BLOSUM62) has the highest score. Ties go to the first chain.
/// - With an alignment (A3M, A2M, aligned FASTA or Stockholm), its rows after the query are used, in order. A row's
///   name begins with the name of a structure's file without extensions, then _ and the chain, as in 1abc_A. Without a
///   chain, the file must have only one chain. The row's letters must be a part of the chain's sequence; X matches any
///   letter.
/// Throws the errors of AlignmentReader and TemplateOf. Also throws Error for a row whose file or chain does not exist
/// or whose letters are not in the chain. Also throws Error if a structure has no row, or if two structures have the
/// same name.
HEADLIGHT_API std::vector<ProteinTemplate> ReadTemplates(const std::vector<std::string>& structures,
                                                         const std::string& alignment,
                                                         std::span<const std::uint8_t> query,
                                                         const StructureReader& read);

inline constexpr std::int64_t kTemplateAngles = kAlignmentLetters + 7 * 5;

/// The features of a template. As in AlphaFold and OpenFold, the positions of unknown atoms are 0. Torsions with
/// unknown atoms are computed from these zeros.
struct TemplateFeatures {
  std::vector<std::int32_t> types;                       ///< [residues] residue types, or kGap
  Tensor beta;                                           ///< [residues, 3] C beta, or C alpha for glycine, in angstrom
  std::vector<std::uint8_t> beta_known, backbone_known;  ///< [residues] the backbone is N, C alpha and C
  /// [residues, 57] the one-hot type (22), then the sine and cosine of the seven torsions omega, phi, psi and chi1 to
  /// chi4. The same 14 values follow with ambiguous angles rotated by 180 degrees. The last 7 values are 1 for known
  /// torsions.
  Tensor angles;
};

/// The column of `angles` that is 1 if psi is known.
inline constexpr std::int64_t kPsiKnown = kAlignmentLetters + 2 * 14 + 2;

HEADLIGHT_API TemplateFeatures FeaturesOf(const ProteinTemplate& one);

/// Returns the features of residues [first, first + count). Throws Error if the residues are out of range.
HEADLIGHT_API TemplateFeatures CropOf(const TemplateFeatures& features, std::int64_t first, std::int64_t count);

}  // namespace headlight
