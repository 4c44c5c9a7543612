// Reads and writes structure files in PDB and mmCIF format, with gemmi. Requires the library headlight::recipes, so
// programs that only use models do not link gemmi.
//   WriteFile("query.cif", WriteMmcif(predicted.structure));
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/protein/structure.h"

namespace headlight {

/// Reads the protein chains of a file's first model. The file is PDB or mmCIF (detected from the content), plain or
/// gzip, with at most 1 GiB of text.
/// - Residues: in the order of the sequence if the file has one, otherwise in the order of the file. Modified
///   residues have the type of their parent. D-amino acids and residues without a parent are X, with only the atoms N,
///   CA, C, O and CB. The selenium of selenomethionine is converted to the sulfur of methionine.
/// - Alternative locations: for each residue, the atoms without a location letter and the atoms of one letter are used.
///   The letter with the greatest occupancy is chosen; ties go to the first letter. If several residues have the same
///   position (microheterogeneity), the residue with the greatest occupancy is used.
/// - Skipped: hydrogen, atoms that the residue type does not have (except OXT), ligands, water, nucleic acids and all
///   models after the first.
/// Throws Error naming the file, and in PDB the line, for other formats and invalid positions or numbers. Also
/// throws Error for a file that is truncated within an atom, a file without protein, and two residues with the same
/// number and insertion code.
HEADLIGHT_API Structure ReadStructure(const std::string& path);
HEADLIGHT_API Structure ParseStructure(std::string_view text, const std::string& name);

/// The metadata of a prediction, for the ModelCIF categories in the files of AlphaFold's database.
struct PredictionNote {
  std::string title;     ///< the entry's title
  std::string software;  ///< the name of the program that predicted the structure
  std::string version;
  /// The pLDDT of the whole model, 0 to 100. The pLDDT of each residue is the B factor of its CA.
  std::optional<double> mean_plddt;
  std::optional<double> ptm;  ///< 0 to 1
};

/// Formats a structure as mmCIF, with entities and sequence. With a note, adds ModelCIF's _ma_model_list, _ma_qa_metric
/// (global and local values), _ma_protocol_step, _ma_data and _software. Residues have a number along the chain
/// (label_seq_id) and the author's number (auth_seq_id). Throws Error for a structure without a known atom, and for
/// names that mmCIF cannot have.
HEADLIGHT_API std::string WriteMmcif(const Structure& structure, const std::optional<PredictionNote>& note = {});

/// Formats a structure as PDB, with SEQRES. Throws Error if PDB cannot store the structure. A chain name can have only
/// one letter, and there can be at most 99,999 atoms. Residue numbers and coordinates in angstrom must be from -999 to
/// 9,999.
HEADLIGHT_API std::string WritePdb(const Structure& structure);

}  // namespace headlight
