#include "headlight/cli/picture_training.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/cli/checks.h"
#include "headlight/cli/training_run.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"

namespace headlight {

void AddPictureTrainingOptions(CLI::App& command, PictureTrainingOptions& options, const std::string& pictures,
                               bool validates) {
  options.training.schedule = {.kind = ScheduleKind::cosine, .warmup = kWarmupUnlessGiven, .peak = 1e-3};
  options.training.adam.beta2 = 0.999;
  options.training.adam.epsilon = 1e-8;
  options.training.adam.weight_decay = 0.05;
  options.training.adam.clip_norm = 1;
  options.command = &command;
  command.add_option("--train", options.train, "Pictures to train on: " + pictures)->required()->type_name("FILE");
  if (validates) {
    command.add_option("--valid", options.valid, "Pictures to validate on, likewise")->type_name("FILE");
    AddValidateSplit(command, options.validate_split);
  }
  command.add_option("--out", options.out, "Folder for the model and the training's state")
      ->required()
      ->type_name("DIR");
  CLI::Option* from = command.add_option("--from", options.from, "Folder of an encoder of pictures to fine-tune");
  from->check(Folder())->type_name("DIR");
  PictureModelSizes& sizes = options.sizes;
  const auto add_size = [&](const char* name, auto& value, const char* description, int most = 1 << 15) {
    return AddNumber(command, name, value, Between(1, most), description)->excludes(from)->group(kPictureModelGroup);
  };
  add_size("--image-size", sizes.picture, "Pixels of a side, to which pictures are resized", 4096)
      ->capture_default_str();
  add_size("--patch-size", sizes.patch, "Pixels of a patch's side", 4096)->capture_default_str();
  add_size("--layers", sizes.layers, "Layers")->capture_default_str();
  add_size("--model-dim", sizes.model, "Size of embeddings and layers")->capture_default_str();
  add_size("--heads", sizes.heads, "Attention heads")->capture_default_str();
  add_size("--ffn-dim", sizes.ffn, "Inner size of the feed-forward network [4 times the model's]");
  const auto add = [&](const char* name, auto& value, const char* description) {
    return AddNumber(command, name, value, NumberBelow(0, 1), description)->group("Training");
  };
  add("--dropout", options.dropout, "Dropout of embeddings, sublayers and attention [0; with --from the model's own]");
  add("--attention-dropout", options.attention_dropout, "Dropout of attention weights [as --dropout]");
  add("--drop-path", options.drop_path,
      "Probability that a picture leaves out the last layer, less in earlier ones (stochastic depth)")
      ->capture_default_str();
  AddTrainingOptions(command, options.training, options.batches, options.compute, options.profile, options.resume,
                     {"--batch-size", "Pictures per batch"});
  const auto describe = [&](const char* name, const char* description) {
    command.get_option(name)->default_str("")->description(description);
  };
  describe("--epochs", "Stop after N epochs [20, unless another end is given; with --from 10]");
  describe("--warmup", "Steps of linear warm-up to the peak [200, or a tenth of at most 400; with --from a tenth]");
  describe("--learning-rate", "Peak learning rate [0.001; with --from 0.0001]");
}

void SetUnlessGiven(const PictureTrainingOptions& options, const OptionValues& values) {
  SetUnlessGiven(*options.command, options.training, options.from_scratch(), values);
}

void SetUnlessGiven(CLI::App& command, const TrainingOptions& training, bool from_scratch, const OptionValues& values) {
  const bool has_end = training.epochs > 0 || training.steps > 0 || training.minutes > 0;
  for (const auto& [name, value] : values) {
    CLI::Option* option = command.get_option(name);
    const bool is_size = option->get_group() == kPictureModelGroup;
    if (!option->empty() || (is_size && !from_scratch) || (name == "--epochs" && has_end)) continue;
    option->add_result(value);
    option->run_callback();
  }
}

TrainingFolder BeginPictureTraining(PictureTrainingOptions& options) {
  if (!options.from_scratch()) {
    SetUnlessGiven(options, {{"--learning-rate", "0.0001"}, {"--epochs", "10"}});
    CheckKind<PictureEncoder>(options.from);
  }
  const PictureModelSizes& sizes = options.sizes;
  Check(sizes.picture % sizes.patch == 0, "--image-size {}: is not a multiple of --patch-size {}", sizes.picture,
        sizes.patch);
  CompleteTrainingOptions(options.training);
  if (options.command->get_option_no_throw("--valid") != nullptr)
    CheckValidation(!options.valid.empty(), options.validate_split);
  Chosen(options.compute);
  options.batches.seed = options.training.seed;
  options.training.schedule.model = sizes.model;
  return TrainingFolder(options.out, options.resume);
}

std::unique_ptr<Vit> NewVit(const PictureTrainingOptions& options, const std::vector<std::string>& labels) {
  const PictureModelSizes& sizes = options.sizes;
  VitConfig config;
  config.model = sizes.model;
  config.layers = sizes.layers;
  config.heads = sizes.heads;
  config.ffn = sizes.inner();
  config.picture = {sizes.picture, sizes.picture};
  config.patch = {sizes.patch, sizes.patch};
  config.dropout = options.dropout.value_or(0);
  config.attention_dropout = options.attention_dropout.value_or(config.dropout);
  config.classes = !labels.empty();
  config.labels = labels;
  auto model = std::make_unique<Vit>(config);
  model->parameters().Initialise(options.training.seed);
  return model;
}

Json NewPreprocessorConfig(const PictureTrainingOptions& options) {
  const std::int64_t side = options.sizes.picture;
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
  of.Set("task", name);
  of.Set("corpus_hash", fmt::format("{:016x}", corpus_hash));
  of.Set("parameters", task.model->parameters().count());
  of.Set("batch_size", options.batches.batch_tokens);
  of.Set("drop_path", options.drop_path);
  of.Set("dropout", options.dropout ? Json(*options.dropout) : Json());
  of.Set("attention_dropout", options.attention_dropout ? Json(*options.attention_dropout) : Json());
  if (options.from_scratch()) {
    const PictureModelSizes& sizes = options.sizes;
    of.Set("image_size", sizes.picture);
    of.Set("patch_size", sizes.patch);
    of.Set("layers", sizes.layers);
    of.Set("model_dim", sizes.model);
    of.Set("heads", sizes.heads);
    of.Set("ffn_dim", sizes.inner());
  }
  RunTraining(task, options.training,
              {.out = options.out,
               .use = use,
               .of = std::move(of),
               .save =
                   [&](const std::string& to) {
                     kept.Save(to);
                     SaveBesidePictureModel(options, to);
                   },
               .compute = Chosen(options.compute),
               .resume = options.resume,
               .profile = options.profile,
               .fine_tuning = !options.from_scratch()},
              progress);
}

}  // namespace headlight
