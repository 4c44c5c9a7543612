// Structures of proteins: chains of residues with the positions of their atoms.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/protein/residues.h"
#include "headlight/protein/vector3.h"

namespace headlight {

struct HEADLIGHT_API Residue {
  int type = kUnknownResidue;  // of a modified one its parent's: MSE is read as MET
  std::string name = "UNK";    // of three letters, as the file has it
  int number = 0;              // the author's, which may jump, go back or be negative
  char insertion = ' ';        // the insertion code: 52, 52A and 52B are three residues
  // By atom37: whether an atom's position is known, in angstrom, and its B factor, which of predictions is pLDDT (0 to
  // 100). None is known of a residue that was not observed.
  std::array<bool, kAtom37> known{};
  std::array<Vector3, kAtom37> atoms{};
  std::array<float, kAtom37> b_factors{};

  bool observed() const;  // any atom is known
};

struct ProteinChain {
  std::string name;
  // In the order of the sequence. Where the file has the whole sequence (SEQRES, entity_poly_seq), those that were not
  // observed stand among them.
  std::vector<Residue> residues;

  std::string Letters() const;              // of the residue types
  std::vector<std::uint8_t> Types() const;  // [residues]
};

struct Structure {
  std::string name;
  std::vector<ProteinChain> chains;
};

// Reads a file of a structure: ReadStructure of protein/files/structure_files.h.
using StructureReader = std::function<Structure(const std::string& path)>;

// The chain of that name; the only one where it is empty. Throws Error that lists the chains, beginning with the
// structure's name.
HEADLIGHT_API const ProteinChain& ChainOf(const Structure& structure, std::string_view chain = {});

// The residues after which the chain is broken: the next residue is not bound to it, since their C and N lie more than
// 2.5 A apart (1.33 A in a peptide bond), or where these are not known their CA more than 5 A (3.8 A), or one of the
// two was not observed. Not the last residue.
HEADLIGHT_API std::vector<int> BreaksOf(const ProteinChain& chain);

}  // namespace headlight
