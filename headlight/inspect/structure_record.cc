#include "headlight/inspect/structure_record.h"

#include <cstddef>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/inspect/attention_record.h"

namespace headlight {

std::vector<BackboneAtoms> BackboneOf(const ProteinChain& chain) {
  std::vector<BackboneAtoms> backbone;
  for (const Residue& residue : chain.residues) {
    BackboneAtoms atoms;
    for (std::size_t i = 0; const std::string_view name : {"N", "CA", "C", "O"}) {
      const auto atom = static_cast<std::size_t>(Atom37Of(name).value());
      Check(residue.known[atom], "structure: {} {} has no atom {}", residue.name, residue.number, name);
      atoms[i++] = residue.atoms[atom];
    }
    backbone.push_back(atoms);
  }
  return backbone;
}

void CheckStructure(const StructureRecord& record) {
  const std::size_t residues = record.chain.residues.size(), pairs = residues * residues;
  Check(residues > 0, "structure: the chain has no residues");
  std::size_t weights = 0;
  for (const ResidueAttention& map : record.attention) {
    Check(map.heads > 0 && map.weights.size() == static_cast<std::size_t>(map.heads) * pairs,
          "structure: {} of layer {} has {} weights for {} heads and {} residues", map.title, map.layer + 1,
          map.weights.size(), map.heads, residues);
    weights += map.weights.size();
  }
  Check(weights <= static_cast<std::size_t>(kMostWeights),
        "structure: {} attention weights are too many for a page with at most {}; choose one layer", weights,
        kMostWeights);
  for (const ResiduePairs* matrix : {&record.errors, &record.distances})
    Check(matrix->values.empty() || (matrix->values.size() == pairs && matrix->most > 0),
          "structure: a matrix has {} pairs for {} residues", matrix->values.size(), residues);
  for (const StructureMoment& moment : record.moments)
    Check(moment.backbone.size() == residues, "structure: {} has {} residues, but the chain has {}", moment.name,
          moment.backbone.size(), residues);
}

}  // namespace headlight
