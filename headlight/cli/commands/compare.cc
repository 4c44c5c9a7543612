// headlight compare: scores a protein structure against a reference structure.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/json.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/inspect/drawing/superposed_drawing.h"
#include "headlight/protein/chain_mapping.h"
#include "headlight/protein/files/structure_files.h"
#include "headlight/protein/structure_scores.h"
#include "headlight/protein/superposition.h"
#include "headlight/text/printable.h"

namespace headlight::compare {
namespace {

struct Options {
  std::string model, reference, model_chain, reference_chain, out, plot;
  std::optional<Pairing> pair_by;
  std::optional<ChainPairing> pair_chains;
  bool json = false;
};

// Returns the structures with the chains to compare. If only one structure has several chains, one of them must be
// chosen, unless --pair-chains is given.
std::pair<Structure, Structure> ChosenChains(const Options& options, const Structure& model,
                                             const Structure& reference) {
  std::pair<Structure, Structure> chosen = {model, reference};
  const bool complex = options.model_chain.empty() && options.reference_chain.empty() &&
                       (options.pair_chains || (model.chains.size() > 1 && reference.chains.size() > 1));
  if (complex) return chosen;
  chosen.first.chains = {ChainOf(model, options.model_chain)};
  chosen.second.chains = {ChainOf(reference, options.reference_chain)};
  return chosen;
}

// Returns how residues are paired, such as "index". If the pairs of chains differ, returns "index and alignment".
std::string PairedBy(const ChainMapping& mapping) {
  std::vector<std::string_view> names;
  for (const MappedChain& chain : mapping.chains)
    if (chain.paired_by && std::ranges::find(names, NameOf(*chain.paired_by)) == names.end())
      names.push_back(NameOf(*chain.paired_by));
  return fmt::format("{}", fmt::join(names, " and "));
}

// Returns the pairs of chains, such as "A with B, C with none". At most 20 pairs are listed.
std::string PairsOfChains(const ChainMapping& mapping, const Structure& model, const Structure& reference) {
  constexpr std::size_t kMost = 20;
  std::string pairs;
  for (std::size_t i = 0; i < mapping.chains.size(); ++i) {
    if (i == kMost) return pairs + ", ...";
    const auto name = [](const Structure& structure, const std::optional<std::size_t>& chain) {
      return chain ? InRow(structure.chains[*chain].name) : "none";
    };
    pairs += fmt::format("{}{} with {}", i == 0 ? "" : ", ", name(model, mapping.chains[i].model),
                         name(reference, mapping.chains[i].reference));
  }
  return pairs;
}

void NotePairs(const Options& options, const ChainMapping& mapping, const Structure& model,
               const Structure& reference) {
  const std::string files = fmt::format("{} and {}", options.model, options.reference);
  if (!options.pair_chains && mapping.paired_by == ChainPairing::sequence)
    Note("{}: chains are paired by sequence and TM-score instead of by name: {} (see --pair-chains)", files,
         PairsOfChains(mapping, model, reference));
  if (options.pair_by) return;
  for (const MappedChain& chain : mapping.chains) {
    if (chain.paired_by != Pairing::alignment) continue;
    const std::string where = mapping.chains.size() == 1
                                  ? ""
                                  : fmt::format("chain {} with {}: ", model.chains[*chain.model].name,
                                                reference.chains[*chain.reference].name);
    Note("{}: {}the residue numbers pair {}; an alignment of the sequences is used instead (see --pair-by)", files,
         where,
         chain.different > 0 ? fmt::format("{} residues with ones of another type", chain.different) : "no residues");
  }
}

Json::Array ChainsAsJson(const ChainMapping& mapping, const Structure& model, const Structure& reference) {
  Json::Array chains;
  for (const MappedChain& chain : mapping.chains) {
    const auto name = [](const Structure& structure, const std::optional<std::size_t>& index) {
      return index ? Json(structure.chains[*index].name) : Json();
    };
    chains.push_back(
        Json::Object{{"model", name(model, chain.model)},
                     {"reference", name(reference, chain.reference)},
                     {"residues", chain.residues},
                     {"reference_residues", chain.reference_residues},
                     {"paired_by", chain.paired_by ? Json(std::string(NameOf(*chain.paired_by))) : Json()}});
  }
  return chains;
}

void Run(const Options& options) {
  CheckOutputs({{"--out", options.out}, {"--plot", options.plot}}, {options.model, options.reference});
  if (!options.plot.empty()) CheckImagePath(options.plot);
  for (const std::string& path : {options.out, options.plot})
    if (!path.empty()) CheckWritable(path);
  Structure model = ReadStructure(options.model);
  const Structure reference = ReadStructure(options.reference);
  const auto [of_model, of_reference] = ChosenChains(options, model, reference);
  const ChainMapping mapping = MapChains(of_model, of_reference, options.pair_chains, options.pair_by);
  const Correspondence& pairs = mapping.residues;
  const std::string paired_by = PairedBy(mapping);
  Check(pairs.model.size() >= 3, "{} and {}: {} residues correspond, by {}; at least 3 are needed", options.model,
        options.reference, pairs.model.size(), paired_by);
  NotePairs(options, mapping, of_model, of_reference);
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
  if (!options.plot.empty()) {
    moved.clear();
    for (const Vector3& point : a) moved.push_back(scores.superposition(point));
    DrawSuperposed({fmt::format("{} on {}", std::filesystem::path(options.model).filename().string(),
                                std::filesystem::path(options.reference).filename().string()),
                    fmt::format("{} residues, TM-score {:.3f}, RMSD {:.2f} A, lDDT-CA {:.3f}", a.size(),
                                scores.tm_score, rmsd, local),
                    moved, b},
                   options.plot);
  }
  if (options.json) {
    return WriteResult(
        Json(Json::Object{{"residues", static_cast<std::int64_t>(a.size())},
                          {"reference_residues", pairs.reference_length},
                          {"paired_by", paired_by},
                          {"chains_paired_by", mapping.paired_by == ChainPairing::name ? "name" : "sequence"},
                          {"chains", ChainsAsJson(mapping, of_model, of_reference)},
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
  const std::string chains =
      mapping.chains.size() == 1 ? "" : fmt::format("chains     {}\n", PairsOfChains(mapping, of_model, of_reference));
  WriteResult(
      chains +
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
  command.AddFile("REFERENCE", options.reference, "The structure that the scores refer to, in the same formats")
      .Required();
  command.Add("--model-chain", options.model_chain, "The chain of the model, if it has several")
      .Check(NotEmpty())
      .Type("NAME");
  command.Add("--reference-chain", options.reference_chain, "The chain of the reference, if it has several")
      .Check(NotEmpty())
      .Type("NAME");
  command.AddFile("--out", options.out, "Write the model, superposed on the reference, as mmCIF", "FILE.cif");
  command.AddFile("--plot", options.plot,
                  "Draw both, superposed, to this file (.png, .svg or .pdf): the reference in gray, the model colored "
                  "by the distance of "
                  "its residues");
  AddChoice<Pairing>(
      command, "--pair-by", options.pair_by, {{"number", Pairing::number}, {"alignment", Pairing::alignment}},
      "Pair residues by number and insertion code, or by a local alignment of the sequences, as `fold --templates` "
      "does");
  AddChoice<ChainPairing>(command, "--pair-chains", options.pair_chains,
                          {{"name", ChainPairing::name}, {"sequence", ChainPairing::sequence}},
                          "Pair the chains of complexes by name, or by sequence and best TM-score");
  command.Add("--json", options.json,
              "Print one JSON object; its chains and paired_by say how chains and residues were paired");
  command.footer =
      "\nResidues are paired by index if both chains have the same sequence, else by number and insertion code. "
      "If numbers pair different residues and an alignment of the sequences pairs more equal ones, the "
      "alignment is used, with a note.\n\n"
      "Structures with several chains are compared as complexes. Chains are paired by sequence, and equal "
      "chains so that the TM-score is best, with a note if names pair others. A chain of the reference without "
      "a partner counts as missing.\n\n"
      "TM-score and GDT are divided by the number of the reference's residues that have a CA. lDDT counts all "
      "distances of the reference; distances to atoms that the model lacks count as not preserved. RMSD and "
      "dRMSD are those of pairs only.\n\n"
      "Examples:\n"
      "  headlight compare predicted.cif experiment.cif.gz\n"
      "  headlight compare a.pdb b.pdb --reference-chain B --json\n"
      "  headlight compare predicted.cif experiment.cif --plot both.svg";
}

}  // namespace headlight::compare
