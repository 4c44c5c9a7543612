#include "headlight/recipes/train_image_codes.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "headlight/base/counted.h"
#include "headlight/base/error.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/images.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/recipes/training_folder.h"

namespace headlight {
namespace {

constexpr TrainingDefaults kCodesDefaults = {.sizes = {.model = 64, .layers = 3}, .has_heads = false, .batch = 32};

std::unique_ptr<ImageCoder> ModelOf(const ImageCodesTraining& options, const TrainingPlan& plan) {
  if (!options.from_scratch()) return LoadModel<ImageCoder>(options.from);
  DiscreteVaeConfig config = options.vae;
  config.layers = plan.sizes.layers;
  config.hidden = plan.sizes.model;
  config.distribution = options.loss == "l2" ? PixelDistribution::normal : PixelDistribution::logit_laplace;
  auto model = std::make_unique<DiscreteVae>(config);
  model->parameters().Initialize(options.seed);
  return model;
}

}  // namespace

void Describe(OptionTable& table, ImageCodesTraining& options) {
  Describe(table, options, kCodesDefaults, WordsOfImages("Folder of a discrete VAE to train further"));
  for (const char* name :
       {"--heads", "--ffn-dim", "--dropout", "--attention-dropout"})  // options that a discrete VAE does not have
    table.Remove(name);
  DescribeSkipErrors(table, options.skip_errors);
  table.Get("--layers").Describe("Convolutions that halve the size of an image");
  table.Get("--model-dim").Describe("Channels of the convolutions");
  AddModelNumber(table, "--image-size", options.vae.image, Between(2, 4096),
                 "Pixels of a side, to which the center of an image is resized");
  AddModelNumber(table, "--codes", options.vae.codes, Between(2, 1 << 16),
                 "Size of the codebook: the number of different codes");
  AddModelNumber(table, "--code-dim", options.vae.code_width, Between(1, 1 << 15), "Size of a code's embedding");
  AddModelNumber(table, "--blocks", options.vae.blocks, Between(0, 1024),
                 "Residual blocks between the halved image and the codes");
  table
      .Add("--loss", options.loss,
           "Pixel loss: the squared error, or the logit-Laplace of DALL-E's authors, which gives each pixel "
           "a scale too")
      .Check(OneOf({"l2", "logit-laplace"}))
      .Type("l2|logit-laplace")
      .Excludes(table.Get("--from"))
      .Group(kModelGroup)
      .ShowDefault();
  ImageCodesOptions& codes = options.annealing;
  const auto anneal = [&](const char* name, auto& value, const OptionCheck& check, const char* description) -> Option& {
    return table.Add(name, value, check, description).Group("Training");
  };
  anneal("--final-temperature", codes.temperature, NumberAbove(0), "Final temperature of the Gumbel-softmax")
      .ShowDefault();
  anneal("--first-temperature", codes.first_temperature, NumberAbove(0), "Its first temperature").ShowDefault();
  anneal("--temperature-batches", codes.temperature_batches, AtLeast(1), "Batches until the last temperature")
      .ShowDefault();
  anneal("--kl-weight", options.kl_weight, NumberFrom(0),
         "Last weight of the codes' divergence from the uniform distribution [0.0005; with logit-laplace 6.6]");
  anneal("--first-kl-weight", options.first_kl_weight, NumberFrom(0),
         "First weight of that divergence [0.1; with logit-laplace 0]");
  anneal("--kl-batches", options.kl_batches, AtLeast(1),
         "Batches until the last weight [3000; with logit-laplace 500]");
  table.Add("--flip", codes.flip, "Mirror half of the images, left to right, chosen again in each epoch")
      .Group("Training");
}

TrainingResult TrainImageCodes(ImageCodesTraining options, const TrainingObserver& observer) {
  Check(options.loss == "l2" || options.loss == "logit-laplace", "`loss` must be l2 or logit-laplace, not {}",
        Quoted(options.loss));
  if (!options.from_scratch()) CheckKind<ImageCoder>(options.from);
  const TrainingPlan plan = CompleteTraining(options, kCodesDefaults);
  const TrainingFolder folder(options.out, options.resume, options.ranks);
  const std::unique_ptr<ImageCoder> model = ModelOf(options, plan);
  const ImageCoder::Limits& limits = model->limits();
  const auto read = [&](const std::vector<std::string>& paths, const TextShare& share, const char* purpose) {
    ImageSet set = ReadImageSet({.sources = ListUnlabeledImages(paths), .labels = {}}, options.skip_errors,
                                options.most_pixels, observer, share);
    CheckNotEmpty(static_cast<std::size_t>(set.size()), "images", paths, share);
    Note(observer, fmt::format("{}: {} to {}, {} x {} pixels in {} x {} of {} codes", fmt::join(paths, ", "),
                               Counted(set.size(), "image"), purpose, limits.image, limits.image, limits.grid().width,
                               limits.grid().height, limits.codes));
    return set;
  };
  const ImageSet train = read(options.train, options.learned(), "train on"),
                 valid = read(options.validation(), options.validated(), "validate on");
  NoteCheckOfImages(observer, options.train, /*classes=*/false);
  ImageCodesOptions codes = options.annealing;
  codes.batches = plan.batches;
  // The paper's weights are for the logit-Laplace loss. With squared errors, a constant large weight causes a loss of
  // detail, and with a constant small weight only a few codes are used. Therefore the weight decreases during training.
  const bool paper = limits.distribution == PixelDistribution::logit_laplace;
  codes.first_divergence_weight = options.first_kl_weight.value_or(paper ? 0 : 0.1);
  codes.divergence_weight = options.kl_weight.value_or(paper ? 6.6 : 0.0005);
  codes.divergence_batches = options.kl_batches.value_or(paper ? 500 : 3000);
  const TrainingTask task = ImageCodesTask(*model, train, valid, codes);
  Json of = Json::Object{{"batch_size", plan.batches.batch_size},
                         {"flip", codes.flip},
                         {"first_temperature", codes.first_temperature},
                         {"temperature", codes.temperature},
                         {"temperature_batches", codes.temperature_batches},
                         {"first_divergence_weight", codes.first_divergence_weight},
                         {"divergence_weight", codes.divergence_weight},
                         {"divergence_batches", codes.divergence_batches}};
  if (options.from_scratch()) {
    of.Set("image_size", options.vae.image);
    of.Set("codes", options.vae.codes);
    of.Set("code_dim", options.vae.code_width);
    of.Set("blocks", options.vae.blocks);
    of.Set("loss", options.loss);
  }
  const auto save = [&](const std::string& to) {
    model->Save(to);
    if (!options.from_scratch()) CopyBesideModel(options.from, to);
  };
  return RunModelTraining(task, options, plan, "image-codes", "images", train.hash(), std::move(of), save, observer);
}

}  // namespace headlight
