// Chains of known structure, to learn folding from.
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
  std::string alignment;                // the path of its alignment; empty: the sequence alone
  std::vector<TemplateFeatures> templates = {};
  std::string Letters() const;
};

struct ChainSet {
  std::vector<ChainExample> examples;
  std::int64_t repeated = 0;    // chains of files with another chain of the same sequence before it, left out
  std::int64_t unresolved = 0;  // chains of files of which fewer than 3 C alphas are known, left out
};

// Each path is one of
// - a structure, PDB or mmCIF: all of its chains;
// - a folder of them (.pdb, .ent, .cif or .mmcif, perhaps .gz, at any depth), by name;
// - an index, .tsv: lines of a structure, a tab and a chain, and perhaps a tab and a file of its alignment, whose query
//   is the chain's sequence, and another tab and the structures of its templates, with ; between them, the best first
//   (aligned by ReadTemplates of protein/templates.h). Paths are relative to the index; an empty chain is the only one
//   that there is, and the alignment may be empty.
// In memory a residue takes about 1.3 kB, and 0.3 kB in a template; alignments are read later, but for their query.
// Throws Error that names the
// file and, in an index, the line, for what is missing or is none of these, and where no chain is left.
HEADLIGHT_API ChainSet ReadChainSet(const std::vector<std::string>& paths, const StructureReader& read);

// A hash of the chains and of the names of their alignments.
HEADLIGHT_API std::uint64_t HashOfChainSet(const ChainSet& set);

}  // namespace headlight
