#include "headlight/recipes/region_training.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/base/parallel.h"
#include "headlight/data/detection.h"
#include "headlight/image/box_regions.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/decoding/voc.h"
#include "headlight/models/family.h"
#include "headlight/pipelines/region_folder.h"
#include "headlight/recipes/image_training.h"

namespace headlight {

namespace fs = std::filesystem;

void Describe(OptionTable& table, RegionTraining& options, const std::string& train, const char* batch) {
  Describe(table, static_cast<ModelTraining&>(options), kRegionDefaults,
           {.train = train,
            .valid = "Files to validate on, in the same formats",
            .from = "Folder of a ViLBERT, LXMERT or VisualBERT that reads pixels of regions, with its tokenizer, to "
                    "train further",
            .batch = "--batch-size",
            .batch_description = batch});
  Option& from = table.Get("--from");
  table.Add("--tokenizer", options.tokenizer, "Folder of the tokenizer for a model from scratch")
      .Model(ExistingFolder())
      .Excludes(from)
      .Type("DIR");
  table
      .Add("--boxes", options.boxes,
           "Boxes in the images, whose pixels are the model's input: COCO's files (.json), or folders of Pascal VOC's")
      .Type("FILE");
  table.Add("--detector", options.detector, "Folder of a detector that finds the boxes").Model().Type("DIR");
  table.Add("--positions", options.positions, Between(1, 1 << 15), "Tokens of the longest text")
      .Excludes(from)
      .Group(kModelGroup)
      .Default("64");
  table.Add("--region-size", options.region_size, Between(1, 64), "Pixels of a side, to which the regions are resized")
      .Excludes(from)
      .Group(kModelGroup)
      .Default("12");
  DescribeSkipErrors(table, options.skip_errors);
  table.Get("--layers")
      .Describe("Layers of each stream, text and image; co-attention precedes each layer of the upper half");
}

TrainingFolder BeginRegionTraining(RegionTraining& options) {
  Check(options.boxes.empty() != options.detector.empty(),
        "either `boxes` FILE, with the boxes of the images, or `detector` DIR, which finds them");
  if (!options.from_scratch()) CheckKind<RegionTextEncoder>(options.from);
  return BeginTextTraining(options);
}

ImageBoxes::ImageBoxes(const std::vector<std::string>& boxes, const std::string& detector) {
  if (!detector.empty()) {
    detector_ = ObjectDetector::Load(detector);
    labels_ = detector_->labels();
    return;
  }
  for (DetectionExample& example : ReadDetectionSet(boxes, {}, labels_, NewLabels::added, ReadVoc).examples) {
    const std::string path = fs::weakly_canonical(example.image).string();
    const auto [entry, is_new] = known_.emplace(path, std::move(example));
    Check(is_new, "{}: the files of `boxes` have this image twice", entry->first);
  }
}

std::vector<std::vector<LabeledBox>> ImageBoxes::Of(const std::vector<Image>& images,
                                                    const std::vector<std::string>& paths) const {
  std::vector<std::vector<LabeledBox>> all(images.size());
  if (detector_) {
    const DetectOptions how = {.name_of = [&](std::size_t i) { return paths[i]; }};
    const std::vector<std::vector<DetectedObject>> found = detector_->Detect(images, how);
    for (std::size_t i = 0; i < found.size(); ++i)
      for (const DetectedObject& one : found[i]) all[i].push_back({.box = one.box, .label = one.label_id});
    return all;
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto found = known_.find(fs::weakly_canonical(paths[i]).string());
    Check(found != known_.end(), "{}: no file of `boxes` has this image", paths[i]);
    CheckSize(found->second, {images[i].height, images[i].width});
    all[i] = found->second.boxes;
  }
  return all;
}

std::vector<bool> ReadablePaths(const std::vector<std::string>& paths, const RegionTraining& options,
                                const TrainingObserver& observer) {
  return ReadableImages(
      paths.size(), [&](std::size_t i) { ReadImage(paths[i]); }, options.skip_errors, observer);
}

std::vector<ImageRegions> RegionsOf(const std::vector<std::string>& paths, const ImageBoxes& boxes,
                                    const RegionTextEncoder& model) {
  const std::int64_t side = RegionSideOf(model), numbers = model.limits().box_numbers;
  std::vector<ImageRegions> regions(paths.size());
  constexpr std::size_t at_once = 256;
  for (std::size_t first = 0; first < paths.size(); first += at_once) {
    const auto begin = paths.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<std::string> some(begin,
                                        begin + static_cast<std::ptrdiff_t>(std::min(at_once, paths.size() - first)));
    std::vector<Image> images(some.size());
    ParallelFor(std::ssize(some), [&](std::int64_t i) {
      images[static_cast<std::size_t>(i)] = ReadImage(some[static_cast<std::size_t>(i)]);
    });
    const std::vector<std::vector<LabeledBox>> found = boxes.Of(images, some);
    ParallelFor(std::ssize(some), [&](std::int64_t index) {
      const auto i = static_cast<std::size_t>(index);
      std::vector<Box> within;
      ImageRegions& own = regions[first + i];
      own.classes = {-1};  // the region of the whole image has no class
      for (const LabeledBox& one : found[i]) {
        if (!IsWithin(one.box, images[i])) continue;
        within.push_back(one.box);
        own.classes.push_back(one.label);
      }
      BoxRegions made = RegionsOfBoxes(images[i], within, side, numbers);
      own.features = std::move(made.features);
      own.boxes = std::move(made.places);
    });
  }
  return regions;
}

void AddToHash(Hash64& hash, const std::vector<ImageRegions>& regions) {
  const auto add = [&](auto values) {
    const auto bytes = std::as_bytes(values);
    hash.Update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  for (const ImageRegions& one : regions) {
    add(one.features.span<float>());
    add(one.boxes.span<float>());
    add(std::span(one.classes));
  }
}

VilbertConfig NewVilbertConfig(const RegionTraining& options, const TrainingPlan& plan, std::int64_t vocabulary) {
  const ModelSizes& sizes = plan.sizes;
  const VilbertStream stream = {.model = sizes.model,
                                .layers = sizes.layers,
                                .heads = sizes.heads,
                                .ffn = sizes.inner(),
                                .dropout = plan.dropout,
                                .attention_dropout = plan.attention_dropout,
                                .joins = {}};
  VilbertConfig config;
  config.text = config.image = stream;
  for (int i = sizes.layers / 2; i < sizes.layers; ++i) config.text.joins.push_back(i);
  config.image.joins = config.text.joins;
  config.joint = sizes.model;
  config.joint_heads = sizes.heads;
  config.vocabulary = vocabulary;
  config.positions = options.longest();
  config.features = 3 * options.region_side() * options.region_side();
  return config;
}

TrainingResult RunRegionTraining(const TrainingTask& task, const RegionTraining& options, const TrainingPlan& plan,
                                 const char* name, const std::string& labels, std::uint64_t corpus_hash,
                                 const TrainingObserver& observer) {
  Json of = Json::Object{{"batch_size", plan.batches.batch_size}};
  if (options.from_scratch()) {
    of.Set("positions", options.longest());
    of.Set("region_size", options.region_side());
  }
  const auto save = [&](const std::string& to) { SaveWithTokenizer(*task.model, options, "", to); };
  return RunModelTraining(task, options, plan, name, labels, corpus_hash, std::move(of), save, observer);
}

}  // namespace headlight
