// headlight train detection: what is in pictures, and where.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <any>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/augmented_page.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_training.h"
#include "headlight/cli/training_folder.h"
#include "headlight/cli/training_options.h"
#include "headlight/cli/training_run.h"
#include "headlight/data/detection.h"
#include "headlight/data/text_share.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/voc.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/detr.h"
#include "headlight/models/family.h"
#include "headlight/train/tasks/detection.h"

namespace headlight {
namespace {

enum class Backbone { small, resnet18, resnet34, resnet50 };

const std::map<std::string, OptionValues> kPresets = {{"small-scenes",
                                                       {{"--image-size", "128"},
                                                        {"--backbone", "small"},
                                                        {"--layers", "3"},
                                                        {"--model-dim", "128"},
                                                        {"--heads", "4"},
                                                        {"--ffn-dim", "256"},
                                                        {"--queries", "16"},
                                                        {"--dropout", "0"},
                                                        {"--cell-loss", "1"},
                                                        {"--augment", "flip"},
                                                        {"--batch-size", "16"},
                                                        {"--learning-rate", "0.0005"},
                                                        {"--epochs", "10"}}}};

struct Options {
  std::vector<std::string> train, valid, pictures;
  double validate_split = 0;
  std::string out, from, preset, show_augmented;
  std::int64_t side = 0;  // of pictures, the shorter one; 0: 800, or as --from says
  BoxAugmentation augment = BoxAugmentation::scale;
  double cell_weight = 0;
  // Of a model from scratch; unless given, the paper's.
  Backbone backbone = Backbone::resnet50;
  std::int64_t model = 256, ffn = 2048, queries = 100;
  std::int32_t heads = 8;
  int layers = 6;
  std::optional<double> dropout, attention_dropout;
  TrainingOptions training;
  BatchOptions batches{.batch_tokens = 16};  // pictures
  ComputeChoice compute = ComputeChoice::automatic;
  bool profile = false, resume = false;
  CLI::App* command = nullptr;

