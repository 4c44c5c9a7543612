// Reads and writes structure files in PDB and mmCIF format, with gemmi. This is a separate library, so that programs
// for text do not link gemmi.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/protein/structure.h"

namespace headlight {

/// Reads the protein chains of a file's first model. The file is PDB or mmCIF (detected from the content), plain or
/// gzip, at most 1 GiB of text.
/// - Residues are in the order of the sequence if the file has it, otherwise of the file. Modified residues have the
///   type of their parent. D-amino acids and residues without a parent are X, with only atoms named N, CA, C, O and CB.
///   Selenium in selenomethionine is read as the sulfur of methionine.
/// - Alternative locations: for each residue, the atoms without a letter and those of the letter with the greatest
///   occupancy are read; ties go to the first letter. If two residues have one position (microheterogeneity), the one
///   with the greatest occupancy is read.
/// - Left out are hydrogen; atoms that the residue type does not have, except OXT; ligands, water, nucleic acids, and
///   later models.
/// Throws Error naming the file, and in PDB the line, for other formats and for an invalid position or number. It also
/// does for a file that is truncated within an atom, one without protein, and two residues with the same number and
/// insertion code.
HEADLIGHT_API Structure ReadStructure(const std::string& path);
HEADLIGHT_API Structure ParseStructure(std::string_view text, const std::string& name);

/// The metadata of a prediction, for the ModelCIF categories that AlphaFold's database uses.
struct PredictionNote {
  std::string title;     // of the entry
  std::string software;  // that predicted the structure
  std::string version;
  std::optional<double>
      mean_plddt;             // 0 to 100, for the whole model; the value of each residue is the B factor of its CA
  std::optional<double> ptm;  // 0 to 1
};

/// Formats a structure as mmCIF, with entities and sequence, and with a note ModelCIF's _ma_model_list, _ma_qa_metric
/// (global and local values), _ma_protocol_step, _ma_data and _software. Residues have a number along the chain
/// (label_seq_id) and the author's number (auth_seq_id). Throws Error for a structure without a known atom.
HEADLIGHT_API std::string WriteMmcif(const Structure& structure, const std::optional<PredictionNote>& note = {});

/// Formats a structure as PDB, with SEQRES. Throws Error for what PDB cannot store, but mmCIF can: chain names of more
/// than one letter, more than 99,999 atoms, residue numbers outside -999 to 9,999, and positions outside -999 to 9,999
/// A.
HEADLIGHT_API std::string WritePdb(const Structure& structure);

}  // namespace headlight
