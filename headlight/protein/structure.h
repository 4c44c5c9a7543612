// Defines protein structures: chains of residues with atom positions.
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
  int type = kUnknownResidue;  ///< a modified residue has the type of its parent, such as MET for MSE
  std::string name = "UNK";    ///< the three-letter name in the file
  int number = 0;              ///< the author's number, which may skip values, decrease or be negative
  char insertion = ' ';        ///< the insertion code; 52, 52A and 52B are different residues
  /// For each atom (atom37): true if its position is known, its position in angstrom, and its B factor. In predictions,
  /// the B factor is pLDDT (0 to 100). A residue that was not observed has no known atoms.
  std::array<bool, kAtom37> known{};
  std::array<Vector3, kAtom37> atoms{};
  std::array<float, kAtom37> b_factors{};

  /// Returns true if the position of any atom is known.
  bool observed() const;
};

struct ProteinChain {
  std::string name;
  /// The residues in the order of the sequence. If the file has the whole sequence (SEQRES, entity_poly_seq), residues
  /// that were not observed are included.
  std::vector<Residue> residues;

  /// Returns the one-letter codes of the residues.
  HEADLIGHT_API std::string Letters() const;
  /// Returns the residue types, [residues].
  HEADLIGHT_API std::vector<std::uint8_t> Types() const;
};

struct Structure {
  std::string name;
  std::vector<ProteinChain> chains;
};

/// A function that reads a structure file, such as ReadStructure of protein/files/structure_files.h.
using StructureReader = std::function<Structure(const std::string& path)>;

/// Returns the chain with this name. If `chain` is empty, returns the only chain. Otherwise throws Error, with a
/// message that begins with the structure's name and lists the chains.
HEADLIGHT_API const ProteinChain& ChainOf(const Structure& structure, std::string_view chain = {});

/// Returns the residues after which the chain is broken, except the last residue. The chain is broken if C and the next
/// N are more than 2.5 A apart (a peptide bond has 1.33 A). If these atoms are unknown, it is broken if the CA atoms
/// are more than 5 A apart (normally 3.8 A). It is also broken if either residue was not observed.
HEADLIGHT_API std::vector<int> BreaksOf(const ProteinChain& chain);

}  // namespace headlight
