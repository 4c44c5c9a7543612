// Files of structures, PDB and mmCIF, read and written by gemmi: a library apart, so that who embeds text does not link
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/protein/structure.h"

namespace headlight {

// The protein chains of the file's first model, PDB or mmCIF (told by the content), plain or gzip, at most 1 GiB of
// text.
//   Residues    in the order of the sequence where the file has it, else of the file. Modified ones have their parent's
//               type; D-amino acids and what has no parent are X, of which only atoms named N, CA, C, O and CB are
//               kept. Selenium of selenomethionine is read as the sulfur of methionine.
//   Alternative locations   of each residue those of the one letter with the greatest occupancy, the first of equals,
//   and
//               the atoms without a letter. Of two residues at one place (microheterogeneity) that with the greatest.
//   Left out    hydrogen, OXT excepted what is no atom of the type, ligands, water, nucleic acids, later models.
// Throws Error naming the file, and for PDB the line, for what is neither format, a position or number that is none, a
// file that is truncated within an atom, one without protein, and two residues with the same number and insertion code.
HEADLIGHT_API Structure ReadStructure(const std::string& path);
HEADLIGHT_API Structure ParseStructure(std::string_view text, const std::string& name);

// The metadata of a prediction, for ModelCIF's categories that AlphaFold's database has.
struct PredictionNote {
  std::string title;     // of the entry
  std::string software;  // that made it
  std::string version;
  std::optional<double> mean_plddt;  // 0 to 100, for the whole model; that of each residue is the B factor of its CA
  std::optional<double> ptm;         // 0 to 1
};

// As mmCIF, with the entities, the sequence and, with a note, ModelCIF's: _ma_model_list, _ma_qa_metric with its global
// and local values, _ma_protocol_step, _ma_data and _software. Residues are numbered along the chain (label_seq_id) and
// by the author (auth_seq_id). Throws Error for a structure without a known atom.
HEADLIGHT_API std::string WriteMmcif(const Structure& structure, const std::optional<PredictionNote>& note = {});

// As PDB, with SEQRES. Throws Error for what the format cannot hold: names of chains of more than one letter, more than
// 99,999 atoms, numbers outside -999 to 9,999, positions outside -999 to 9,999 A; mmCIF can.
HEADLIGHT_API std::string WritePdb(const Structure& structure);

}  // namespace headlight
