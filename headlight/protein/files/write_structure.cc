#define GEMMI_WRITE_IMPLEMENTATION
#include <cmath>
#include <exception>
#include <gemmi/polyheur.hpp>
#include <gemmi/to_cif.hpp>
#include <gemmi/to_mmcif.hpp>
#include <gemmi/to_pdb.hpp>
#include <sstream>

#include "headlight/base/error.h"
#include "headlight/base/json.h"
#include "headlight/protein/files/structure_files.h"

namespace headlight {
namespace {

gemmi::Structure Convert(const Structure& from) {
  gemmi::Structure to;
  to.name = from.name.empty() ? "model" : from.name;
  to.info["_entry.id"] = to.name;
  to.models.emplace_back("1");
  int serial = 0;
  for (std::size_t c = 0; c < from.chains.size(); ++c) {
    const ProteinChain& chain = from.chains[c];
    gemmi::Entity entity(std::to_string(c + 1));
    entity.entity_type = gemmi::EntityType::Polymer;
    entity.polymer_type = gemmi::PolymerType::PeptideL;
    entity.subchains.push_back(chain.name);
    gemmi::Chain& added = to.models[0].chains.emplace_back(chain.name);
    for (std::size_t i = 0; i < chain.residues.size(); ++i) {
      const Residue& residue = chain.residues[i];
      entity.full_sequence.push_back(residue.name);
      if (!residue.observed()) continue;
      gemmi::ResidueId id;
      id.name = residue.name;
      id.seqid = gemmi::SeqId(residue.number, residue.insertion);
      gemmi::Residue& written = added.residues.emplace_back(id);
      written.entity_type = gemmi::EntityType::Polymer;
      written.entity_id = entity.name;
      written.subchain = chain.name;
      written.label_seq = static_cast<int>(i) + 1;
      written.het_flag = 'A';
      for (std::size_t a = 0; a < kAtom37; ++a) {
        if (!residue.known[a]) continue;
        const Vector3& point = residue.atoms[a];
        Check(std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.z),
              "chain {}: residue {}: the position of {} is not finite", chain.name, i + 1, AtomNames()[a]);
        gemmi::Atom& atom = written.atoms.emplace_back();
        const bool selenium = residue.name == "MSE" && AtomNames()[a] == "SD";
        atom.name = selenium ? "SE" : AtomNames()[a];
        atom.element = gemmi::Element(selenium ? std::string("SE") : std::string(1, AtomNames()[a].front()));
        atom.serial = ++serial;
        atom.pos = gemmi::Position(point.x, point.y, point.z);
        atom.b_iso = residue.b_factors[a];
      }
    }
    to.entities.push_back(entity);
  }
  Check(serial > 0, "{}: there is no atom to write", to.name);
  return to;
}

std::string Number(double value) { return fmt::format("{:.2f}", value); }

// Adds the categories of ModelCIF (Vallat et al., "ModelCIF: An Extension of PDBx/mmCIF Data Representation for
// Computed Structure Models", 2023).
void AddPrediction(gemmi::cif::Block& block, const Structure& structure, const PredictionNote& note) {
  const auto text = [](const std::string& value) { return gemmi::cif::quote(value); };
  block.set_pair("_struct.title", text(note.title));
  block.set_pair("_audit_conform.dict_name", "mmcif_ma.dic");
  block.set_pair("_audit_conform.dict_version", "1.4.5");
  block.set_pair("_audit_conform.dict_location",
                 "https://raw.githubusercontent.com/ihmwg/ModelCIF/master/dist/mmcif_ma.dic");
  block.init_loop("_software.", {"pdbx_ordinal", "name", "version", "classification", "type"})
      .add_row({"1", text(note.software), text(note.version), "other", "package"});
  block.init_loop("_ma_data.", {"id", "name", "content_type"}).add_row({"1", "Model", text("model coordinates")});
  block
      .init_loop("_ma_model_list.", {"ordinal_id", "model_id", "model_group_id", "model_name", "model_group_name",
                                     "data_id", "model_type"})
      .add_row({"1", "1", "1", text(note.title), text("Predicted"), "1", text("Ab initio model")});
  block.init_loop("_ma_software_group.", {"ordinal_id", "group_id", "software_id"}).add_row({"1", "1", "1"});
  block
      .init_loop("_ma_protocol_step.",
                 {"ordinal_id", "protocol_id", "step_id", "method_type", "software_group_id", "output_data_group_id"})
      .add_row({"1", "1", "1", "modeling", "1", "1"});
  gemmi::cif::Loop& targets = block.init_loop("_ma_target_entity.", {"entity_id", "data_id", "origin"});
  for (std::size_t c = 0; c < structure.chains.size(); ++c) targets.add_row({std::to_string(c + 1), "1", "designed"});

  gemmi::cif::Loop& metrics = block.init_loop("_ma_qa_metric.", {"id", "mode", "name", "software_group_id", "type"});
  metrics.add_row({"1", "local", "pLDDT", "1", "pLDDT"});
  if (note.mean_plddt) metrics.add_row({"2", "global", "pLDDT", "1", "pLDDT"});
  if (note.ptm) metrics.add_row({"3", "global", "pTM", "1", "pTM"});
  if (note.mean_plddt || note.ptm) {
    gemmi::cif::Loop& overall =
        block.init_loop("_ma_qa_metric_global.", {"ordinal_id", "model_id", "metric_id", "metric_value"});
    int row = 0;
    if (note.mean_plddt) overall.add_row({std::to_string(++row), "1", "2", Number(*note.mean_plddt)});
    if (note.ptm) overall.add_row({std::to_string(++row), "1", "3", fmt::format("{:.4f}", *note.ptm)});
  }
  gemmi::cif::Loop& local = block.init_loop(
      "_ma_qa_metric_local.",
      {"ordinal_id", "model_id", "label_asym_id", "label_seq_id", "label_comp_id", "metric_id", "metric_value"});
  int row = 0;
  for (const ProteinChain& chain : structure.chains) {
    for (std::size_t i = 0; i < chain.residues.size(); ++i) {
      const Residue& residue = chain.residues[i];
      constexpr std::size_t kCa = 1;
      if (!residue.known[kCa]) continue;
      local.add_row({std::to_string(++row), "1", text(chain.name), std::to_string(i + 1), residue.name, "1",
                     Number(residue.b_factors[kCa])});
    }
  }
}

}  // namespace