  bool from_scratch() const { return from.empty(); }
  const std::vector<std::string>& validation() const { return valid.empty() ? train : valid; }
};

ResnetConfig BackboneOf(Backbone backbone) {
  switch (backbone) {
    case Backbone::small:  // for pictures of about 128 pixels: its last map has a cell for each 16 x 16
      return {.embedding = 32, .hidden = {48, 96, 160}, .depths = {1, 1, 2}, .bottleneck = false};
    case Backbone::resnet18:
      return {.hidden = {64, 128, 256, 512}, .depths = {2, 2, 2, 2}, .bottleneck = false};
    case Backbone::resnet34:
      return {.hidden = {64, 128, 256, 512}, .depths = {3, 4, 6, 3}, .bottleneck = false};
    case Backbone::resnet50:
      break;
  }
  return {};
}

TrainingFolder Begin(Options& options) {
  const auto given = [&](const char* name) { return !options.command->get_option(name)->empty(); };
  TrainingOptions& training = options.training;
  if (!options.preset.empty())
    SetUnlessGiven(*options.command, training, options.from_scratch(), kPresets.at(options.preset));
  if (!options.from_scratch()) {
    CheckKind<ObjectDetector>(options.from);
    SetUnlessGiven(*options.command, training, false, {{"--epochs", "10"}});
    // Behind the user's groups, which count first.
    training.adam.groups.push_back({.pattern = "model.backbone.*", .rate_factor = 0.1});
  }
  CompleteTrainingOptions(training);
  CheckValidation(!options.valid.empty(), options.validate_split);
  if (given("--show-augmented")) {
    std::vector<std::string> inputs = options.train;
    inputs.insert(inputs.end(), options.valid.begin(), options.valid.end());
    if (!options.from_scratch()) inputs.push_back(options.from);
    CheckOutputs({{"--show-augmented", options.show_augmented}}, inputs);
    CheckWritable(options.show_augmented);
  }
  Chosen(options.compute);
  options.batches.seed = training.seed;
  training.schedule.model = options.model;
  return TrainingFolder(options.out, options.resume);
}

// The pictures of a share, which are chosen by their names.
DetectionSet Read(const Options& options, const std::vector<std::string>& paths, bool held_out,
                  std::vector<std::string>& labels, NewLabels rule, TrainingProgress& progress) {
  DetectionSet set = ReadDetectionSet(paths, options.pictures, labels, rule, ReadVoc);
  const TextShare share = {options.validate_split, options.training.seed, held_out};
  std::erase_if(set.examples, [&](const DetectionExample& example) {
    return !share.Has(std::filesystem::path(example.picture).filename().string());
  });
  const char* const purpose = held_out ? "validate on" : "learn from";
  Check(!set.examples.empty(), "{}: there is no picture to {}", fmt::join(paths, ", "), purpose);
  std::size_t boxes = 0;
  for (const DetectionExample& example : set.examples) boxes += example.boxes.size();
  progress.Note(
      fmt::format("{}: {} pictures with {} boxes to {}{}", fmt::join(paths, ", "), set.examples.size(), boxes, purpose,
                  set.dropped > 0 ? fmt::format("; {} boxes without an area are left out", set.dropped) : ""));
  return set;
}

std::unique_ptr<Detr> NewDetr(const Options& options, const std::vector<std::string>& labels) {
  DetrConfig config;
  config.backbone = BackboneOf(options.backbone);
  config.backbone_statistics = BatchStatistics::trained;
  config.model = options.model;
  config.encoder_layers = config.decoder_layers = options.layers;
  config.encoder_heads = config.decoder_heads = options.heads;
  config.encoder_ffn = config.decoder_ffn = options.ffn;
  config.dropout = options.dropout.value_or(config.dropout);
  config.attention_dropout = options.attention_dropout.value_or(0);
  config.queries = options.queries;
  config.labels = labels;
  auto model = std::make_unique<Detr>(config);
  model->parameters().Initialise(options.training.seed);
  return model;
}

// The model of --from, with a new head where the classes are not its own; the labels then are in its order.
std::unique_ptr<Detr> ModelFor(const Options& options, std::vector<std::string>& labels, TrainingProgress& progress) {
  std::unique_ptr<Detr> model =
      LoadModel<Detr>(options.from, {.dropout = {options.dropout, options.attention_dropout}});
  if (std::ranges::is_permutation(labels, model->labels())) {
    labels = model->labels();
    return model;
  }
  progress.Note(
      fmt::format("{}: its {} classes are others: their head begins anew", options.from, model->labels().size()));
  return GiveClasses(*model, labels, options.training.seed);
}

// preprocessor_config.json: a new one, or that of --from, with the size that is asked for.
Json ProcessorConfigOf(const Options& options) {
  Json config;
  if (options.from_scratch()) {
    config = Json::Object{{"image_processor_type", "DetrImageProcessor"}, {"format", "coco_detection"}};
  } else {
    const std::string path = options.from + "/preprocessor_config.json";
    config = std::filesystem::exists(path)
                 ? ReadJson(path).value()
                 : ReadJson(options.from + "/processor_config.json")["image_processor"].value();
  }
  if (options.from_scratch() || options.side > 0) {
    const std::int64_t side = options.side > 0 ? options.side : 800;
    config.Set("size", Json::Object{{"shortest_edge", side}, {"longest_edge", side * 1333 / 800}});
  }
  return config;
}

// For what a resumed run must have in common.
Json DescriptionOf(const Options& options, const DetectionSet& train, const Json& processor, const Detr& model) {
  Json of = Json::Object{{"task", "detection"},
                         {"corpus_hash", fmt::format("{:016x}", HashOfDetectionSet(train))},
                         {"parameters", model.parameters().count()},
                         {"batch_size", options.batches.batch_tokens},
                         {"augment", static_cast<int>(options.augment)},
                         {"cell_loss", options.cell_weight},
                         {"image_size", processor.Find("size") != nullptr ? *processor.Find("size") : Json()},
                         {"dropout", options.dropout ? Json(*options.dropout) : Json()},
                         {"attention_dropout", options.attention_dropout ? Json(*options.attention_dropout) : Json()}};
  if (options.from_scratch()) {
    of.Set("backbone", static_cast<int>(options.backbone));
    of.Set("layers", options.layers);
    of.Set("model_dim", options.model);
    of.Set("heads", options.heads);
    of.Set("ffn_dim", options.ffn);
    of.Set("queries", options.queries);
  }
  return of;
}

void Run(Options& options) {
  const TrainingFolder folder = Begin(options);
  TrainingProgress progress(Quiet(), "pictures");
  std::vector<std::string> labels;
  DetectionSet train = Read(options, options.train, false, labels, NewLabels::added, progress);
  const std::vector<std::string> found = labels;
  const std::unique_ptr<Detr> model =
      options.from_scratch() ? NewDetr(options, labels) : ModelFor(options, labels, progress);
  if (labels != found)  // as the model numbers them
    train = Read(options, options.train, false, labels, NewLabels::refused, progress);
  const DetectionSet valid = Read(options, options.validation(), true, labels, NewLabels::refused, progress);
  const Json config = ProcessorConfigOf(options);
  const PictureProcessor processor = ReadPictureProcessor(JsonView(config, "preprocessor_config.json"));
  const TrainingTask task =
      DetectionTask(*model, processor, train, valid, [](const std::string& path) { return ReadPicture(path); },
                    {.batches = options.batches, .augment = options.augment, .cell_weight = options.cell_weight});
  if (!options.show_augmented.empty()) {
    const TrainingBatch batch = task.batches({})();
    WriteFile(options.show_augmented,
              AugmentedPage(std::any_cast<const DetectionPart&>(batch.parts.front()), processor, labels));
    progress.Note(fmt::format("{}: a page of pictures as the model sees them", options.show_augmented));
  }
  RunTraining(task, options.training,
              {.out = options.out,
               .use = "headlight detect",
               .of = DescriptionOf(options, train, config, *model),
               .save =
                   [&](const std::string& to) {
                     model->Save(to);
                     if (!options.from_scratch()) CopyBesideModel(options.from, to);
                     WriteFile(to + "/preprocessor_config.json", config.Text());
                   },
               .compute = Chosen(options.compute),
               .resume = options.resume,
               .profile = options.profile,
               .fine_tuning = !options.from_scratch()},
              progress);
}

void AddModelOptions(CLI::App& command, Options& options, CLI::Option* from) {
  AddChoice<Backbone>(command, "--backbone", options.backbone,
                      {{"small", Backbone::small},
                       {"resnet18", Backbone::resnet18},
                       {"resnet34", Backbone::resnet34},
                       {"resnet50", Backbone::resnet50}},
                      "The convolutional network before the encoder; small is for pictures of about 128 pixels")
      ->excludes(from)
      ->group(kPictureModelGroup);
  const auto add = [&](const char* name, auto& value, std::int64_t most, const char* description) {
    command.add_option(name, value, description)
        ->check(Between(1, most))
        ->type_name("N")
        ->capture_default_str()
        ->excludes(from)
        ->group(kPictureModelGroup);
  };
  add("--layers", options.layers, 1024, "Layers of the encoder, and of the decoder");
  add("--model-dim", options.model, 1 << 15, "Size of embeddings and layers");
  add("--heads", options.heads, 1 << 15, "Attention heads");
  add("--ffn-dim", options.ffn, 1 << 15, "Inner size of the feed-forward network");
  add("--queries", options.queries, 1 << 14, "Queries: the most that is found in a picture");
}

void AddDataOptions(CLI::App& command, Options& options) {
  command
      .add_option("--train", options.train,
                  "Pictures and boxes to train on: a COCO file (.json), a folder of Pascal VOC's XML files, or a list "
                  "of their names (ImageSets/Main/train.txt)")
      ->required()
      ->type_name("FILE");
  command.add_option("--valid", options.valid, "Pictures to validate on, likewise")->type_name("FILE");
  AddValidateSplit(command, options.validate_split);
  command
      .add_option("--pictures", options.pictures,
                  "Folders of the pictures, unless they lie beside the files, or in ../JPEGImages")
      ->check(Folder())
      ->type_name("DIR");
  command.add_option("--out", options.out, "Folder for the model and the training's state")
      ->required()
      ->type_name("DIR");
}

}  // namespace

void AddTrainDetection(CLI::App& train) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = *train.add_subcommand("detection", "Train a detector of things in pictures (a DETR)");
  options->command = &command;
  options->training.schedule = {.kind = ScheduleKind::cosine, .warmup = kWarmupUnlessGiven, .peak = 1e-4};
  options->training.adam.beta2 = 0.999;
  options->training.adam.epsilon = 1e-8;
  options->training.adam.weight_decay = 1e-4;
  options->training.adam.clip_norm = 0.1;
  command
      .add_option("--preset", options->preset,
                  "Settings to start from: a small model for pictures of about 128 pixels with few things in each")
      ->check(OneOf({"small-scenes"}))
      ->type_name("small-scenes");
  AddDataOptions(command, *options);
  CLI::Option* from = command.add_option("--from", options->from, "Folder of a DETR to go on from");
  from->check(Folder())->type_name("DIR");
  AddModelOptions(command, *options, from);
  command
      .add_option("--image-size", options->side,
                  "Pixels of a picture's shorter side, to which it is resized [800; with --from the model's own]")
      ->check(Between(16, 1 << 13))
      ->type_name("N");
  const auto add_share = [&](const char* name, auto& value, const char* description) {
    command.add_option(name, value, description)->check(NumberBelow(0, 1))->type_name("X")->group("Training");
  };
  add_share("--dropout", options->dropout, "Dropout of sublayers [0.1; with --from the model's own]");
  add_share("--attention-dropout", options->attention_dropout,
            "Dropout of attention weights [0; with --from the model's own]");
  command
      .add_option(
          "--cell-loss", options->cell_weight,
          "Weight of a loss of the encoder's cells, which learn from every step what they show: a detector from "
          "scratch learns sooner; the paper's has none (0)")
      ->check(NumberFrom(0, 1000))
      ->type_name("X")
      ->capture_default_str()
      ->group("Training");
  AddTrainingOptions(command, options->training, options->batches, options->compute, options->profile, options->resume,
                     {"--batch-size", "Pictures per batch"});
  const auto describe = [&](const char* name, const char* description) {
    command.get_option(name)->default_str("")->description(description);
  };
  describe("--epochs", "Stop after N epochs [20, unless another end is given; with --from 10]");
  describe("--warmup", "Steps of linear warm-up to the peak [200, or a tenth of at most 400; with --from a tenth]");
  AddChoice<BoxAugmentation>(
      command, "--augment", options->augment,
      {{"none", BoxAugmentation::none}, {"flip", BoxAugmentation::flip}, {"scale", BoxAugmentation::scale}},
      "Changes of the pictures that are learned from, new ones in each epoch: flip every second one, and scale and "
      "crop it, too")
      ->group("Augmentation");
  command
      .add_option("--show-augmented", options->show_augmented,
                  "Write a page (HTML) of pictures and boxes as the model sees them, before the training starts")
      ->check(NotEmpty())
      ->type_name("FILE")
      ->group("Augmentation");
  command.footer(
      "\nJPEG, PNG and WebP are read, and validated on without changes. Validations report COCO's AP, and the AP at\n"
      "overlaps of 0.5 and 0.75. --from a model for other classes initialises a new head for them; the backbone then\n"
      "learns at a tenth of the rate, unless --rate says otherwise, and its norms keep their statistics.\n\n"
      "Examples:\n"
      "  headlight train detection --train instances_train.json --valid instances_val.json --pictures photos \\\n"
      "    --from detr-resnet-50 --out model\n"
      "  headlight train detection --train VOC/ImageSets/Main/train.txt --valid VOC/ImageSets/Main/val.txt --from "
      "detr-resnet-50 --out model\n"
      "  headlight train detection --preset small-scenes --train scenes/train.json --valid scenes/valid.json --out "
      "model");
  command.callback([options] { Run(*options); });
}

}  // namespace headlight
