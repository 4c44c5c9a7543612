// headlight train image-generation.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/colour_pictures.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/training_folder.h"
#include "headlight/cli/training_options.h"
#include "headlight/cli/training_run.h"
#include "headlight/image/colours.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/train/tasks/image_generation.h"

namespace headlight {
namespace {

struct Options {
  std::vector<std::string> train, valid;
  double validate_split = 0;
  std::string out, from;
  // Of a model from scratch; ffn 0: 4 times the model's.
  std::int64_t side = 32, colours = 64, model = 128, ffn = 0;
  std::int32_t heads = 4;
  int layers = 6;
  std::optional<double> dropout, attention_dropout;
  bool flip = false;
  TrainingOptions training;
  BatchOptions batches{.batch_tokens = 32};  // pictures
  ComputeChoice compute = ComputeChoice::automatic;
  bool profile = false, resume = false;
  CLI::App* command = nullptr;

  bool from_scratch() const { return from.empty(); }
  std::int64_t inner() const { return ffn > 0 ? ffn : 4 * model; }
};

TrainingFolder Begin(Options& options) {
  TrainingOptions& training = options.training;
  const bool has_end = training.epochs > 0 || training.steps > 0 || training.minutes > 0;
  if (!options.from_scratch()) {
    CheckKind<ImageGpt>(options.from);
    if (options.command->get_option("--learning-rate")->empty()) training.schedule.peak = 1e-4;
    if (!has_end) training.epochs = 3;
  }
  CompleteTrainingOptions(training);
  CheckValidation(!options.valid.empty(), options.validate_split);
  Chosen(options.compute);
  options.batches.seed = training.seed;
  training.schedule.model = options.model;
  return TrainingFolder(options.out, options.resume);
}

std::unique_ptr<ImageGpt> ModelOf(const Options& options) {
  if (!options.from_scratch())
    return LoadModel<ImageGpt>(options.from, {.dropout = {options.dropout, options.attention_dropout}});
  ImageGptConfig config;
  config.model = options.model;
  config.layers = options.layers;
  config.heads = options.heads;
  config.ffn = options.inner();
  config.dropout = config.embedding_dropout = options.dropout.value_or(0);
  config.attention_dropout = options.attention_dropout.value_or(config.dropout);
  config.vocabulary = options.colours + 1;
  config.positions = options.side * options.side;
  auto model = std::make_unique<ImageGpt>(config);
  model->parameters().Initialise(options.training.seed);
  return model;
}

PictureProcessor ProcessorOf(const Json& config) {
  return ReadPictureProcessor(JsonView(config, "preprocessor_config.json"));
}

// What a resumed run must have in common with the one that began.
Json DescriptionOf(const Options& options, const ColourPictures& train, const ImageGpt& model) {
  const std::string_view bytes(reinterpret_cast<const char*>(train.colours.data()),
                               train.colours.size() * sizeof(train.colours.front()));
  Json of = Json::Object{{"task", "image-generation"},
                         {"corpus_hash", fmt::format("{:016x}", HashOf(bytes))},
                         {"parameters", model.parameters().count()},
                         {"batch_size", options.batches.batch_tokens},
                         {"flip", options.flip},
                         {"dropout", options.dropout ? Json(*options.dropout) : Json()},
                         {"attention_dropout", options.attention_dropout ? Json(*options.attention_dropout) : Json()}};
  if (options.from_scratch()) {
    of.Set("image_size", options.side);
    of.Set("clusters", options.colours);
    of.Set("layers", options.layers);
    of.Set("model_dim", options.model);
    of.Set("heads", options.heads);
    of.Set("ffn_dim", options.inner());
  }
  return of;
}

void Run(Options& options) {
  const TrainingFolder folder = Begin(options);
  TrainingProgress progress(Quiet(), "pixels");
  const std::unique_ptr<ImageGpt> model = ModelOf(options);
  const PictureSize size = {options.side, options.side};
  PictureProcessor processor =
      options.from_scratch() ? ProcessorOf(ColourProcessorConfig(size, {})) : LoadColourProcessor(options.from);

  const std::uint64_t seed = options.training.seed;
  const std::vector<std::string>& validation = options.valid.empty() ? options.train : options.valid;
  std::vector<Picture> train = ReadFittedPictures(options.train, processor, {options.validate_split, seed, false}),
                       valid = ReadFittedPictures(validation, processor, {options.validate_split, seed, true});
  Json config;
  if (options.from_scratch()) {
    ColourCounts counts;
    for (const Picture& picture : train) counts.Add(picture);
    config = ColourProcessorConfig(size, counts.Cluster(options.colours));
    processor = ProcessorOf(config);
  }
  const ColourSets pictures = {InColours(train, processor), InColours(valid, processor)};
  train = valid = {};
  const auto note = [&](const std::vector<std::string>& paths, const ColourPictures& read, const char* purpose) {
    progress.Note(fmt::format("{}: {} pictures to {}, {} x {} pixels in {} colours", fmt::join(paths, ", "),
                              read.count(), purpose, read.size.width, read.size.height, processor.clusters.size()));
  };
  note(options.train, pictures.train, "learn from");
  note(validation, pictures.valid, "validate on");
  progress.Note(fmt::format("how often each colour occurs gives {:.4f} bits per pixel", ColourEntropy(pictures.valid)));

  const TrainingTask task = ImageGenerationTask(*model, pictures, {.batches = options.batches, .flip = options.flip});
  RunTraining(task, options.training,
              {.out = options.out,
               .use = "headlight generate --out new.png",
               .of = DescriptionOf(options, pictures.train, *model),
               .save =
                   [&](const std::string& to) {
                     model->Save(to);
                     if (options.from_scratch())
                       WriteFile(to + "/preprocessor_config.json", config.Text());
                     else
                       CopyBesideModel(options.from, to);
                   },
               .compute = Chosen(options.compute),
               .resume = options.resume,
               .profile = options.profile,
               .fine_tuning = !options.from_scratch()},
              progress);
}

void AddModelOptions(CLI::App& command, Options& options, CLI::Option* from) {
  const auto add = [&](const char* name, auto& value, const CLI::Validator& check, const char* description) {
    return AddNumber(command, name, value, check, description)->excludes(from)->group("A model from scratch");
  };
  add("--image-size", options.side, Between(1, 1024), "Pixels of a side, to which pictures are resized")
      ->capture_default_str();
  add("--clusters", options.colours, Between(1, kMostColours), "Colours, learned from the pictures by k-means")
      ->capture_default_str();
  add("--layers", options.layers, AtLeast(1), "Layers")->capture_default_str();
  add("--model-dim", options.model, AtLeast(1), "Size of embeddings and layers")->capture_default_str();
  add("--heads", options.heads, AtLeast(1), "Attention heads")->capture_default_str();
  add("--ffn-dim", options.ffn, AtLeast(1), "Inner size of the feed-forward network [4 times the model's]");
}

}  // namespace

void AddTrainImageGeneration(CLI::App& train) {
  const auto options = std::make_shared<Options>();
  CLI::App& command =
      *train.add_subcommand("image-generation", "Train a generator of pictures, pixel by pixel (an ImageGPT)");
  options->command = &command;
  options->training.schedule = {.kind = ScheduleKind::cosine, .warmup = kWarmupUnlessGiven, .peak = 1e-3};
  options->training.adam.clip_norm = 1;
  command
      .add_option("--train", options->train,
                  "Pictures to train on: files, folders of them at any depth, IDX files, or .csv, .jsonl and .tsv "
                  "files of paths")
      ->required()
      ->type_name("FILE");
  command.add_option("--valid", options->valid, "Pictures to validate on, likewise")->type_name("FILE");
  AddValidateSplit(command, options->validate_split);
  command.add_option("--out", options->out, "Folder for the model and the training's state")
      ->required()
      ->type_name("DIR");
  CLI::Option* from = command.add_option("--from", options->from, "Folder of an ImageGPT to train further");
  from->check(Folder())->type_name("DIR");
  AddModelOptions(command, *options, from);
  const auto add_share = [&](const char* name, auto& value, const char* description) {
    AddNumber(command, name, value, NumberBelow(0, 1), description)->group("Training");
  };
  add_share("--dropout", options->dropout,
            "Dropout of embeddings, sublayers and attention [0; with --from the model's own]");
  add_share("--attention-dropout", options->attention_dropout, "Dropout of attention weights [as --dropout]");
  command.add_flag("--flip", options->flip, "Mirror half of the pictures, left to right, anew in each epoch")
      ->group("Training");
  AddTrainingOptions(command, options->training, options->batches, options->compute, options->profile, options->resume,
                     {"--batch-size", "Pictures per batch"});
  const auto describe = [&](const char* name, const char* description) {
    command.get_option(name)->default_str("")->description(description);
  };
  describe("--epochs", "Stop after N epochs [20, unless another end is given; with --from 3]");
  describe("--warmup", "Steps of linear warm-up to the peak [200, or a tenth of at most 400; with --from a tenth]");
  describe("--learning-rate", "Peak learning rate [0.001; with --from 0.0001]");
  command.footer(
      "\nJPEG, PNG and WebP are read, and kept in memory as they are resized. Of grey pictures the colours are greys.\n"
      "Validations report bits per pixel: the mean negative binary logarithm of the probability of a pixel's colour,\n"
      "of the picture as it is resized and reduced to the colours, so that only models with the same size and "
      "colours\n"
      "compare.\n\n"
      "Examples:\n"
      "  headlight train image-generation --train train-images-idx3-ubyte.gz --validate-split 0.05 --image-size 28 "
      "--clusters 16 --out model\n"
      "  headlight train image-generation --train photos --valid more --from imagegpt-small --flip --out further");
  command.callback([options] { Run(*options); });
}

}  // namespace headlight
