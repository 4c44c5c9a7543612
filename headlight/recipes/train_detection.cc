#include "headlight/recipes/train_detection.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "headlight/base/choice.h"
#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/detection.h"
#include "headlight/image/decoding/voc.h"
#include "headlight/models/detr.h"
#include "headlight/models/family.h"
#include "headlight/recipes/image_training.h"
#include "headlight/recipes/training_folder.h"

namespace headlight {
namespace {

constexpr TrainingDefaults kDetectionDefaults = {.sizes = {.model = 256, .ffn = 2048, .heads = 8, .layers = 6},
                                                 .dropout = 0.1,
                                                 .batch = 16,
                                                 .tuning_epochs = 10,
                                                 .learning_rate = 1e-4,
                                                 .weight_decay = 1e-4,
                                                 .tuning_weight_decay = 1e-4,
                                                 .clip_norm = 0.1,
                                                 .beta2 = 0.999,
                                                 .epsilon = 1e-8};

const std::map<std::string, OptionValues> kDetectionPresets = {{"small-scenes",
                                                                {{"--image-size", "128"},
                                                                 {"--backbone", "small"},
                                                                 {"--layers", "3"},
                                                                 {"--model-dim", "128"},
                                                                 {"--heads", "4"},
                                                                 {"--ffn-dim", "256"},
                                                                 {"--num-queries", "10"},
                                                                 {"--dropout", "0"},
                                                                 {"--cell-loss", "1"},
                                                                 {"--augment", "flip"},
                                                                 {"--batch-size", "16"},
                                                                 {"--learning-rate", "0.0007"},
                                                                 {"--epochs", "36"}}}};

ResnetConfig BackboneOf(DetectionTraining::Backbone backbone) {
  using Backbone = DetectionTraining::Backbone;
  switch (backbone) {
    case Backbone::small:  // for images of about 128 pixels; a cell of the last feature map is 16 x 16 pixels
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

// Reads the images that `share` selects by their file names.
DetectionSet Read(const DetectionTraining& options, const std::vector<std::string>& paths, const TextShare& share,
                  std::vector<std::string>& labels, NewLabels rule, const TrainingObserver& observer) {
  DetectionSet set = ReadDetectionSet(paths, options.images, labels, rule, ReadVoc);
  if (options.sources) {
    std::vector<std::string> files;
    for (const DetectionExample& example : set.examples) files.push_back(example.image);
    options.sources(files);
  }
  std::erase_if(set.examples, [&](const DetectionExample& example) {
    return !share.Has(std::filesystem::path(example.image).filename().string());
  });
  const char* const purpose = share.held_out ? "validate on" : "train on";
  Check(!set.examples.empty(), "{}: there is no image to {}", fmt::join(paths, ", "), purpose);
  std::size_t boxes = 0;
  for (const DetectionExample& example : set.examples) boxes += example.boxes.size();
  Note(observer,
       fmt::format(
           "{}: {} with {} to {}{}", fmt::join(paths, ", "), Counted(set.examples.size(), "image"),
           Counted(boxes, "box"), purpose,
           set.without_area > 0 ? fmt::format("; {} without an area left out", Counted(set.without_area, "box")) : ""));
  return set;
}

// Skips images that cannot be read or do not match their annotations.
void LeaveOutDamaged(const DetectionTraining& options, DetectionSet& set, const TrainingObserver& observer) {
  const auto read = [&](std::size_t i) {
    const Image image = ReadImage(set.examples[i].image, options.most_pixels);
    CheckSize(set.examples[i], {image.height, image.width});
  };
  const std::vector<bool> readable = ReadableImages(set.examples.size(), read, options.skip_errors, observer);
  std::size_t next = 0;
  std::erase_if(set.examples, [&](const DetectionExample&) { return !readable[next++]; });
  Check(!set.examples.empty(), "no image is left that can be read");
}

std::unique_ptr<Detr> NewDetr(const DetectionTraining& options, const TrainingPlan& plan,
                              const std::vector<std::string>& labels) {
  DetrConfig config;
  config.backbone = BackboneOf(options.backbone.value_or(DetectionTraining::Backbone::resnet50));
  config.backbone_statistics = BatchStatistics::trained;
  const ModelSizes& sizes = plan.sizes;
  config.model = sizes.model;
  config.encoder_layers = config.decoder_layers = sizes.layers;
  config.encoder_heads = config.decoder_heads = sizes.heads;
  config.encoder_ffn = config.decoder_ffn = sizes.inner();
  config.dropout = plan.dropout;
  config.attention_dropout = plan.attention_dropout;
  if (options.num_queries) config.queries = *options.num_queries;
  config.labels = labels;
  auto model = std::make_unique<Detr>(config);
  model->parameters().Initialize(options.seed);
  return model;
}

// Loads the model of `from`. If its classes differ from `labels`, creates a new head. Otherwise, puts `labels` in the
// model's order.
std::unique_ptr<Detr> ModelFor(const DetectionTraining& options, std::vector<std::string>& labels,
                               const TrainingObserver& observer) {
  std::unique_ptr<Detr> model = LoadModel<Detr>(options.from, {.dropout = options.chosen_dropout()});
  if (std::ranges::is_permutation(labels, model->labels()))
    labels = model->labels();
  else
    Note(observer, fmt::format("{}: it has {} other classes; a new classification head is initialized", options.from,
                               model->labels().size()));
  if (model->config().masks)
    Note(observer, fmt::format("{}: only its detector is trained, not its head for masks", options.from));
  const std::int64_t own = model->limits().queries, queries = options.num_queries.value_or(own);
  if (queries != own)
    Note(observer, fmt::format("{}: it has {} queries; {} new ones are initialized", options.from, own, queries));
  return Refit(*model, labels, queries, options.seed);
}

// Returns a new preprocessor_config.json, or the file in `from`, with the requested size.
Json ProcessorConfigOf(const DetectionTraining& options) {
  Json config;
  if (options.from_scratch()) {
    config = Json::Object{{"image_processor_type", "DetrImageProcessor"}, {"format", "coco_detection"}};
  } else {
    const std::string path = options.from + "/preprocessor_config.json";
    config = std::filesystem::exists(path)
                 ? ReadJson(path).value()
                 : ReadJson(options.from + "/processor_config.json")["image_processor"].value();
  }
  if (options.from_scratch() || options.image_size) {
    const std::int64_t side = options.image_size.value_or(800);
    config.Set("size", Json::Object{{"shortest_edge", side}, {"longest_edge", side * 1333 / 800}});
  }
  return config;
}

}  // namespace

void Describe(OptionTable& table, DetectionTraining& options) {
  using Backbone = DetectionTraining::Backbone;
  table
      .Add("--preset", options.preset, OneOf({"small-scenes"}),
           "Settings to start from: a small model for images of about 128 pixels with few objects")
      .Type("small-scenes");
  Describe(table, options, kDetectionDefaults,
           {.train = "Images and boxes to train on: a COCO file (.json), a folder of Pascal VOC's XML files, or a list "
                     "of their names (ImageSets/Main/train.txt)",
            .valid = "Images to validate on, in the same formats",
            .from = "Folder of a DETR to fine-tune",
            .batch = "--batch-size",
            .batch_description = "Images per batch"});
  Option& from = table.Get("--from");
  table.Get("--layers").Describe("Layers of the encoder, and of the decoder");
  AddChoice<Backbone>(table, "--backbone", options.backbone,
                      {{"small", Backbone::small},
                       {"resnet18", Backbone::resnet18},
                       {"resnet34", Backbone::resnet34},
                       {"resnet50", Backbone::resnet50}},
                      "The convolutional network before the encoder; small is for images of about 128 pixels")
      .Default("resnet50")
      .Excludes(from)
      .Group(kModelGroup);
  table
      .Add("--num-queries", options.num_queries, Between(1, 1 << 14),
           "Queries, the most objects found in an image [100; with `from` the model's own: another number initializes "
           "new ones]")
      .Group(kModelGroup);
  table.Add("--images", options.images, "Folders of the images, unless they are next to the files, or in ../JPEGImages")
      .Check(ExistingFolder())
      .Type("DIR");
  DescribeSkipErrors(table, options.skip_errors);
  DescribeMostPixels(table, options.most_pixels);
  table.Add("--image-size", options.image_size, Between(16, 1 << 13),
            "Resize the shorter side of images to this many pixels [800; with `from` the model's own]");
  table
      .Add("--cell-loss", options.cell_loss, NumberFrom(0, 1000),
           "Weight of an auxiliary loss at the encoder's cells, with which a detector from scratch converges sooner; "
           "DETR's paper has none")
      .Default("0")
      .Group("Training");
  AddChoice<BoxAugmentation>(
      table, "--augment", options.augment,
      {{"none", BoxAugmentation::none}, {"flip", BoxAugmentation::flip}, {"scale", BoxAugmentation::scale}},
      "Augmentation, new in each epoch: flip half of the images, and with scale also scale and crop them")
      .Default("scale")
      .Group("Augmentation");
}

TrainingResult TrainDetection(DetectionTraining options, const TrainingObserver& observer) {
  if (!options.preset.empty()) ApplyPreset(options, PresetOf(kDetectionPresets, options.preset));
  TrainingPlan plan = CompleteTraining(options, kDetectionDefaults);
  if (!options.from_scratch()) {
    CheckKind<DetectionModel>(options.from);
    // The user's groups come first and have priority.
    plan.training.adam.groups.push_back({.pattern = "model.backbone.*", .rate_factor = 0.1});
  }
  const TrainingFolder folder(options.out, options.resume, options.ranks);
  const BoxAugmentation augment = options.augment.value_or(BoxAugmentation::scale);
  std::vector<std::string> labels;
  DetectionSet train = Read(options, options.train, options.learned(), labels, NewLabels::added, observer);
  LeaveOutDamaged(options, train, observer);
  const std::vector<std::string> found = labels;
  const std::unique_ptr<Detr> model =
      options.from_scratch() ? NewDetr(options, plan, labels) : ModelFor(options, labels, observer);
  if (labels != found) {  // use the model's order
    std::set<std::string> readable;
    for (const DetectionExample& example : train.examples) readable.insert(example.image);
    train = Read(options, options.train, options.learned(), labels, NewLabels::refused, observer);
    std::erase_if(train.examples, [&](const DetectionExample& example) { return !readable.contains(example.image); });
  }
  DetectionSet valid = Read(options, options.validation(), options.validated(), labels, NewLabels::refused, observer);
  LeaveOutDamaged(options, valid, observer);
  const Json config = ProcessorConfigOf(options);
  const ImageProcessor processor = ReadImageProcessor(JsonView(config, "preprocessor_config.json"));
  const TrainingTask task = DetectionTask(
      *model, processor, train, valid, [&](const std::string& path) { return ReadImage(path, options.most_pixels); },
      [&](const std::string& path) { return ReadImageSize(path, options.most_pixels); },
      {.batches = plan.batches, .augment = augment, .cell_weight = options.cell_loss.value_or(0)});
  if (options.first_batch) {
    const TrainingBatch batch = task.batches({})();
    options.first_batch(Made(batch.parts.front()).As<DetectionPart>(), processor, labels);
  }
  const Json* const size = config.Find("size");
  Json of = Json::Object{{"batch_size", plan.batches.batch_size},
                         {"augment", static_cast<int>(augment)},
                         {"cell_loss", options.cell_loss.value_or(0)},
                         {"image_size", size != nullptr ? *size : Json()}};
  of.Set("queries", model->limits().queries);
  if (options.from_scratch())
    of.Set("backbone", static_cast<int>(options.backbone.value_or(DetectionTraining::Backbone::resnet50)));
  const auto save = [&](const std::string& to) {
    model->Save(to);
    WriteFile(to + "/preprocessor_config.json", config.Text());
  };
  return RunModelTraining(task, options, plan, "detection", "images", HashOfDetectionSet(train), std::move(of), save,
                          observer);
}

}  // namespace headlight
