// Protein chains with known structures, for training structure prediction.
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
  std::string name;                     ///< the file and the chain, such as "1abc.cif, chain A"
  std::vector<ResidueLabels> residues;  ///< all residues of the sequence
  std::string alignment;                ///< path of the chain's alignment; empty: only the sequence is used
  std::vector<TemplateFeatures> templates = {};
  std::string Letters() const;
};

struct ChainSet {
  std::vector<ChainExample> examples;
  std::int64_t repeated = 0;    ///< chains left out because an earlier chain of the file has the same sequence
  std::int64_t unresolved = 0;  ///< chains left out because fewer than 3 C alpha atoms are known
};

/// Reads chains. Each path is one of
/// - a structure file, PDB or mmCIF; all of its chains are read;
/// - a folder of structures (.pdb, .ent, .cif or .mmcif, optionally .gz, at any depth), sorted by name;
/// - an index, .tsv: lines of a structure, a tab and a chain. Optionally, a tab and the file of an alignment follow,
///   whose query is the chain's sequence. Optionally, another tab and the structures of its templates follow, separated
///   by ; with the best first (aligned by ReadTemplates of protein/templates.h). Paths are relative to the index. An
///   empty chain means the only chain, and the alignment may be empty.
/// A residue takes about 1.3 kB of memory, and 0.3 kB in a template. This function reads only the query of an
/// alignment. Throws Error naming the file and, in an index, the line, for missing or unsupported files, and if no
/// chain is left.
HEADLIGHT_API ChainSet ReadChainSet(const std::vector<std::string>& paths, const StructureReader& read);

/// Returns a hash of the chains and the names of the alignment files.
HEADLIGHT_API std::uint64_t HashOfChainSet(const ChainSet& set);

}  // namespace headlight
