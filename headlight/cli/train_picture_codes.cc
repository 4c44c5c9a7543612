// headlight train picture-codes.
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/cli/commands.h"
#include "headlight/cli/model_training.h"
#include "headlight/cli/output.h"
#include "headlight/cli/picture_training.h"
#include "headlight/cli/training_folder.h"
#include "headlight/data/pictures.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/discrete_vae.h"
#include "headlight/models/family.h"
#include "headlight/train/tasks/picture_codes.h"

namespace headlight::train_picture_codes {
namespace {

struct Options : ModelTrainingOptions {
  Options() {
    sizes = {.model = 64, .layers = 3};
    batches.batch_tokens = 32;  // pictures
    vae = {.picture = 64, .codes = 512, .code_width = 64, .blocks = 1};
  }

  DiscreteVaeConfig vae;  // from scratch
  std::string loss = "l2";
  bool skip_errors = false;
  std::optional<double> first_divergence_weight, divergence_weight;
  std::optional<std::int64_t> divergence_batches;
  PictureCodesOptions codes;
};

std::unique_ptr<PictureCoder> ModelOf(const Options& options) {
  if (!options.from_scratch()) return LoadModel<PictureCoder>(options.from);
  DiscreteVaeConfig config = options.vae;
  config.layers = options.sizes.layers;
  config.hidden = options.sizes.model;
  config.distribution = options.loss == "l2" ? PixelDistribution::normal : PixelDistribution::logit_laplace;
  auto model = std::make_unique<DiscreteVae>(config);
  model->parameters().Initialise(options.training.seed);
  return model;
}

void Run(Options& options) {
  if (!options.from_scratch()) CheckKind<PictureCoder>(options.from);
  CompleteModelTraining(options);
  const TrainingFolder folder(options.out, options.resume);
  TrainingProgress progress(Quiet(), "pictures");
  const std::unique_ptr<PictureCoder> model = ModelOf(options);
  const PictureCoder::Limits& limits = model->limits();
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share, const char* purpose) {
    PictureSet set =
        ReadPictureSet({.sources = ListUnlabelledPictures(paths), .labels = {}}, options.skip_errors, progress, share);
    CheckNotEmpty(static_cast<std::size_t>(set.size()), "pictures", paths, share);
    progress.Note(fmt::format("{}: {} pictures to {}, {} x {} pixels in {} x {} of {} codes", fmt::join(paths, ", "),
                              set.size(), purpose, limits.picture, limits.picture, limits.grid().width,
                              limits.grid().height, limits.codes));
    return set;
  };
  const PictureSet train = read(options.train, options.learned(), "learn from"),
                   valid = read(options.validation(), options.validated(), "validate on");
  PictureCodesOptions codes = options.codes;
  codes.batches = options.batches;
  // The paper's weights are for its logit-Laplace. Beside squared errors, a weight that is large throughout leaves
  // little of the picture, and a small one few codes: it falls.
  const bool paper = limits.distribution == PixelDistribution::logit_laplace;
  codes.first_divergence_weight = options.first_divergence_weight.value_or(paper ? 0 : 0.1);
  codes.divergence_weight = options.divergence_weight.value_or(paper ? 6.6 : 0.0005);
  codes.divergence_batches = options.divergence_batches.value_or(paper ? 500 : 3000);
  const TrainingTask task = PictureCodesTask(*model, train, valid, codes);
  Json of = Json::Object{
      {"batch_size", options.batches.batch_tokens},       {"flip", codes.flip},
      {"first_temperature", codes.first_temperature},     {"temperature", codes.temperature},
      {"temperature_batches", codes.temperature_batches}, {"first_divergence_weight", codes.first_divergence_weight},
      {"divergence_weight", codes.divergence_weight},     {"divergence_batches", codes.divergence_batches}};
  if (options.from_scratch()) {
    of.Set("image_size", options.vae.picture);
    of.Set("codes", options.vae.codes);
    of.Set("code_dim", options.vae.code_width);
    of.Set("blocks", options.vae.blocks);
    of.Set("loss", options.loss);
  }
  const auto save = [&](const std::string& to) {
    model->Save(to);
    if (!options.from_scratch()) CopyBesideModel(options.from, to);
  };
  RunModelTraining(task, options, "picture-codes", "headlight train text-to-picture --vae", train.hash(), std::move(of),
                   save, progress);
}

}  // namespace

