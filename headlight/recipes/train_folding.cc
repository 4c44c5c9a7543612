#include "headlight/recipes/train_folding.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/protein_chains.h"
#include "headlight/models/alphafold.h"
#include "headlight/models/family.h"
#include "headlight/protein/files/structure_files.h"
#include "headlight/recipes/training_folder.h"

namespace headlight {
namespace {

constexpr TrainingDefaults kFoldingDefaults = {.sizes = {.model = 64, .heads = 8, .layers = 8},
                                               .batch = 8,
                                               .clip_norm = 0,
                                               .average_decay = 0.999,
                                               .beta2 = 0.999,
                                               .epsilon = 1e-6};

const std::map<std::string, OptionValues> kFoldingPresets = {{"tiny",
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

std::int64_t Pair(const FoldingTraining& options) { return options.pair_dim.value_or(64); }

// Returns a configuration with the proportions of the published model.
AlphaFoldConfig ConfigOf(const FoldingTraining& options, const TrainingPlan& plan) {
  const ModelSizes& sizes = plan.sizes;
  const auto at_least_1 = [](std::int64_t size) { return std::max<std::int64_t>(1, size); };
  AlphaFoldConfig config;
  config.alignment = sizes.model;
  config.extra = at_least_1(sizes.model / 4);
  config.pair = Pair(options);
  config.single = options.single_dim.value_or(128);
  config.blocks = sizes.layers;
  config.extra_blocks = options.extra_layers.value_or(1);
  for (EvoformerConfig* const part : {&config.evoformer, &config.extra_rows}) {
    part->outer_product = std::min<std::int64_t>(32, at_least_1(sizes.model / 2));
    part->heads = sizes.heads;
    part->pair.channels = Pair(options);
    part->pair.heads = static_cast<std::int32_t>(at_least_1(Pair(options) / 32));
    part->pair.head_dim = std::min<std::int64_t>(32, Pair(options));
    if (options.dropout) part->dropout = part->pair.dropout = *options.dropout;
  }
  config.evoformer.head_dim = sizes.model / sizes.heads;
  config.extra_rows.head_dim = at_least_1(config.extra / sizes.heads);
  PairStackConfig& of_template = config.template_stack.stack;
  of_template.pair = of_template.channels = at_least_1(Pair(options) / 2);
  config.template_stack.heads = of_template.heads = config.evoformer.pair.heads;
  config.template_stack.head_dim = of_template.head_dim = std::min<std::int64_t>(16, of_template.pair);
  if (options.dropout) of_template.dropout = *options.dropout;
  config.structure.blocks = options.structure_layers.value_or(8);
  config.structure.angles = config.lddt_hidden = Pair(options);
  if (options.dropout) config.structure.dropout = *options.dropout;
  config.triangles = !options.without_triangles;
  config.covariation = options.covariation;
  config.error_bins = 64;
  config.rows = options.rows.value_or(128);
  config.most_extra_rows = options.extra_rows;
  config.templates = options.max_templates;
  config.recycles = options.recycles;
  return config;
}

std::unique_ptr<AlphaFold> ModelOf(const FoldingTraining& options, const TrainingPlan& plan) {
  if (!options.from_scratch()) return LoadModel<AlphaFold>(options.from, {.dropout = options.chosen_dropout()});
  auto model = std::make_unique<AlphaFold>(ConfigOf(options, plan));
  model->parameters().Initialize(options.seed);
  return model;
}

// Reads the chains of the training or validation set. The sequence of a chain determines its set.
ChainSet Read(const std::vector<std::string>& paths, const TextShare& share, const TrainingObserver& observer) {
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
  Note(observer,
       fmt::format("{}: {} chains of {} residues to {}, {} with an alignment{}", fmt::join(paths, ", "),
                   set.examples.size(), residues, share.held_out ? "validate on" : "train on", alignments, left_out));
  return set;
}

}  // namespace

void Describe(OptionTable& table, FoldingTraining& options) {
  table
      .Add("--preset", options.preset, OneOf({"tiny", "alphafold"}),
           "Sizes to start from: a tiny model, or the published one")
      .Type("tiny|alphafold");
  Describe(table, options, kFoldingDefaults,
           {.train = "Structures to train on: PDB or mmCIF files, folders of them, or an index (.tsv): lines of a "
                     "structure, a tab, a chain, and perhaps a tab and its alignment, a tab and its templates "
                     "(structures, with ; between)",
            .valid = "Structures to validate on, in the same formats",
            .from = "Folder of an AlphaFold to train further",
            .batch = "--batch-size",
            .batch_description = "Chains per batch"});
  for (const char* name : {"--ffn-dim", "--attention-dropout"})  // options that an AlphaFold does not have
    table.Remove(name);
  table.Get("--layers").Describe("Blocks of the Evoformer");
  table.Get("--model-dim").Describe("Size of the MSA representation");
  table.Get("--heads").Describe("Heads of MSA attention");
  table.Get("--dropout")
      .Describe("Dropout")
      .Default("0.15 of alignments, 0.25 of pairs, 0.1 of structures; with `from` its own");
  AddModelNumber(table, "--extra-layers", options.extra_layers, Between(1, 1024), "Blocks over the extra rows")
      .Default("1");
  AddModelNumber(table, "--pair-dim", options.pair_dim, Between(1, 1 << 15), "Size of the pair representation")
      .Default("64");
  AddModelNumber(table, "--single-dim", options.single_dim, Between(1, 1 << 15),
                 "Size of the single representation in the structure module")
      .Default("128");
  AddModelNumber(table, "--structure-layers", options.structure_layers, Between(1, 1024),
                 "Blocks of the structure module, which share their weights")
      .Default("8");
  AddModelNumber(table, "--rows", options.rows, Between(1, 1 << 20), "Rows of an alignment that are read at once")
      .Default("128");
  AddModelNumber(table, "--extra-rows", options.extra_rows, Between(0, 1 << 20),
                 "Extra rows of an alignment that are read at once");
  AddModelNumber(table, "--max-templates", options.max_templates, Between(0, 1024),
                 "Templates that are read at most, as rows among `rows`; 0: the model has no part for them");
  AddModelNumber(table, "--recycles", options.recycles, Between(0, 1000),
                 "Passes after the first; in training a number up to this is drawn for each batch");
  table
      .Add("--covariation", options.covariation,
           "Also read how the columns of the alignment co-vary: by the inverse of their covariances, and by "
           "mutual information")
      .Excludes(table.Get("--from"))
      .Group(kModelGroup);
  table
      .Add("--no-triangles", options.without_triangles,
           "Leave out the triangle updates (algorithms 11 to 14), to measure their effect")
      .Excludes(table.Get("--from"))
      .Group(kModelGroup);
  table
      .Add("--crop", options.crop, Between(1, 1 << 16),
           "Residues of a chain that are trained on at once, in a row; longer chains are cropped at random")
      .ShowDefault()
      .Group("Training");
  table
      .Add("--clip-example-norm", options.clip_example_norm, NumberFrom(0),
           "Clip each chain's gradient to this norm; 0: do not clip")
      .ShowDefault()
      .Group("Training");
  table
      .Add("--clamped", options.clamped, NumberFrom(0, 1),
           "Share of the chains whose backbone's errors count up to 10 angstrom only; with 0 a new model unfolds the "
           "chain sooner")
      .ShowDefault()
      .Group("Training");
  table
      .Add("--fine-tuning", options.fine_tuning,
           "Add the losses of the second part of AlphaFold's training: of impossible bonds, angles and clashes, "
           "and of which atoms an experiment resolves")
      .Group("Training");
  table
      .Add("--smooth-lddt", options.smooth_lddt, NumberFrom(0),
           "Weight of AlphaFold 3's loss of distances below 15 angstrom, which prefers one likely structure to the "
           "mean of several; 0: none")
      .ShowDefault()
      .Group("Training");
}

TrainingResult TrainFolding(FoldingTraining options, const TrainingObserver& observer) {
  if (!options.preset.empty()) ApplyPreset(options, PresetOf(kFoldingPresets, options.preset));
  if (!options.from_scratch()) CheckKind<AlphaFold>(options.from);
  TrainingPlan plan = CompleteTraining(options, kFoldingDefaults);
  plan.training.clip_part_norm = options.clip_example_norm;
  const TrainingFolder folder(options.out, options.resume, options.ranks);
  const ChainSet train = Read(options.train, options.learned(), observer),
                 valid = Read(options.validation(), options.validated(), observer);
  const std::unique_ptr<AlphaFold> model = ModelOf(options, plan);
  FoldingTrainingOptions folding = {.batches = plan.batches, .crop = options.crop, .clamped = options.clamped};
  if (options.fine_tuning) {
    folding.weights.resolved = 0.01;
    folding.weights.violations = 1;
  }
  folding.weights.smooth_lddt = options.smooth_lddt;
  const TrainingTask task = FoldingTask(*model, train, valid, folding);
  Json of = Json::Object{{"batch_size", plan.batches.batch_size},
                         {"crop", options.crop},
                         {"fine_tuning", options.fine_tuning},
                         {"clip_example_norm", options.clip_example_norm}};
  const FoldingPlan& folds = model->plan();
  of.Set("rows", folds.rows);
  of.Set("extra_rows", folds.extra);
  of.Set("recycles", folds.recycles);
  if (folds.templates > 0) of.Set("templates", folds.templates);
  if (options.clamped != kClampedShare) of.Set("clamped", options.clamped);
  if (options.smooth_lddt > 0) of.Set("smooth_lddt", options.smooth_lddt);
  return RunModelTraining(
      task, options, plan, "folding", "chains", HashOfChainSet(train), std::move(of),
      [&](const std::string& to) { model->Save(to); }, observer);
}

}  // namespace headlight