namespace {

// Throws Error for a name that mmCIF has only in quotes or not at all. gemmi writes some names without quotes.
void CheckNames(const Structure& structure) {
  const auto check = [](const std::string& name, const ProteinChain& chain) {
    Check(gemmi::cif::quote(name) == name, "chain {}: mmCIF cannot have the name {}", Quoted(chain.name), Quoted(name));
  };
  for (const ProteinChain& chain : structure.chains) {
    check(chain.name, chain);
    for (const Residue& residue : chain.residues) {
      check(residue.name, chain);
      if (residue.insertion != ' ') check(std::string(1, residue.insertion), chain);
    }
  }
}

}  // namespace

std::string WriteMmcif(const Structure& structure, const std::optional<PredictionNote>& note) {
  CheckNames(structure);
  const gemmi::Structure from = Convert(structure);
  gemmi::MmcifOutputGroups groups(true);
  groups.cell = groups.symmetry = groups.scale = groups.origx = groups.software = false;
  groups.group_pdb = groups.entity_poly = true;
  gemmi::cif::Document document;
  document.blocks.push_back(gemmi::make_mmcif_block(from, groups));
  if (note) AddPrediction(document.blocks.front(), structure, *note);
  std::ostringstream out;
  gemmi::cif::write_cif_to_stream(out, document, gemmi::cif::Style::PreferPairs);
  return out.str();
}

std::string WritePdb(const Structure& structure) {
  const gemmi::Structure from = Convert(structure);
  std::size_t atoms = 0;
  for (const ProteinChain& chain : structure.chains) {
    Check(chain.name.size() == 1, "PDB allows one letter for a chain's name, not {}: use mmCIF", Quoted(chain.name));
    for (const Residue& residue : chain.residues) {
      if (!residue.observed()) continue;
      Check(residue.number >= -999 && residue.number <= 9999,
            "chain {}: PDB allows residue numbers from -999 to 9,999, not {}: use mmCIF", chain.name, residue.number);
      for (std::size_t a = 0; a < kAtom37; ++a) {
        if (!residue.known[a]) continue;
        ++atoms;
        for (const double value : {residue.atoms[a].x, residue.atoms[a].y, residue.atoms[a].z})
          Check(value > -999.5 && value < 9999.5, "chain {}: residue {}: PDB cannot store the position {}", chain.name,
                residue.number, value);
      }
    }
  }
  Check(atoms <= 99999, "PDB allows 99,999 atoms, not {}: use mmCIF", atoms);
  gemmi::PdbWriteOptions options;
  options.cryst1_record = false;
  std::ostringstream out;
  gemmi::write_pdb(from, out, options);
  return out.str();
}

}  // namespace headlight
