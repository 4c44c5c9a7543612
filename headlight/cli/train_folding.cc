// headlight train folding: protein structures from sequences and alignments.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/model_training.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_training.h"
#include "headlight/cli/training_folder.h"
#include "headlight/data/protein_chains.h"
#include "headlight/models/alphafold.h"
#include "headlight/models/family.h"
#include "headlight/protein/files/structure_files.h"
#include "headlight/train/tasks/folding.h"

namespace headlight::train_folding {
namespace {

const std::map<std::string, OptionValues> kPresets = {{"tiny",
                                                       {{"--layers", "2"},
                                                        {"--extra-layers", "1"},
                                                        {"--model-dim", "32"},
                                                        {"--pair-dim", "32"},
                                                        {"--single-dim", "64"},
                                                        {"--heads", "4"},
                                                        {"--structure-layers", "4"}}},
                                                      {"alphafold",
                                                       {{"--layers", "48"},
                                                        {"--extra-layers", "4"},
                                                        {"--model-dim", "256"},
                                                        {"--pair-dim", "128"},
                                                        {"--single-dim", "384"},
                                                        {"--heads", "8"},
                                                        {"--rows", "512"}}}};

struct Options : ModelTrainingOptions {
  Options() {
    sizes = {.model = 64, .heads = 8, .layers = 8};
    batches.batch_tokens = 8;  // chains
  }

