#include "headlight/cli/picture_training.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/cli/picture_batches.h"
#include "headlight/cli/training_run.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/resnet.h"

namespace headlight {

void AddPictureTrainingOptions(OptionTable& command, PictureTrainingOptions& options, const std::string& pictures,
                               bool validates) {
  options.training.adam.beta2 = 0.999;
  options.training.adam.epsilon = 1e-8;
  options.training.adam.weight_decay = 0.05;
  Option& from = AddModelTrainingOptions(command, options,
                                         {.train = "Pictures to train on: " + pictures,
                                          .valid = validates ? "Pictures to validate on, likewise" : "",
                                          .from = "Folder of an encoder of pictures to fine-tune",
                                          .unit = {"--batch-size", "Pictures per batch"}});
  AddMostPixels(command);
  const auto add_side = [&](const char* name, auto& value, const char* description) {
    command.Add(name, value, Between(1, 4096), description).Excludes(from).Group(kModelGroup).ShowDefault();
  };
  add_side("--image-size", options.picture, "Resize pictures to this many pixels per side");
  add_side("--patch-size", options.patch, "Pixels per side of a patch");
  command
      .Add("--drop-path", options.drop_path, NumberBelow(0, 1),
           "Probability that the last layer is skipped for a picture, falling linearly to 0 at the first (stochastic "
           "depth)")
      .ShowDefault()
      .Group("Training");
}

void AddSkipPictures(OptionTable& command, bool& skip_errors) {
  command.Add("--skip-errors", skip_errors, "Leave out pictures that cannot be read, each with a warning");
}

namespace {

template <typename Set, typename List>
Set ReadSet(List list, bool skip_errors, TrainingProgress& progress, const TextShare& share) {
  const auto decode = [](std::span<const std::byte> file, const std::string& name) {
    return DecodePicture(file, name, MostPixels());
  };
  std::vector<std::string> skipped;
  Set set(std::move(list), decode, share, PictureSet::kMemory, skip_errors ? &skipped : nullptr);
  for (const std::string& error : skipped) progress.Note("warning: left out: " + error);
  return set;
}

}  // namespace

PictureSet ReadPictureSet(PictureList list, bool skip_errors, TrainingProgress& progress, const TextShare& share) {
  return ReadSet<PictureSet>(std::move(list), skip_errors, progress, share);
}

PictureTextSet ReadPictureTextSet(PictureTextList list, bool skip_errors, TrainingProgress& progress,
                                  const TextShare& share) {
  return ReadSet<PictureTextSet>(std::move(list), skip_errors, progress, share);
}

void AddResnetOptions(OptionTable& command, PictureTrainingOptions& options) {
  const auto add = [&](const char* name, std::vector<std::int64_t>& values, std::int64_t most,
                       const char* description) {
    command.Add(name, values, Between(1, most), description)
        .Type("N")
        .Delimiter(',')
        .Excludes(command.Get("--from"))
        .Group(kPictureModelGroup);
  };
  add("--channels", options.channels, 4096, "Train a ResNet, with so many channels in each stage, not a ViT");
  add("--depths", options.depths, 256, "Layers, of two convolutions each, in each of its stages [2 in each]");
}

void CompletePictureSizes(PictureTrainingOptions& options, const std::string& chosen_by) {
  if (options.channels.empty()) return Check(options.depths.empty(), "--depths needs --channels");
  for (const char* of_vit : {"--layers", "--model-dim", "--heads", "--ffn-dim", "--patch-size", "--dropout",
                             "--attention-dropout", "--drop-path"})
    Check(!options.given(of_vit), "{} is for a ViT; --channels, {}, makes a ResNet", of_vit, chosen_by);
  if (options.depths.empty()) options.depths.assign(options.channels.size(), 2);
  Check(options.depths.size() == options.channels.size(), "--depths has {} stages, and --channels {}",
        options.depths.size(), options.channels.size());
  options.patch = 1;
}

TrainingFolder BeginPictureTraining(PictureTrainingOptions& options, std::string_view kind) {
  if (!options.from_scratch()) FamilyOf(OpenModelFolder(options.from), kind, nullptr);
  Check(options.picture % options.patch == 0, "--image-size {}: is not a multiple of --patch-size {}", options.picture,
        options.patch);
  CompleteModelTraining(options);
  for (const std::vector<std::string>& sources : {options.train, options.valid}) NoteOtherPictures(sources);
  return TrainingFolder(options.out, options.resume);
}

VitConfig NewVitConfig(const PictureTrainingOptions& options) {
  const ModelSizes& sizes = options.sizes;
  VitConfig config;
  config.model = sizes.model;
  config.layers = sizes.layers;
  config.heads = sizes.heads;
  config.ffn = sizes.inner();
  config.picture = {options.picture, options.picture};
  config.patch = {options.patch, options.patch};
  config.dropout = options.new_dropout();
  config.attention_dropout = options.new_attention_dropout();
  return config;
}

std::unique_ptr<PictureEncoder> NewPictureModel(const PictureTrainingOptions& options,
                                                const std::vector<std::string>& labels) {
  const auto initialised = [&](auto config, auto make) {
    config.classes = !labels.empty();
    config.labels = labels;
    std::unique_ptr<PictureEncoder> model = make(config);
    model->parameters().Initialise(options.training.seed);
    return model;
  };
  if (options.channels.empty())
    return initialised(NewVitConfig(options), [](const VitConfig& config) { return std::make_unique<Vit>(config); });
  ResnetConfig config;
  config.embedding = options.channels.front();
  config.hidden = options.channels;
  config.depths = options.depths;
  config.bottleneck = false;
  return initialised(config, [](const ResnetConfig& sizes) { return std::make_unique<Resnet>(sizes); });
}

Json NewPreprocessorConfig(const PictureTrainingOptions& options) {
  const std::int64_t side = options.picture;
  const Json::Array half = {0.5, 0.5, 0.5};
  return Json::Object{{"image_processor_type", "ViTImageProcessor"},
                      {"do_resize", true},
                      {"size", Json::Object{{"height", side}, {"width", side}}},
                      {"resample", static_cast<int>(ResizeFilter::bilinear)},
                      {"do_rescale", true},
                      {"rescale_factor", 1.0 / 255},
                      {"do_normalize", true},
                      {"image_mean", half},
                      {"image_std", half}};
}

PictureProcessor ProcessorOf(const PictureTrainingOptions& options) {
  return options.from_scratch()
             ? ReadPictureProcessor(JsonView(NewPreprocessorConfig(options), "preprocessor_config.json"))
             : LoadPictureProcessor(options.from);
}

void SaveBesidePictureModel(const PictureTrainingOptions& options, const std::string& folder) {
  Json config;
  if (options.from_scratch())
    config = NewPreprocessorConfig(options);
  else if (const std::string own = options.from + "/preprocessor_config.json"; std::filesystem::exists(own))
    config = ReadJson(own).value();
  else
    config = ReadJson(options.from + "/processor_config.json")["image_processor"].value();
  WriteFile(folder + "/preprocessor_config.json", config.Text());
}

void RunPictureTraining(const TrainingTask& task, PictureTrainingOptions& options, const char* name,
                        const std::string& use, std::uint64_t corpus_hash, Json of, const Model& kept,
                        TrainingProgress& progress) {
  of.Set("batch_size", options.batches.batch_tokens);
  of.Set("drop_path", options.drop_path);
  if (options.from_scratch()) {
    of.Set("image_size", options.picture);
    of.Set("patch_size", options.patch);
  }
  if (!options.channels.empty()) {
    of.Set("channels", Json::Array(options.channels.begin(), options.channels.end()));
    of.Set("depths", Json::Array(options.depths.begin(), options.depths.end()));
  }
  const auto save = [&](const std::string& to) {
    kept.Save(to);
    SaveBesidePictureModel(options, to);
  };
  RunModelTraining(task, options, name, use, corpus_hash, std::move(of), save, progress);
}

}  // namespace headlight
