// headlight train image-generation.
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/cli/colour_pictures.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/model_training.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/training_folder.h"
#include "headlight/image/colours.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/imagegpt.h"
#include "headlight/train/tasks/image_generation.h"

namespace headlight::train_image_generation {
namespace {

struct Options : ModelTrainingOptions {
  Options() {
    sizes = {.model = 128, .heads = 4, .layers = 6};
    batches.batch_tokens = 32;  // pictures
  }

  std::int64_t side = 32, colours = 64;  // of a model from scratch
  bool flip = false;
};

TrainingFolder Begin(Options& options) {
  if (!options.from_scratch()) CheckKind<ImageGpt>(options.from);
  CompleteModelTraining(options);
  return TrainingFolder(options.out, options.resume);
}

std::unique_ptr<ImageGpt> ModelOf(const Options& options) {
  if (!options.from_scratch()) return LoadModel<ImageGpt>(options.from, {.dropout = options.chosen_dropout()});
  ImageGptConfig config;
  config.model = options.sizes.model;
  config.layers = options.sizes.layers;
  config.heads = options.sizes.heads;
  config.ffn = options.sizes.inner();
  config.dropout = config.embedding_dropout = options.new_dropout();
  config.attention_dropout = options.new_attention_dropout();
  config.vocabulary = options.colours + 1;
  config.positions = options.side * options.side;
  auto model = std::make_unique<ImageGpt>(config);
  model->parameters().Initialise(options.training.seed);
  return model;
}

PictureProcessor ProcessorOf(const Json& config) {
  return ReadPictureProcessor(JsonView(config, "preprocessor_config.json"));
}

void Run(Options& options) {
  const TrainingFolder folder = Begin(options);
  TrainingProgress progress(Quiet(), "pixels");
  const std::unique_ptr<ImageGpt> model = ModelOf(options);
  const PictureSize size = {options.side, options.side};
  PictureProcessor processor =
      options.from_scratch() ? ProcessorOf(ColourProcessorConfig(size, {})) : LoadColourProcessor(options.from);

  std::vector<Picture> train = ReadFittedPictures(options.train, processor, options.learned()),
                       valid = ReadFittedPictures(options.validation(), processor, options.validated());
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
  note(options.validation(), pictures.valid, "validate on");
  progress.Note(fmt::format("baseline: the frequencies of the colours alone give {:.4f} bits per pixel",
                            ColourEntropy(pictures.valid)));

  const TrainingTask task = ImageGenerationTask(*model, pictures, {.batches = options.batches, .flip = options.flip});
  const auto& colours = pictures.train.colours;
  const std::string_view bytes(reinterpret_cast<const char*>(colours.data()), colours.size() * sizeof(colours[0]));
  Json of = Json::Object{{"batch_size", options.batches.batch_tokens}, {"flip", options.flip}};
  if (options.from_scratch()) {
    of.Set("image_size", options.side);
    of.Set("clusters", options.colours);
  }
  const auto save = [&](const std::string& to) {
    model->Save(to);
    if (options.from_scratch())
      WriteFile(to + "/preprocessor_config.json", config.Text());
    else
      CopyBesideModel(options.from, to);
  };
  RunModelTraining(task, options, "image-generation", "headlight generate --out new.png", HashOf(bytes), std::move(of),
                   save, progress);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command =
      train.AddCommand("image-generation", "Train a generator of pictures, pixel by pixel (an ImageGPT)");
  AddModelTrainingOptions(command, *options, WordsOfPictures("Folder of an ImageGPT to train further"));
  AddModelNumber(command, "--image-size", options->side, Between(1, 1024),
                 "Resize pictures to this many pixels per side");
  AddModelNumber(command, "--clusters", options->colours, Between(1, kMostColours),
                 "Colours, learned from the pictures by k-means");
  AddMostPixels(command);
  command.Add("--flip", options->flip, "Mirror a random half of the pictures, left to right, in each epoch")
      .Group("Training");
  command.footer =
      "\nJPEG, PNG and WebP are read, and kept in memory as they are resized. If all pictures are grey, so are the "
      "colours.\n"
      "Validations report bits per pixel: the mean negative binary logarithm of the probability of a pixel's colour,\n"
      "of the picture as it is resized and reduced to the colours, so that only models with the same size and "
      "colours\n"
      "compare.\n\n"
      "Examples:\n"
      "  headlight train image-generation --train train-images-idx3-ubyte.gz --validate-split 0.05 --image-size 28 "
      "\\\n    --clusters 16 --out model\n"
      "  headlight train image-generation --train photos --valid more --from imagegpt-small --flip --out further";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_image_generation
