#include "headlight/recipes/train_image_generation.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/base/option_checks.h"
#include "headlight/image/colors.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/recipes/color_images.h"
#include "headlight/recipes/image_training.h"
#include "headlight/recipes/training_folder.h"
#include "headlight/train/objectives/image_generation.h"

namespace headlight {
namespace {

constexpr TrainingDefaults kGenerationDefaults = {.sizes = {.model = 128, .heads = 4, .layers = 6}, .batch = 32};

std::unique_ptr<ImageGpt> ModelOf(const ImageGenerationTraining& options, const TrainingPlan& plan) {
  if (!options.from_scratch()) return LoadModel<ImageGpt>(options.from, {.dropout = options.chosen_dropout()});
  ImageGptConfig config;
  config.model = plan.sizes.model;
  config.layers = plan.sizes.layers;
  config.heads = plan.sizes.heads;
  config.ffn = plan.sizes.inner();
  config.dropout = config.embedding_dropout = plan.dropout;
  config.attention_dropout = plan.attention_dropout;
  config.vocabulary = options.clusters + 1;
  config.positions = options.image_size * options.image_size;
  auto model = std::make_unique<ImageGpt>(config);
  model->parameters().Initialize(options.seed);
  return model;
}

ImageProcessor ProcessorOf(const Json& config) {
  return ReadImageProcessor(JsonView(config, "preprocessor_config.json"));
}

}  // namespace

void Describe(OptionTable& table, ImageGenerationTraining& options) {
  Describe(table, options, kGenerationDefaults, WordsOfImages("Folder of an ImageGPT to train further"));
  AddModelNumber(table, "--image-size", options.image_size, Between(1, 1024),
                 "Resize images to this many pixels per side");
  AddModelNumber(table, "--clusters", options.clusters, Between(1, kMostColors),
                 "Colors, computed from the images by k-means");
  DescribeMostPixels(table, options.most_pixels);
  DescribeSkipErrors(table, options.skip_errors);
  table.Add("--flip", options.flip, "Mirror a random half of the images, left to right, in each epoch")
      .Group("Training");
}

TrainingResult TrainImageGeneration(ImageGenerationTraining options, const TrainingObserver& observer) {
  if (!options.from_scratch()) CheckKind<ImageGpt>(options.from);
  const TrainingPlan plan = CompleteTraining(options, kGenerationDefaults);
  const TrainingFolder folder(options.out, options.resume, options.ranks);
  const std::unique_ptr<ImageGpt> model = ModelOf(options, plan);
  const ImageSize size = {options.image_size, options.image_size};
  ImageProcessor processor =
      options.from_scratch() ? ProcessorOf(ColorProcessorConfig(size, {})) : LoadColorProcessor(options.from);

  const auto read_images = [&](const std::vector<std::string>& paths, const TextShare& share) {
    std::vector<std::string> skipped;
    std::vector<Image> images =
        ReadFittedImages(paths, processor, options.most_pixels, share, options.skip_errors ? &skipped : nullptr);
    for (const std::string& error : skipped) Note(observer, "warning: left out: " + error);
    return images;
  };
  std::vector<Image> train = read_images(options.train, options.learned()),
                     valid = read_images(options.validation(), options.validated());
  Json config;
  if (options.from_scratch()) {
    ColorCounts counts;
    for (const Image& image : train) counts.Add(image);
    config = ColorProcessorConfig(size, counts.Cluster(options.clusters));
    processor = ProcessorOf(config);
  }
  const ColorSets images = {InColors(train, processor), InColors(valid, processor)};
  train = valid = {};
  const auto note = [&](const std::vector<std::string>& paths, const ColorImages& read, const char* purpose) {
    Note(observer, fmt::format("{}: {} to {}, {} x {} pixels in {} colors", fmt::join(paths, ", "),
                               Counted(read.count(), "image"), purpose, read.size.width, read.size.height,
                               processor.clusters.size()));
  };
  NoteCheckOfImages(observer, options.train, /*classes=*/false);
  note(options.train, images.train, "train on");
  note(options.validation(), images.valid, "validate on");
  Note(observer,
       fmt::format("baseline: the frequencies of the colors give {:.4f} bits per pixel", ColorEntropy(images.valid)));

  const TrainingTask task = ImageGenerationTask(*model, images, {.batches = plan.batches, .flip = options.flip});
  const auto& colors = images.train.colors;
  const std::string_view bytes(reinterpret_cast<const char*>(colors.data()), colors.size() * sizeof(colors[0]));
  Json of = Json::Object{{"batch_size", plan.batches.batch_size}, {"flip", options.flip}};
  if (options.from_scratch()) {
    of.Set("image_size", options.image_size);
    of.Set("clusters", options.clusters);
  }
  const auto save = [&](const std::string& to) {
    model->Save(to);
    if (options.from_scratch())
      WriteFile(to + "/preprocessor_config.json", config.Text());
    else
      CopyBesideModel(options.from, to);
  };
  return RunModelTraining(task, options, plan, "image-generation", "pixels", HashOf(bytes), std::move(of), save,
                          observer);
}

}  // namespace headlight
