#include "headlight/recipes/image_training.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/option_checks.h"
#include "headlight/base/parallel.h"
#include "headlight/data/image_errors.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/io/model_folder.h"
#include "headlight/models/family.h"
#include "headlight/models/resnet.h"
#include "headlight/recipes/check_data.h"

namespace headlight {

void Describe(OptionTable& table, ImageTraining& options, const TrainingDefaults& defaults, const std::string& images,
              bool validates) {
  Describe(table, options, defaults,
           {.train = "Images to train on: " + images,
            .valid = validates ? "Images to validate on, in the same formats" : "",
            .from = "Folder of an image encoder to fine-tune",
            .batch = "--batch-size",
            .batch_description = "Images per batch"});
  DescribeMostPixels(table, options.most_pixels);
  const auto add_side = [&](const char* name, auto& value, const char* description, const char* usual) {
    table.Add(name, value, Between(1, 4096), description)
        .Excludes(table.Get("--from"))
        .Group(kModelGroup)
        .Default(usual);
  };
  add_side("--image-size", options.image_size, "Resize images to this many pixels per side", "224");
  add_side("--patch-size", options.patch_size, "Pixels per side of a patch", "16");
  table
      .Add("--drop-path", options.drop_path, NumberBelow(0, 1),
           "Probability that the last layer is skipped for an image, falling linearly to 0 at the first (stochastic "
           "depth)")
      .Default("0")
      .Group("Training");
}

TrainingWords WordsOfImages(std::string from) {
  return {.train =
              "Images to train on: files, folders of them at any depth, IDX files, or .csv, .jsonl and .tsv files of "
              "paths",
          .valid = "Images to validate on, in the same formats",
          .from = std::move(from),
          .batch = "--batch-size",
          .batch_description = "Images per batch"};
}

void DescribeSkipErrors(OptionTable& table, bool& skip_errors) {
  table.Add("--skip-errors", skip_errors, "Leave out images that cannot be read, each with a warning");
}

void DescribeMostPixels(OptionTable& table, std::int64_t& most_pixels) {
  table.Add("--most-pixels", most_pixels, Between(1, std::int64_t{1} << 40), "Refuse images with more pixels than this")
      .ShowDefault();
}

void DescribeResnet(OptionTable& table, ImageTraining& options) {
  const auto add = [&](const char* name, std::vector<std::int64_t>& values, std::int64_t most,
                       const char* description) {
    table.Add(name, values, Between(1, most), description)
        .Type("N")
        .Delimiter(',')
        .Excludes(table.Get("--from"))
        .Group(kModelGroup);
  };
  add("--channels", options.channels, 4096, "Channels per stage; selects a ResNet");
  add("--depths", options.depths, 256, "Layers, of two convolutions each, in each of its stages [2 in each]");
}

namespace {

std::int64_t ImageSide(const ImageTraining& options) { return options.image_size.value_or(224); }
std::int64_t PatchSide(const ImageTraining& options) { return options.patch_size.value_or(16); }

void NoteLeftOut(const std::vector<std::string>& errors, const TrainingObserver& observer) {
  for (const std::string& error : errors) Note(observer, "warning: left out: " + error);
}

template <typename Set, typename List>
Set ReadSet(List list, bool skip_errors, std::int64_t most_pixels, const TrainingObserver& observer,
            const TextShare& share) {
  const auto decode = [most_pixels](std::span<const std::byte> file, const std::string& name) {
    return DecodeImage(file, name, most_pixels);
  };
  std::vector<std::string> skipped;
  Set set(std::move(list), decode, share, ImageSet::kMemory, skip_errors ? &skipped : nullptr);
  NoteLeftOut(skipped, observer);
  return set;
}

}  // namespace

ImageSet ReadImageSet(ImageList list, bool skip_errors, std::int64_t most_pixels, const TrainingObserver& observer,
                      const TextShare& share) {
  return ReadSet<ImageSet>(std::move(list), skip_errors, most_pixels, observer, share);
}

ImageTextSet ReadImageTextSet(ImageTextList list, bool skip_errors, std::int64_t most_pixels,
                              const TrainingObserver& observer, const TextShare& share) {
  return ReadSet<ImageTextSet>(std::move(list), skip_errors, most_pixels, observer, share);
}

std::vector<bool> ReadableImages(std::size_t count, const std::function<void(std::size_t image)>& read,
                                 bool skip_errors, const TrainingObserver& observer) {
  std::vector<std::string> errors(count);
  ParallelFor(static_cast<std::int64_t>(count), [&](std::int64_t index) {
    const auto image = static_cast<std::size_t>(index);
    try {
      read(image);
    } catch (const Error& error) {
      if (error.cause() != ErrorCause::user) throw;
      errors[image] = error.what();
    }
  });
  std::vector<bool> readable(count);
  for (std::size_t image = 0; image < count; ++image) readable[image] = errors[image].empty();
  std::erase(errors, "");
  if (!skip_errors) ThrowImageErrors(errors);
  NoteLeftOut(errors, observer);
  return readable;
}

bool IsNameOfSet(std::string_view label) {
  constexpr std::string_view sets[] = {"train", "training", "val", "valid", "validation", "dev", "test", "testing"};
  return std::ranges::find(sets, label) != std::end(sets);
}

void NoteOtherImages(const std::vector<std::string>& sources, const TrainingObserver& observer) {
  if (const std::int64_t count = CountUnsupportedImages(sources); count > 0)
    Note(observer,
         fmt::format("{}: {} file{} left out: JPEG, PNG, WebP, BMP, GIF and TIFF are read, and not .avif, .heic, "
                     ".svg and the like",
                     fmt::join(sources, ", "), count, count == 1 ? " is" : "s are"));
}

void NoteCheckOfImages(const TrainingObserver& observer, const std::vector<std::string>& folders, bool classes) {
  std::error_code ignored;
  for (const std::string& folder : folders)
    if (!std::filesystem::is_directory(folder, ignored)) return;
  const std::string summary = CheckSummary({.files = folders, .classes = classes});
  if (!summary.empty()) Note(observer, summary);
}

void CompleteImageSizes(ImageTraining& options, const std::string& chosen_by) {
  if (options.channels.empty()) return Check(options.depths.empty(), "`depths` needs `channels`");
  for (const auto& [name, given] :
       {std::pair("layers", options.layers.has_value()), std::pair("model_dim", options.model_dim.has_value()),
        std::pair("heads", options.heads.has_value()), std::pair("ffn_dim", options.ffn_dim.has_value()),
        std::pair("patch_size", options.patch_size.has_value()), std::pair("dropout", options.dropout.has_value()),
        std::pair("attention_dropout", options.attention_dropout.has_value()),
        std::pair("drop_path", options.drop_path.has_value())})
    Check(!given, "`{}` is for a ViT; `channels`, {}, makes a ResNet", name, chosen_by);
  if (options.depths.empty()) options.depths.assign(options.channels.size(), 2);
  Check(options.depths.size() == options.channels.size(), "`depths` has {} stages, and `channels` {}",
        options.depths.size(), options.channels.size());
  options.patch_size = 1;
}

BegunTraining BeginImageTraining(ImageTraining& options, const TrainingDefaults& defaults,
                                 const TrainingObserver& observer, bool validates, std::string_view kind) {
  if (!options.from_scratch()) FamilyOf(OpenModelFolder(options.from), kind, nullptr);
  Check(ImageSide(options) >= 1 && PatchSide(options) >= 1, "`image_size` {} and `patch_size` {} must be at least 1",
        ImageSide(options), PatchSide(options));
  Check(ImageSide(options) % PatchSide(options) == 0, "`image_size` {}: is not a multiple of `patch_size` {}",
        ImageSide(options), PatchSide(options));
  TrainingPlan plan = CompleteTraining(options, defaults, validates);
  for (const std::vector<std::string>& sources : {options.train, options.valid}) NoteOtherImages(sources, observer);
  return {.plan = std::move(plan), .folder = TrainingFolder(options.out, options.resume, options.ranks)};
}

VitConfig NewVitConfig(const ImageTraining& options, const TrainingPlan& plan) {
  const ModelSizes& sizes = plan.sizes;
  VitConfig config;
  config.model = sizes.model;
  config.layers = sizes.layers;
  config.heads = sizes.heads;
  config.ffn = sizes.inner();
  config.image = {ImageSide(options), ImageSide(options)};
  config.patch = {PatchSide(options), PatchSide(options)};
  config.dropout = plan.dropout;
  config.attention_dropout = plan.attention_dropout;
  return config;
}

std::unique_ptr<ImageEncoder> NewImageModel(const ImageTraining& options, const TrainingPlan& plan,
                                            const std::vector<std::string>& labels) {
  const auto initialized = [&](auto config, auto make) {
    config.classes = !labels.empty();
    config.labels = labels;
    std::unique_ptr<ImageEncoder> model = make(config);
    model->parameters().Initialize(options.seed);
    return model;
  };
  if (options.channels.empty())
    return initialized(NewVitConfig(options, plan),
                       [](const VitConfig& config) { return std::make_unique<Vit>(config); });
  ResnetConfig config;
  config.embedding = options.channels.front();
  config.hidden = options.channels;
  config.depths = options.depths;
  config.bottleneck = false;
  return initialized(config, [](const ResnetConfig& sizes) { return std::make_unique<Resnet>(sizes); });
}

Json NewPreprocessorConfig(const ImageTraining& options) {
  const std::int64_t side = ImageSide(options);
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

ImageProcessor ProcessorOf(const ImageTraining& options) {
  return options.from_scratch()
             ? ReadImageProcessor(JsonView(NewPreprocessorConfig(options), "preprocessor_config.json"))
             : LoadImageProcessor(options.from);
}

void SaveBesideImageModel(const ImageTraining& options, const std::string& folder) {
  Json config;
  if (options.from_scratch())
    config = NewPreprocessorConfig(options);
  else if (const std::string own = options.from + "/preprocessor_config.json"; std::filesystem::exists(own))
    config = ReadJson(own).value();
  else
    config = ReadJson(options.from + "/processor_config.json")["image_processor"].value();
  WriteFile(folder + "/preprocessor_config.json", config.Text());
}

TrainingResult RunImageTraining(const TrainingTask& task, const ImageTraining& options, const TrainingPlan& plan,
                                const char* name, const std::string& labels, std::uint64_t corpus_hash, Json of,
                                const Model& kept, const TrainingObserver& observer) {
  of.Set("batch_size", plan.batches.batch_size);
  of.Set("drop_path", options.drop_path.value_or(0));
  if (options.from_scratch()) {
    of.Set("image_size", ImageSide(options));
    of.Set("patch_size", PatchSide(options));
  }
  if (!options.channels.empty()) {
    of.Set("channels", Json::Array(options.channels.begin(), options.channels.end()));
    of.Set("depths", Json::Array(options.depths.begin(), options.depths.end()));
  }
  const auto save = [&](const std::string& to) {
    kept.Save(to);
    SaveBesideImageModel(options, to);
  };
  return RunModelTraining(task, options, plan, name, labels, corpus_hash, std::move(of), save, observer);
}

}  // namespace headlight
