// Protein structures: chains of residues with atom positions.
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
  int type = kUnknownResidue;  // that of the parent for a modified residue: MSE is read as MET
  std::string name = "UNK";    // three letters, as in the file
  int number = 0;              // the author's number, which may jump, decrease or be negative
  char insertion = ' ';        // the insertion code: 52, 52A and 52B are three residues
  /// By atom37: whether an atom's position is known, the position in angstrom, and the B factor, which is pLDDT (0 to
  /// 100) in predictions. Nothing is known of a residue that was not observed.
  std::array<bool, kAtom37> known{};
  std::array<Vector3, kAtom37> atoms{};
  std::array<float, kAtom37> b_factors{};

  bool observed() const;  // whether any atom is known
};

struct ProteinChain {
  std::string name;
  /// In the order of the sequence. If the file has the whole sequence (SEQRES, entity_poly_seq), this includes residues
  /// that were not observed.
  std::vector<Residue> residues;

  std::string Letters() const;              // of the residue types
  std::vector<std::uint8_t> Types() const;  // [residues]
};

struct Structure {
  std::string name;
  std::vector<ProteinChain> chains;
};

/// Reads a structure file: ReadStructure of protein/files/structure_files.h.
using StructureReader = std::function<Structure(const std::string& path)>;

/// The chain with this name, or if `chain` is empty the only chain. Throws Error that lists the chains and begins with
/// the structure's name.
HEADLIGHT_API const ProteinChain& ChainOf(const Structure& structure, std::string_view chain = {});

/// The residues after which the chain is broken, without the last residue. There is a break if C and the next N are
/// more than 2.5 A apart (a peptide bond has 1.33 A). If these are unknown, there is one if the CA are more than 5 A
/// apart (normally 3.8 A). There is also one if either residue was not observed.
HEADLIGHT_API std::vector<int> BreaksOf(const ProteinChain& chain);

}  // namespace headlight