  std::string preset;
  std::int64_t pair = 64, single = 128, rows = 128, extra_rows = 1024, templates = 0;  // from scratch
  std::int64_t crop = 256;
  double clamped = kClampedShare;
  int extra_layers = 1, structure_layers = 8, recycles = 3;  // from scratch
  bool without_triangles = false, covariation = false;
  bool fine_tuning = false;
  double smooth_lddt = 0;
};

TrainingFolder Begin(Options& options) {
  if (!options.preset.empty()) SetUnlessGiven(options, kPresets.at(options.preset));
  if (!options.from_scratch()) CheckKind<AlphaFold>(options.from);
  CompleteModelTraining(options);
  return TrainingFolder(options.out, options.resume);
}

// In the published model's proportions.
AlphaFoldConfig ConfigOf(const Options& options) {
  const ModelSizes& sizes = options.sizes;
  const auto at_least_1 = [](std::int64_t size) { return std::max<std::int64_t>(1, size); };
  AlphaFoldConfig config;
  config.alignment = sizes.model;
  config.extra = at_least_1(sizes.model / 4);
  config.pair = options.pair;
  config.single = options.single;
  config.blocks = sizes.layers;
  config.extra_blocks = options.extra_layers;
  for (EvoformerConfig* const part : {&config.evoformer, &config.extra_rows}) {
    part->outer_product = std::min<std::int64_t>(32, at_least_1(sizes.model / 2));
    part->heads = sizes.heads;
    part->pair.channels = options.pair;
    part->pair.heads = static_cast<std::int32_t>(at_least_1(options.pair / 32));
    part->pair.head_dim = std::min<std::int64_t>(32, options.pair);
    if (options.dropout) part->dropout = part->pair.dropout = *options.dropout;
  }
  config.evoformer.head_dim = sizes.model / sizes.heads;
  config.extra_rows.head_dim = at_least_1(config.extra / sizes.heads);
  PairStackConfig& of_template = config.template_stack.stack;
  of_template.pair = of_template.channels = at_least_1(options.pair / 2);
  config.template_stack.heads = of_template.heads = config.evoformer.pair.heads;
  config.template_stack.head_dim = of_template.head_dim = std::min<std::int64_t>(16, of_template.pair);
  if (options.dropout) of_template.dropout = *options.dropout;
  config.structure.blocks = options.structure_layers;
  config.structure.angles = config.lddt_hidden = options.pair;
  if (options.dropout) config.structure.dropout = *options.dropout;
  config.triangles = !options.without_triangles;
  config.covariation = options.covariation;
  config.error_bins = 64;
  config.rows = options.rows;
  config.most_extra_rows = options.extra_rows;
  config.templates = options.templates;
  config.recycles = options.recycles;
  return config;
}

std::unique_ptr<AlphaFold> ModelOf(const Options& options) {
  if (!options.from_scratch()) return LoadModel<AlphaFold>(options.from, {.dropout = options.chosen_dropout()});
  auto model = std::make_unique<AlphaFold>(ConfigOf(options));
  model->parameters().Initialise(options.training.seed);
  return model;
}

// The chains of a share, which are chosen by their sequences.
ChainSet Read(const std::vector<std::string>& paths, const TextShare& share, TrainingProgress& progress) {
  ChainSet set = ReadChainSet(paths, ReadStructure);
  std::erase_if(set.examples, [&](const ChainExample& example) { return !share.Has(example.Letters()); });
  CheckNotEmpty(set.examples.size(), "chains", paths, share);
  std::int64_t residues = 0, alignments = 0, templates = 0;
  for (const ChainExample& example : set.examples) {
    residues += std::ssize(example.residues);
    alignments += example.alignment.empty() ? 0 : 1;
    templates += example.templates.empty() ? 0 : 1;
  }
  std::string left_out;
  if (templates > 0) left_out += fmt::format(", {} with templates", templates);
  if (set.repeated > 0) left_out += fmt::format("; {} chains with another's sequence are left out", set.repeated);
  if (set.unresolved > 0) left_out += fmt::format("; {} with fewer than 3 known C alphas are left out", set.unresolved);
  progress.Note(fmt::format("{}: {} chains of {} residues to {}, {} with an alignment{}", fmt::join(paths, ", "),
                            set.examples.size(), residues, share.held_out ? "validate on" : "learn from", alignments,
                            left_out));
  return set;
}

void Run(Options& options) {
  const TrainingFolder folder = Begin(options);
  TrainingProgress progress(Quiet(), "chains");
  const ChainSet train = Read(options.train, options.learned(), progress),
                 valid = Read(options.validation(), options.validated(), progress);
  const std::unique_ptr<AlphaFold> model = ModelOf(options);
  FoldingTrainingOptions folding = {.batches = options.batches, .crop = options.crop, .clamped = options.clamped};
  if (options.fine_tuning) {
    folding.weights.resolved = 0.01;
    folding.weights.violations = 1;
  }
  folding.weights.smooth_lddt = options.smooth_lddt;
  const TrainingTask task = FoldingTask(*model, train, valid, folding);
  Json of = Json::Object{{"batch_size", options.batches.batch_tokens},
                         {"crop", options.crop},
                         {"fine_tuning", options.fine_tuning},
                         {"clip_example_norm", options.training.clip_part_norm}};
  const FoldingPlan plan = model->plan();
  of.Set("rows", plan.rows);
  of.Set("extra_rows", plan.extra);
  of.Set("recycles", plan.recycles);
  if (plan.templates > 0) of.Set("templates", plan.templates);
  if (options.clamped != kClampedShare) of.Set("clamped", options.clamped);
  if (options.smooth_lddt > 0) of.Set("smooth_lddt", options.smooth_lddt);
  RunModelTraining(
      task, options, "folding", "headlight fold", HashOfChainSet(train), std::move(of),
      [&](const std::string& to) { model->Save(to); }, progress);
}

void AddModelOptions(OptionTable& command, Options& options) {
  for (const char* name : {"--ffn-dim", "--attention-dropout"})  // which it does not have
    command.Remove(name);
  Describe(command, "--layers", "Blocks of the Evoformer [8]");
  Describe(command, "--model-dim", "Numbers of a cell of the alignment [64]");
  Describe(command, "--heads", "Heads of the alignment's attention [8]");
  Describe(command, "--dropout", "Dropout [0.15 of alignments, 0.25 of pairs, 0.1 of structures; with --from its own]");
  AddModelNumber(command, "--extra-layers", options.extra_layers, Between(1, 1024), "Blocks over the extra rows");
  AddModelNumber(command, "--pair-dim", options.pair, Between(1, 1 << 15), "Numbers of a pair of residues");
  AddModelNumber(command, "--single-dim", options.single, Between(1, 1 << 15),
                 "Numbers of a residue in the structure module");
  AddModelNumber(command, "--structure-layers", options.structure_layers, Between(1, 1024),
                 "Blocks of the structure module, which share their weights");
  AddModelNumber(command, "--rows", options.rows, Between(1, 1 << 20), "Rows of an alignment that are read at once");
  AddModelNumber(command, "--extra-rows", options.extra_rows, Between(0, 1 << 20), "Its extra rows, likewise");
  AddModelNumber(command, "--templates", options.templates, Between(0, 1024),
                 "Templates that are read at most, as rows among --rows; 0: the model has no part for them");
  AddModelNumber(command, "--recycles", options.recycles, Between(0, 1000),
                 "Passes after the first; in training a number up to this is drawn for each batch");
  command
      .Add("--covariation", options.covariation,
           "Also read how the columns of the alignment vary together: by the inverse of their covariances, and by "
           "mutual information")
      .Excludes(command.Get("--from"))
      .Group(kModelGroup);
  command
      .Add("--no-triangles", options.without_triangles,
           "Leave out the triangle updates (algorithms 11 to 14), to measure their worth")
      .Excludes(command.Get("--from"))
      .Group(kModelGroup);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command = train.AddCommand("folding", "Train a model of protein structures (an AlphaFold 2) on known ones");
  command.Add("--preset", options->preset, "Sizes to start from: a tiny model, or the published one")
      .Check(OneOf({"tiny", "alphafold"}))
      .Type("tiny|alphafold");
  AddModelTrainingOptions(
      command, *options,
      {.train =
           "Structures to train on: PDB or mmCIF files, folders of them, or an index (.tsv): lines of a structure, "
           "a tab, a chain, and perhaps a tab and its alignment, a tab and its templates (structures, with ; between)",
       .valid = "Structures to validate on, likewise",
       .from = "Folder of an AlphaFold to train further",
       .unit = {"--batch-size", "Chains per batch"}});
  TrainingOptions& training = options->training;
  training.adam.beta2 = 0.999;
  training.adam.epsilon = 1e-6;
  training.adam.clip_norm = 0;
  training.adam.average_decay = 0.999;
  training.clip_part_norm = 0.1;
  command.Get("--clip-norm").Default("0");
  command.Get("--average-decay").Default("0.999");
  AddModelOptions(command, *options);
  command
      .Add("--crop", options->crop, Between(1, 1 << 16),
           "Residues of a chain that are trained on at once, in a row; longer chains are cropped at random")
      .ShowDefault()
      .Group("Training");
  command
      .Add("--clip-example-norm", training.clip_part_norm, NumberFrom(0),
           "Clip each chain's gradient to this norm; 0: do not clip")
      .ShowDefault()
      .Group("Training");
  command
      .Add("--clamped", options->clamped, NumberFrom(0, 1),
           "Share of the chains whose backbone's errors count up to 10 angstrom only; with 0 a new model unfolds the "
           "chain sooner")
      .ShowDefault()
      .Group("Training");
  command
      .Add("--fine-tuning", options->fine_tuning,
           "Add the losses of the second part of AlphaFold's training: of impossible bonds, angles and clashes, "
           "and of which atoms an experiment resolves")
      .Group("Training");
  command
      .Add("--smooth-lddt", options->smooth_lddt, NumberFrom(0),
           "Weight of AlphaFold 3's loss of distances below 15 angstrom, which prefers one likely structure to the "
           "mean of several; 0: none")
      .ShowDefault()
      .Group("Training");
  command.footer =
      "\nOf the chains of one file those with the same sequence count once. Where a chain has no alignment, its\n"
      "sequence alone is the alignment. Templates are aligned by their sequences; how many of them are read, and "
      "which, is\n"
      "drawn in training. Sizes that have no option follow from these in AlphaFold's proportions.\n"
      "Validations fold whole chains with all recycles and report lddt_ca, tm_score and contact_precision, from 0 to "
      "1.\n\n"
      "Examples:\n"
      "  headlight train folding --train structures --validate-split 0.05 --preset tiny --epochs 50 --out model\n"
      "  headlight train folding --train train.tsv --valid valid.tsv --crop 128 --minutes 180 --out model\n"
      "  headlight train folding --train train.tsv --valid valid.tsv --from model --fine-tuning --out tuned";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_folding
