// Templates: known structures of relatives of a chain, aligned to it, and what AlphaFold reads of them (Jumper et al.,
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

// A chain of a structure, aligned to the chain that is folded.
struct ProteinTemplate {
  std::string name;  // "1abc.cif.gz, chain A"
  // Of each residue that is folded the one that is aligned to it, and kGap as type where there is none.
  std::vector<Residue> residues;

  std::int64_t aligned() const;  // residues with one
};

// The template in which residue i is aligned to places[i] of the chain, or to none where that is -1. Throws Error for a
// place that there is not, and where of no aligned residue N, C alpha and C are known.
HEADLIGHT_API ProteinTemplate TemplateOf(std::string name, const ProteinChain& chain,
                                         std::span<const std::int32_t> places);

// The templates of one query, its residue types as in protein/residues.h, from structures that `read` reads.
//   Without an alignment   of each structure, in order, the chain whose best local alignment to the query has the
//                          highest score (protein/sequence_alignment.h); of equals the first.
//   With one               its rows after the first, which is the query's, in order: A3M, A2M, aligned FASTA or
//                          Stockholm. A row's name begins with that of a structure's file without its endings, and the
//                          chain after a _, as in 1abc_A; without it the file's only chain is meant. Its letters are a
//                          part of the chain's sequence; X stands for any.
// Throws Error as AlignmentReader, for a row whose file or chain there is not, or whose letters are not the chain's,
// for a structure that no row names, two that one name fits, and as TemplateOf.
HEADLIGHT_API std::vector<ProteinTemplate> ReadTemplates(const std::vector<std::string>& structures,
                                                         const std::string& alignment,
                                                         std::span<const std::uint8_t> query,
                                                         const StructureReader& read);

inline constexpr std::int64_t kTemplateAngles = kAlignmentLetters + 7 * 5;

// The features of one template. Places of unknown atoms are 0, and the torsions that they are part of follow from
// those, as AlphaFold and OpenFold have it.
struct TemplateFeatures {
  std::vector<std::int32_t> types;                       // [residues] residue types, or kGap
  Tensor beta;                                           // [residues, 3]: C beta, of glycine C alpha, in angstrom
  std::vector<std::uint8_t> beta_known, backbone_known;  // [residues]; the backbone: N, C alpha and C
  // [residues, 57]: which type (22), sine and cosine of omega, phi, psi and chi1 to chi4, the same with those half a
  // turn on that are known up to half a turn, and which of the seven are known.
  Tensor angles;
};

// The column of `angles` that tells whether psi is known.
inline constexpr std::int64_t kPsiKnown = kAlignmentLetters + 2 * 14 + 2;

HEADLIGHT_API TemplateFeatures FeaturesOf(const ProteinTemplate& one);

// Those of residues [first, first + count), as where a chain is cropped. Throws Error for residues that there are not.
HEADLIGHT_API TemplateFeatures CropOf(const TemplateFeatures& features, std::int64_t first, std::int64_t count);

}  // namespace headlight
