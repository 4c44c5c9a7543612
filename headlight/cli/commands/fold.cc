// headlight fold: structures of proteins.
#include <string>

#include "headlight/base/error.h"
#include "headlight/cli/commands/fold_queries.h"
#include "headlight/cli/program/commands.h"
#include "headlight/pipelines/translation_options.h"

namespace headlight::fold {
namespace {

void Run(const FoldCommandOptions& options) {
  const int inputs = (options.sequence.empty() ? 0 : 1) + (options.alignments.empty() ? 0 : 1);
  if (options.file.empty()) {
    Check(inputs >= 1, "nothing to fold: name --msa, --sequence or --file");
    Check(options.alignment_folder.empty(), "--msa-dir is for the sequences of --file");
    Check(ShardOfRun(options.shard).count == 1, "--shard divides the sequences of --file, and this is one");
    Check(options.alignments.empty() || options.database.empty(), "--database replaces --msa: give one of them");
  } else {
    Check(inputs == 0, "--file replaces --sequence and --msa: give one of them");
    Check(options.templates.empty(), "--templates are of one query, not of those in --file");
  }
  Check(options.template_alignment.empty() || !options.templates.empty(),
        "--template-msa aligns the structures of --templates, of which there is none");
  FoldQueries(options);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "fold", "Predict the structures of proteins", Run);
  command
      .Add("MODEL", options.models,
           "Folders of AlphaFold 2 or ESMFold, or published params_model_*.npz files: all predictions are ranked")
      .Required()
      .Model(NotEmpty());
  command.AddFile("--msa", options.alignments,
                  "Alignments of one query, A3M, A2M, FASTA or Stockholm, plain or gzip, whose first row it is");
  command.Add("--sequence", options.sequence, "The query by its letters; with --msa, what its first row must be")
      .Check(NotEmpty())
      .Type("LETTERS");
  command.AddFile(
      "--database", options.database,
      "Search this database of mmseqs2 or HHblits for a query without an alignment; what is found is kept as "
      "FILE.a3m",
      "PATH");
  command.AddFile(
      "--templates", options.templates,
      "Known structures of relatives, mmCIF or PDB, plain or gzip, for models that read templates; of each the chain "
      "that is most like the query");
  command.AddFile(
      "--template-msa", options.template_alignment,
      "How they are aligned to the query, A3M, FASTA or Stockholm: a row for each chain, named STEM_CHAIN for that "
      "of STEM.cif [by their sequences]");
  command.AddFile(
      "--file", options.file,
      "Many queries: a FASTA file, plain or gzip; those that have a structure in --out already are left out");
  AddShard(command, options.shard);
  command.AddFile("--msa-dir", options.alignment_folder,
                  "Folder of their alignments, NAME.a3m or NAME.sto, plain or .gz; a query without one is folded alone",
                  "DIR");
  command
      .AddFile("--out", options.out, "The structure, .cif (mmCIF) or .pdb; with --file a folder for NAME.cif",
               "FILE|DIR")
      .Required();
  command.Add("--out-format", options.out_format, "Format of the structures in a folder")
      .Type("cif|pdb")
      .Check(OneOf({"cif", "pdb"}))
      .ShowDefault();
  command.Add("--seed", options.seed, Seed(), "Random seed of the MSA sampling and masking of each pass").ShowDefault();
  command.Add("--num-seeds", options.num_seeds, Between(1, 1000), "Predictions of each model, from --seed on")
      .ShowDefault();
  command.Add("--recycles", options.recycles, Between(0, 1000), "Passes after the first [the model's, 3]");
  command
      .Add("--tolerance", options.tolerance, NumberFrom(0),
           "No further pass where distances of C alphas change by less, in angstrom; 0: all passes")
      .ShowDefault();
  command.Add("--rows", options.rows, Between(1, 1 << 20),
              "Rows of an alignment, as centres of clusters [the "
              "model's, 512]");
  command.Add("--extra-rows", options.extra, Between(0, 1 << 20), "Further rows [the model's, 1024 or 5120]");
  command.Add("--rank", options.rank, "The score that ranks predictions")
      .Type("plddt|ptm")
      .Check(OneOf({"plddt", "ptm"}))
      .ShowDefault();
  command.Add("--all", options.all, "Write every prediction, FILE.2.cif and so on by rank, not the best alone");
  command.Add("--pae", options.errors,
              "Also write the predicted aligned errors, FILE.pae.json, as AlphaFold's database does");
  command.Add("--plot", options.plot, "Also draw pLDDT and predicted aligned errors, FILE.png, .svg or .pdf")
      .Type("png|svg|pdf")
      .Check(OneOf({"png", "svg", "pdf"}));
  command.Add("--embeddings", options.embeddings,
              "Also write the representations of residues and pairs, FILE.safetensors: single, pair");
  command.Add("--json", options.json,
              "Print one JSON object per prediction: query, rank, model, seed, residues, passes, mean_plddt, ptm");
  AddComputeOption(command, options.compute);
  command.footer =
      "\nPrints a line for each prediction, the best of a query first: QUERY, RANK, MODEL, SEED, RESIDUES, PASSES, "
      "PLDDT\n"
      "(its mean), PTM (- where the model predicts none), with tabs between them. B factors are pLDDT. One query of\n"
      "--file that fails is named on standard error, and the others go on. Alignments are searched by\n"
      "mmseqs2 or HHblits, where they are installed; structures are not relaxed, which OpenMM does.\n\n"
      "Examples:\n"
      "  headlight fold params_model_3_ptm.npz --msa query.a3m --out query.cif --pae --plot png\n"
      "  headlight fold model --sequence MKVLAEYTWGRD --out query.pdb\n"
      "  headlight fold model --sequence MKVLAEYTWGRD --database uniref30/db --out query.cif\n"
      "  headlight fold params/params_model_[345]_ptm.npz --msa query.a3m --num-seeds 2 --rank ptm --out query.cif\n"
      "  headlight fold params_model_1.npz --msa query.a3m --templates 1abc.cif 2xyz.pdb --out query.cif\n"
      "  headlight fold model --file proteome.fasta --msa-dir alignments --out structures";
}

}  // namespace headlight::fold
