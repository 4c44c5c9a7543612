// headlight contacts: predicts contacts between protein residues.
#include <cstddef>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/cli/commands/model_argument.h"
#include "headlight/cli/program/commands.h"
#include "headlight/cli/terminal/output.h"
#include "headlight/cli/terminal/progress.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/models/esm.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/contact_predictor.h"
#include "headlight/pipelines/structure_predictor.h"
#include "headlight/pipelines/translation_options.h"
#include "headlight/protein/alignment_table.h"
#include "headlight/protein/sequences.h"
#include "headlight/text/printable.h"

namespace headlight::contacts {
namespace {

struct Options {
  std::string folder, input = "-";
  std::int64_t separation = 6;
  std::optional<Compute> compute;
  bool json = false;
};

void Write(const Options& options, const std::string& name, std::size_t residues,
           const std::vector<Contact>& contacts) {
  Json::Array rows;
  for (const Contact& contact : contacts) {
    if (options.json)
      rows.push_back(Json::Array{contact.first, contact.second, contact.score});
    else
      WriteResult(fmt::format("{}\t{}\t{}\t{:.4f}\n", InRow(name), contact.first, contact.second, contact.score));
  }
  if (options.json)
    WriteResult(
        Json(Json::Object{
                 {"name", name}, {"residues", static_cast<std::int64_t>(residues)}, {"contacts", std::move(rows)}})
            .Line() +
        "\n");
  FlushResults();
}

// Prints the contacts of the query sequence of an alignment.
void RunFolding(const Options& options) {
  const class StructurePredictor folder =
      Loaded([&] { return StructurePredictor::Load(options.folder, {.compute = options.compute}); });
  const bool piped = options.input == "-";  // standard input can be read only once
  const std::string query =
      piped ? "query" : AlignmentReader(options.input, {.query = {}, .most_rows = 1}).Next()->name;
  const AlignmentTable table = ReadAlignmentTable(std::span(&options.input, 1));
  Progress progress("blocks");
  const PredictedStructure predicted =
      folder.Predict(table, {.progress = [&](std::int64_t done, std::int64_t most) { progress.Show(done, most); }});
  Write(options, query, predicted.plddt.size(), BestContacts(predicted.contacts, options.separation));
}

void Run(const Options& options) {
  CheckOutputs({}, {options.folder, options.input});
  const ModelFolder files = OpenModelDescription(options.folder);
  const Family& family = FamilyOf(files);
  if (family.kind == FoldingModel::kKind) return RunFolding(options);
  Check(family.model == typeid(Esm),
        "{}: is of type {}; contacts are predicted by an ESM with a contact head, an AlphaFold or an ESMFold",
        files.path, Quoted(files.config["model_type"].String()));
  const ContactPredictor predictor =
      Loaded([&] { return ContactPredictor::Load(options.folder, {.compute = options.compute}); });
  FastaReader reader(Input(options.input));
  Progress progress("sequences read");
  std::int64_t sequences = 0;
  while (const auto sequence = reader.Next()) {
    const std::string location = fmt::format("{}: line {}", reader.name(), sequence->line);
    Write(options, sequence->name, sequence->letters.size(),
          predictor.Predict(sequence->letters, options.separation, location));
    progress.ShowShare(++sequences, reader.share());
  }
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "contacts", "Predict contacts between residues of proteins", Run);
  AddModel(command, options.folder,
           "Folder of an ESM-2 with its contact head, an AlphaFold or an ESMFold, or an .npz file of AlphaFold 2");
  command.Add(
      "FILE", options.input,
      "For an ESM-2: sequences as FASTA; for others: an alignment as A3M, A2M, FASTA or Stockholm, whose first row "
      "is the query; plain or gzip; - is standard input [-]");
  command
      .Add("--separation", options.separation, AtLeast(1), "Minimum distance of a pair along the sequence, in residues")
      .ShowDefault();
  command.Add("--json", options.json, "Print one JSON object per sequence");
  AddComputeOption(command, options.compute);
  command.footer =
      "\nEach line of the output is NAME<tab>RESIDUE<tab>RESIDUE<tab>PROBABILITY, with residues counted from 1. "
      "The most probable pairs are printed, as many as the sequence has residues.\n\n"
      "Examples:\n"
      "  headlight contacts esm2_t33_650M_UR50D proteins.fasta\n"
      "  headlight contacts esm2_t33_650M_UR50D query.fasta --separation 24 --json\n"
      "  headlight contacts alphafold query.a3m --separation 24";
}

}  // namespace headlight::contacts
