// Chains with known structures, to train structure prediction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/structure.h"
#include "headlight/protein/structure_labels.h"
#include "headlight/protein/templates.h"

namespace headlight {

struct HEADLIGHT_API ChainExample {
  std::string name;                     // "1abc.cif, chain A"
  std::vector<ResidueLabels> residues;  // of the whole sequence
  std::string alignment;                // the path of its alignment; empty: only the sequence
  std::vector<TemplateFeatures> templates = {};
  std::string Letters() const;
};

struct ChainSet {
  std::vector<ChainExample> examples;
  std::int64_t repeated = 0;    // chains that were left out because an earlier one of the file has the same sequence
  std::int64_t unresolved = 0;  // chains that were left out because fewer than 3 C alpha atoms are known
};

/// Reads chains. Each path is one of
/// - a structure, PDB or mmCIF: all of its chains;
/// - a folder of structures (.pdb, .ent, .cif or .mmcif, optionally .gz, at any depth), sorted by name;
/// - an index, .tsv: lines of a structure, a tab and a chain. Optionally follow a tab and the file of its alignment,
///   whose query is the chain's sequence, and another tab and the structures of its templates, separated by ;, best
///   first (aligned by ReadTemplates of protein/templates.h). Paths are relative to the index. An empty chain means the
///   only chain, and the alignment may be empty.
/// A residue takes about 1.3 kB of memory, and 0.3 kB in a template. Alignments are read later, except for their query.
/// Throws Error that names the file and, in an index, the line, for missing or other files, and if no chain is left.
HEADLIGHT_API ChainSet ReadChainSet(const std::vector<std::string>& paths, const StructureReader& read);

/// A hash of the chains and of the names of their alignments.
HEADLIGHT_API std::uint64_t HashOfChainSet(const ChainSet& set);

}  // namespace headlight
