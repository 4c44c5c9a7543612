// headlight fold: predicts protein structures.
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
    Check(inputs >= 1, "--msa, --sequence or --file is required");
    Check(options.alignment_folder.empty(), "--msa-dir is for the sequences of --file");
    Check(ShardOfRun(options.shard).count == 1, "--shard divides the sequences of --file, and there is one sequence");
    Check(options.alignments.empty() || options.database.empty(), "--msa and --database exclude each other");
  } else {
    Check(inputs == 0, "--file and --sequence or --msa exclude each other");
    Check(options.templates.empty(), "--templates is for one query, and not for --file");
  }
  Check(options.template_alignment.empty() || !options.templates.empty(), "--template-msa needs --templates");
  FoldQueries(options);
}

}  // namespace

void Add(Command& program) {
  const auto [command, options] = NewCommand(program, "fold", "Predict the structures of proteins", Run);
  command
      .Add("MODEL", options.models,
           "Folder of an AlphaFold 2 or ESMFold, or a published params_model_*.npz file; predictions of several are "
           "ranked")
      .Required()
      .Model(NotEmpty());
  command.AddFile("--msa", options.alignments,
                  "Alignments of one query, A3M, A2M, FASTA or Stockholm, plain or gzip; the first row is the query");
  command.Add("--sequence", options.sequence, "Sequence of the query; with --msa it must equal the first row")
      .Check(NotEmpty())
      .Type("LETTERS");
  command.AddFile("--database", options.database,
                  "Search this database of mmseqs2 or HHblits for the query; the alignment is kept as "
                  "FILE.a3m",
                  "PATH");
  command.AddFile(
      "--templates", options.templates,
      "Known structures of homologs, mmCIF or PDB, plain or gzip, for models that read templates; the chain of each "
      "that is most similar to the query is used");
  command.AddFile("--template-msa", options.template_alignment,
                  "Alignment of --templates to the query, A3M, FASTA or Stockholm: a row for each chain, named "
                  "STEM_CHAIN for a chain "
                  "of STEM.cif [an alignment of the sequences]");
  command.AddFile("--file", options.file,
                  "FASTA file with many queries, plain or gzip; queries that have a structure in --out are skipped");
  AddShard(command, options.shard);
  command.AddFile("--msa-dir", options.alignment_folder,
                  "Folder with alignments of the queries of --file, NAME.a3m or NAME.sto, plain or .gz", "DIR");
  command
      .AddFile("--out", options.out, "File for the structure, .cif (mmCIF) or .pdb; with --file a folder for NAME.cif",
               "FILE|DIR")
      .Required();
  command.Add("--out-format", options.out_format, "Format of structures in a folder")
      .Type("cif|pdb")
      .Check(OneOf({"cif", "pdb"}))
      .ShowDefault();
  command.Add("--seed", options.seed, Seed(), "Random seed of the MSA sampling and masking of each pass").ShowDefault();
  command
      .Add("--num-seeds", options.num_seeds, Between(1, 1000),
           "Predictions of each model, with consecutive seeds from --seed on")
      .ShowDefault();
  command.Add("--recycles", options.recycles, Between(0, 1000), "Passes after the first [the model's, 3]");
  command
      .Add("--tolerance", options.tolerance, NumberFrom(0),
           "Stop recycling when distances of C alphas change by less, in angstrom; 0: compute all passes")
      .ShowDefault();
  command.Add("--rows", options.rows, Between(1, 1 << 20),
              "Rows of the alignment, which are centers of clusters [the "
              "model's, 512]");
  command.Add("--extra-rows", options.extra, Between(0, 1 << 20), "Further rows [the model's, 1024 or 5120]");
  command.Add("--rank", options.rank, "Score that ranks predictions")
      .Type("plddt|ptm")
      .Check(OneOf({"plddt", "ptm"}))
      .ShowDefault();
  command.Add("--all", options.all,
              "Write every prediction, as FILE.2.cif and so on by rank, instead of only the best");
  command.Add("--pae", options.errors,
              "Write predicted aligned errors, too, as FILE.pae.json in the format of AlphaFold's database");
  command.Add("--plot", options.plot, "Draw pLDDT and predicted aligned errors, too, as FILE.png, .svg or .pdf")
      .Type("png|svg|pdf")
      .Check(OneOf({"png", "svg", "pdf"}));
  command.Add("--embeddings", options.embeddings,
              "Write the representations of residues and pairs, too, as single and pair in FILE.safetensors");
  command.Add("--json", options.json,
              "Print one JSON object per prediction: query, rank, model, seed, residues, passes, mean_plddt, ptm");
  AddComputeOption(command, options.compute);
  command.footer =
      "\nEach line of the output is a prediction: QUERY, RANK, MODEL, SEED, RESIDUES, PASSES, PLDDT (the mean) "
      "and PTM (or -), separated by tabs. The best of a query comes first. B factors are pLDDT. With --file the "
      "error of a query is printed, and the others continue. Databases are searched by the programs mmseqs or "
      "hhblits, which must be installed. Structures are not relaxed.\n\n"
      "Examples:\n"
      "  headlight fold params_model_3_ptm.npz --msa query.a3m --out query.cif\n"
      "  headlight fold esmfold --sequence MKVLAEYTWGRD --out query.pdb\n"
      "  headlight fold params_model_3_ptm.npz --msa query.a3m --out query.cif --pae --plot png\n"
      "  headlight fold model --sequence MKVLAEYTWGRD --database uniref30/db --out query.cif\n"
      "  headlight fold params/params_model_[345]_ptm.npz --msa query.a3m --num-seeds 2 --rank ptm --out query.cif\n"
      "  headlight fold params_model_1.npz --msa query.a3m --templates 1abc.cif 2xyz.pdb --out query.cif\n"
      "  headlight fold model --file proteome.fasta --msa-dir alignments --out structures";
}

}  // namespace headlight::fold
