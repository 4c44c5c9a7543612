// headlight compare: how alike two structures of a protein are.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/choice.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/inspect/drawing/superposed_drawing.h"
#include "headlight/protein/files/structure_files.h"
#include "headlight/protein/structure_scores.h"
#include "headlight/protein/superposition.h"

namespace headlight::compare {
namespace {

struct Options {
  std::string model, reference, model_chain, reference_chain, out, picture;
  std::optional<Pairing> pair_by;
  bool json = false;
};

void Run(const Options& options) {
  CheckOutputs({{"--out", options.out}, {"--picture", options.picture}}, {options.model, options.reference});
  if (!options.picture.empty()) CheckPicturePath(options.picture);
  for (const std::string& path : {options.out, options.picture})
    if (!path.empty()) CheckWritable(path);
  Structure model = ReadStructure(options.model);
  const Structure reference = ReadStructure(options.reference);
  const ProteinChain& model_chain = ChainOf(model, options.model_chain);
  const ProteinChain& reference_chain = ChainOf(reference, options.reference_chain);
  const Correspondence pairs = Correspond(model_chain, reference_chain, options.pair_by);
  const std::string_view paired_by = NameOf(pairs.paired_by);
  Check(pairs.model.size() >= 3, "{} and {}: {} residues correspond, by {}; at least 3 must", options.model,
        options.reference, pairs.model.size(), paired_by);
  if (!options.pair_by && pairs.paired_by == Pairing::alignment)
    Note("{} and {}: the numbers pair {}; residues are paired by an alignment of the sequences (see --pair-by)",
         options.model, options.reference,
         pairs.different > 0 ? fmt::format("{} residues with ones of another type", pairs.different) : "no residues");
  const std::vector<Vector3> a = CaOf(pairs.model), b = CaOf(pairs.reference);
  const RigidFrame closest = Superpose(a, b);
  std::vector<Vector3> moved;
  for (const Vector3& point : a) moved.push_back(closest(point));
  const SuperposedScores scores = ScoreSuperposed(a, b, pairs.reference_length);
  const double rmsd = RootMeanSquare(moved, b), distances = DistanceRootMeanSquare(a, b);
  const double all_atoms = AllAtomRootMeanSquare(pairs.model, pairs.reference);
  const double local = ScoreLocalDistances(pairs.model_or_none, pairs.whole_reference, false).score;
  const double local_all = ScoreLocalDistances(pairs.model_or_none, pairs.whole_reference, true).score;
  if (!options.out.empty()) {
    for (ProteinChain& chain : model.chains)
      for (Residue& residue : chain.residues)
        for (Vector3& atom : residue.atoms) atom = scores.superposition(atom);
    WriteFile(options.out, WriteMmcif(model));
  }
  if (!options.picture.empty()) {
    moved.clear();
    for (const Vector3& point : a) moved.push_back(scores.superposition(point));
    DrawSuperposed({fmt::format("{} on {}", std::filesystem::path(options.model).filename().string(),
                                std::filesystem::path(options.reference).filename().string()),
                    fmt::format("{} residues, TM-score {:.3f}, RMSD {:.2f} A, lDDT-CA {:.3f}", a.size(),
                                scores.tm_score, rmsd, local),
                    moved, b},
                   options.picture);
  }
  if (options.json) {
    return WriteResult(Json(Json::Object{{"residues", static_cast<std::int64_t>(a.size())},
                                         {"reference_residues", pairs.reference_length},
                                         {"paired_by", std::string(paired_by)},
                                         {"rmsd", rmsd},
                                         {"all_atom_rmsd", all_atoms},
                                         {"tm_score", scores.tm_score},
                                         {"gdt_ts", scores.gdt_ts},
                                         {"gdt_ha", scores.gdt_ha},
                                         {"lddt", local_all},
                                         {"lddt_ca", local},
                                         {"drmsd", distances}})
                           .Line() +
                       "\n");
  }
  WriteResult(
      fmt::format("residues   {} of the reference's {}, by {}\n"
                  "RMSD       {:.3f} A (CA), {:.3f} A (all atoms)\nTM-score   {:.4f}\nGDT-TS     {:.4f}\nGDT-HA     "
                  "{:.4f}\nlDDT       {:.4f} (all atoms)\nlDDT-CA    {:.4f}\ndRMSD      {:.3f} A (CA)\n",
                  a.size(), pairs.reference_length, paired_by, rmsd, all_atoms, scores.tm_score, scores.gdt_ts,
                  scores.gdt_ha, local_all, local, distances));
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] =
      NewCommand(program, "compare", "Score a structure against another of the same protein", Run);
  command.AddFile("MODEL", options.model, "PDB or mmCIF, plain or gzip").Required();
  command.AddFile("REFERENCE", options.reference, "The same, to which the scores are relative").Required();
  command.Add("--model-chain", options.model_chain, "The model's chain, where it has several")
      .Check(NotEmpty())
      .Type("NAME");
  command.Add("--reference-chain", options.reference_chain, "The reference's chain, where it has several")
      .Check(NotEmpty())
      .Type("NAME");
  command.AddFile("--out", options.out, "Write the model, superposed on the reference, as mmCIF", "FILE.cif");
  command.AddFile(
      "--picture", options.picture,
      "Draw both, superposed, to this file (.png, .svg or .pdf): the reference grey, the model by the distance of "
      "its residues");
  AddChoice<Pairing>(
      command, "--pair-by", options.pair_by, {{"number", Pairing::number}, {"alignment", Pairing::alignment}},
      "Pair residues by number and insertion code, or by a local alignment of the sequences, as --templates of fold "
      "does");
  command.Add("--json", options.json, "Print one JSON object; paired_by says how residues were paired");
  command.footer =
      "\nResidues are paired by index if both chains have the same sequence, else by number and insertion code. If "
      "numbers\npair different residues and an alignment of the sequences pairs more equal ones, the alignment is "
      "used, "
      "with a note.\n\n"
      "TM-score and GDT are divided by the residues of the reference that have a CA, paired or not. lDDT counts all\n"
      "distances of the reference: those to an atom that the model lacks are not kept. RMSD and dRMSD are of pairs "
      "alone.\n\n"
      "Examples:\n  headlight compare predicted.cif experiment.cif.gz\n"
      "  headlight compare a.pdb b.pdb --reference-chain B --json\n"
      "  headlight compare predicted.cif experiment.cif --picture both.svg";
}

}  // namespace headlight::compare