void Add(Command& train) {
  const auto options = std::make_shared<Options>();
  Command& command = train.AddCommand("picture-codes", "Train a discrete VAE: pictures as grids of codes");
  Option& from =
      AddModelTrainingOptions(command, *options, WordsOfPictures("Folder of a discrete VAE to train further"));
  for (const char* name : {"--heads", "--ffn-dim", "--dropout", "--attention-dropout"})  // which it does not have
    command.Remove(name);
  AddSkipPictures(command, options->skip_errors);
  Describe(command, "--layers", "Convolutions that halve a picture [3]");
  Describe(command, "--model-dim", "Channels [64]");
  AddModelNumber(command, "--image-size", options->vae.picture, Between(2, 4096),
                 "Pixels of a side, to which the centre of a picture is resized");
  AddModelNumber(command, "--codes", options->vae.codes, Between(2, 1 << 16), "Codes");
  AddModelNumber(command, "--code-dim", options->vae.code_width, Between(1, 1 << 15), "Numbers of a code's vector");
  AddModelNumber(command, "--blocks", options->vae.blocks, Between(0, 1024),
                 "Residual blocks between the halved picture and the codes");
  command
      .Add("--loss", options->loss,
           "Of the pixels: the squared error, or the logit-Laplace of DALL-E's authors, which gives each pixel "
           "a scale too")
      .Check(OneOf({"l2", "logit-laplace"}))
      .Type("l2|logit-laplace")
      .Excludes(from)
      .Group(kModelGroup)
      .ShowDefault();
  PictureCodesOptions& codes = options->codes;
  codes.temperature_batches = 3000;
  const auto anneal = [&](const char* name, auto& value, const OptionCheck& check, const char* description) -> Option& {
    return command.Add(name, value, check, description).Group("Training");
  };
  anneal("--temperature", codes.temperature, NumberAbove(0), "Last temperature of the Gumbel-softmax").ShowDefault();
  anneal("--first-temperature", codes.first_temperature, NumberAbove(0), "Its first temperature").ShowDefault();
  anneal("--temperature-batches", codes.temperature_batches, AtLeast(1), "Batches until it is at the last")
      .ShowDefault();
  anneal("--kl-weight", options->divergence_weight, NumberFrom(0),
         "Last weight of the codes' divergence from the uniform distribution [0.0005; with logit-laplace 6.6]");
  anneal("--first-kl-weight", options->first_divergence_weight, NumberFrom(0),
         "Its first weight [0.1; with logit-laplace 0]");
  anneal("--kl-batches", options->divergence_batches, AtLeast(1),
         "Batches until it is at the last [3000; with logit-laplace 500]");
  command.Add("--flip", codes.flip, "Mirror half of the pictures, left to right, anew in each epoch").Group("Training");
  command.footer =
      "\nJPEG, PNG and WebP are read. A picture becomes a grid of codes, of which each stands for a square of "
      "2^layers\n"
      "pixels. Validations report psnr, in dB, of pictures decoded from their likeliest codes; codes_used, how many\n"
      "codes they have; and code_perplexity, how many there would be if all were used equally.\n\n"
      "Examples:\n"
      "  headlight train picture-codes --train photos --validate-split 0.05 --image-size 64 --codes 1024 --out vae\n"
      "  headlight train picture-codes --train emoji.tsv --valid more.tsv --loss logit-laplace --epochs 30 --out vae";
  command.run = [options] { Run(*options); };
}

}  // namespace headlight::train_picture_codes
