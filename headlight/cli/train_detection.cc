// headlight train detection: what is in pictures, and where.
#include <fmt/ranges.h>

#include <algorithm>
#include <any>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/augmented_page.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/model_training.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/training_folder.h"
#include "headlight/data/detection.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/voc.h"
#include "headlight/models/detr.h"
#include "headlight/models/family.h"
#include "headlight/train/tasks/detection.h"

namespace headlight::train_detection {
namespace {

enum class Backbone { small, resnet18, resnet34, resnet50 };

const std::map<std::string, OptionValues> kPresets = {{"small-scenes",
                                                       {{"--image-size", "128"},
                                                        {"--backbone", "small"},
                                                        {"--layers", "3"},
                                                        {"--model-dim", "128"},
                                                        {"--heads", "4"},
                                                        {"--ffn-dim", "256"},
                                                        {"--queries", "10"},
                                                        {"--dropout", "0"},
                                                        {"--cell-loss", "1"},
                                                        {"--augment", "flip"},
                                                        {"--batch-size", "16"},
                                                        {"--learning-rate", "0.0007"},
                                                        {"--epochs", "36"}}}};

struct Options : ModelTrainingOptions {
  // The paper's, unless given.
  Options() {
    sizes = {.model = 256, .ffn = 2048, .heads = 8, .layers = 6};
    usual_dropout = 0.1;
    tuning_epochs = 10;
    batches.batch_tokens = 16;  // pictures
  }

  std::vector<std::string> pictures;
  std::string preset, show_augmented;
  std::int64_t side = 0;  // of pictures, the shorter one; 0: 800, or as --from says
  BoxAugmentation augment = BoxAugmentation::scale;
  double cell_weight = 0;
  Backbone backbone = Backbone::resnet50;
  std::int64_t queries = 0;  // 0: 100, or as --from has them
};

ResnetConfig BackboneOf(Backbone backbone) {
  switch (backbone) {
    case Backbone::small:  // for pictures of about 128 pixels: its last map has a cell for each 16 x 16
      return {.embedding = 16, .hidden = {32, 64, 128}, .depths = {1, 1, 2}, .bottleneck = false};
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
  if (!options.preset.empty()) SetUnlessGiven(options, kPresets.at(options.preset));
  if (!options.from_scratch()) {
    CheckKind<ObjectDetector>(options.from);
    // Behind the user's groups, which count first.
    options.training.adam.groups.push_back({.pattern = "model.backbone.*", .rate_factor = 0.1});
  }
  CompleteModelTraining(options);
  CheckAugmentedPage(options.show_augmented, options.inputs());
  return TrainingFolder(options.out, options.resume);
}

// The pictures of a share, which are chosen by their names.
DetectionSet Read(const Options& options, const std::vector<std::string>& paths, const TextShare& share,
                  std::vector<std::string>& labels, NewLabels rule, TrainingProgress& progress) {
  DetectionSet set = ReadDetectionSet(paths, options.pictures, labels, rule, ReadVoc);
  if (!options.show_augmented.empty()) {
    std::vector<std::string> files;
    for (const DetectionExample& example : set.examples) files.push_back(example.picture);
    CheckOutputs({{"--show-augmented", options.show_augmented}}, std::move(files));
  }
  std::erase_if(set.examples, [&](const DetectionExample& example) {
    return !share.Has(std::filesystem::path(example.picture).filename().string());
  });
  const char* const purpose = share.held_out ? "validate on" : "learn from";
  Check(!set.examples.empty(), "{}: there is no picture to {}", fmt::join(paths, ", "), purpose);
  std::size_t boxes = 0;
  for (const DetectionExample& example : set.examples) boxes += example.boxes.size();
  progress.Note(fmt::format(
      "{}: {} pictures with {} boxes to {}{}", fmt::join(paths, ", "), set.examples.size(), boxes, purpose,
      set.without_area > 0 ? fmt::format("; {} boxes without an area are left out", set.without_area) : ""));
  return set;
}

std::unique_ptr<Detr> NewDetr(const Options& options, const std::vector<std::string>& labels) {
  DetrConfig config;
  config.backbone = BackboneOf(options.backbone);
  config.backbone_statistics = BatchStatistics::trained;
  const ModelSizes& sizes = options.sizes;
  config.model = sizes.model;
  config.encoder_layers = config.decoder_layers = sizes.layers;
  config.encoder_heads = config.decoder_heads = sizes.heads;
  config.encoder_ffn = config.decoder_ffn = sizes.inner();
  config.dropout = options.new_dropout();
  config.attention_dropout = options.new_attention_dropout();
  if (options.queries > 0) config.queries = options.queries;
  config.labels = labels;
  auto model = std::make_unique<Detr>(config);
  model->parameters().Initialise(options.training.seed);
  return model;
}

// The model of --from, with a new head where the classes are not its own; the labels then are in its order.
std::unique_ptr<Detr> ModelFor(const Options& options, std::vector<std::string>& labels, TrainingProgress& progress) {
  std::unique_ptr<Detr> model = LoadModel<Detr>(options.from, {.dropout = options.chosen_dropout()});
  if (std::ranges::is_permutation(labels, model->labels()))
    labels = model->labels();
  else
    progress.Note(fmt::format("{}: it has {} other classes; a new classification head is initialised", options.from,
                              model->labels().size()));
  if (model->config().masks)
    progress.Note(fmt::format("{}: only its detector is trained, not its head for masks", options.from));
  const std::int64_t own = model->limits().queries, queries = options.queries > 0 ? options.queries : own;
  if (queries != own)
    progress.Note(fmt::format("{}: it has {} queries; {} new ones are initialised", options.from, own, queries));
  return Refit(*model, labels, queries, options.training.seed);
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

void Run(Options& options) {
  const TrainingFolder folder = Begin(options);
  TrainingProgress progress(Quiet(), "pictures");
  std::vector<std::string> labels;
  DetectionSet train = Read(options, options.train, options.learned(), labels, NewLabels::added, progress);
  const std::vector<std::string> found = labels;
  const std::unique_ptr<Detr> model =
      options.from_scratch() ? NewDetr(options, labels) : ModelFor(options, labels, progress);
  if (labels != found)  // as the model numbers them
    train = Read(options, options.train, options.learned(), labels, NewLabels::refused, progress);
  const DetectionSet valid =
      Read(options, options.validation(), options.validated(), labels, NewLabels::refused, progress);
  const Json config = ProcessorConfigOf(options);
  const PictureProcessor processor = ReadPictureProcessor(JsonView(config, "preprocessor_config.json"));
  const TrainingTask task = DetectionTask(
      *model, processor, train, valid, [](const std::string& path) { return ReadPicture(path, MostPixels()); },
      [](const std::string& path) { return ReadPictureSize(path, MostPixels()); },
      {.batches = options.batches, .augment = options.augment, .cell_weight = options.cell_weight});
  if (!options.show_augmented.empty()) {
    const TrainingBatch batch = task.batches({})();
    WriteFile(options.show_augmented,
              AugmentedPage(std::any_cast<DetectionPart>(Made(batch.parts.front())), processor, labels));
    progress.Note(fmt::format("{}: a page of pictures as the model sees them", options.show_augmented));
  }
  const Json* const size = config.Find("size");
  Json of = Json::Object{{"batch_size", options.batches.batch_tokens},
                         {"augment", static_cast<int>(options.augment)},
                         {"cell_loss", options.cell_weight},
                         {"image_size", size != nullptr ? *size : Json()}};
  of.Set("queries", model->limits().queries);
  if (options.from_scratch()) of.Set("backbone", static_cast<int>(options.backbone));
  const auto save = [&](const std::string& to) {
    model->Save(to);
    WriteFile(to + "/preprocessor_config.json", config.Text());
  };
  RunModelTraining(task, options, "detection", "headlight detect", HashOfDetectionSet(train), std::move(of), save,
                   progress);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command = train.AddCommand("detection", "Train an object detector (a DETR)");
  command
      .Add("--preset", options->preset,
           "Settings to start from: a small model for pictures of about 128 pixels with few objects")
      .Check(OneOf({"small-scenes"}))
      .Type("small-scenes");
  Option& from = AddModelTrainingOptions(
      command, *options,
      {.train = "Pictures and boxes to train on: a COCO file (.json), a folder of Pascal VOC's XML files, or a list of "
                "their names (ImageSets/Main/train.txt)",
       .valid = "Pictures to validate on, likewise",
       .from = "Folder of a DETR to fine-tune",
       .unit = {"--batch-size", "Pictures per batch"}});
  TrainingOptions& training = options->training;
  training.schedule.peak = 1e-4;
  training.adam.beta2 = 0.999;
  training.adam.epsilon = 1e-8;
  training.adam.weight_decay = 1e-4;
  training.adam.clip_norm = 0.1;
  const auto add_default = [&](const char* option, const char* value) { command.Get(option).Default(value); };
  add_default("--weight-decay", "0.0001");
  add_default("--clip-norm", "0.1");
  Describe(command, "--learning-rate", "Peak learning rate [0.0001]");
  Describe(command, "--layers", "Layers of the encoder, and of the decoder [6]");
  Describe(command, "--ffn-dim", "Inner size of the feed-forward network [2048]");
  AddChoice<Backbone>(command, "--backbone", options->backbone,
                      {{"small", Backbone::small},
                       {"resnet18", Backbone::resnet18},
                       {"resnet34", Backbone::resnet34},
                       {"resnet50", Backbone::resnet50}},
                      "The convolutional network before the encoder; small is for pictures of about 128 pixels")
      .Excludes(from)
      .Group(kModelGroup);
  command
      .Add("--queries", options->queries, Between(1, 1 << 14),
           "Queries, the most objects found in a picture [100; with --from the model's own: another number "
           "initialises new ones]")
      .Default("")
      .Group(kModelGroup);
  command
      .Add("--pictures", options->pictures,
           "Folders of the pictures, unless they lie beside the files, or in ../JPEGImages")
      .Check(ExistingFolder())
      .Type("DIR");
  AddMostPixels(command);
  command
      .Add("--image-size", options->side, Between(16, 1 << 13),
           "Resize the shorter side of pictures to this many pixels [800; with --from the model's own]")
      .Default("");
  command
      .Add("--cell-loss", options->cell_weight, NumberFrom(0, 1000),
           "Weight of an auxiliary loss at the encoder's cells, with which a detector from scratch converges sooner; "
           "DETR's paper has none")
      .ShowDefault()
      .Group("Training");
  AddChoice<BoxAugmentation>(
      command, "--augment", options->augment,
      {{"none", BoxAugmentation::none}, {"flip", BoxAugmentation::flip}, {"scale", BoxAugmentation::scale}},
      "Augmentation, drawn anew in each epoch: flip half of the pictures, and with scale also scale and crop them")
      .Group("Augmentation");
  command
      .AddFile("--show-augmented", options->show_augmented,
               "Write a page of pictures and boxes as the model sees them, before the training starts", "FILE.html")
      .Group("Augmentation");
  command.footer =
      "\nJPEG, PNG and WebP are read. Validations, without augmentation, report COCO's AP and the AP at IoU 0.5 and "
      "0.75. --from a model for other classes initialises a new head for them; the backbone then\n"
      "learns at a tenth of the rate, unless --rate says otherwise, and its norms keep their statistics.\n\n"
      "Examples:\n"
      "  headlight train detection --train instances_train.json --valid instances_val.json --pictures photos \\\n"
      "    --from detr-resnet-50 --out model\n"
      "  headlight train detection --train VOC/ImageSets/Main/train.txt --valid VOC/ImageSets/Main/val.txt \\\n    "
      "--from detr-resnet-50 --out model\n"
      "  headlight train detection --preset small-scenes --train train.json --valid valid.json --out model";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_detection
