// Shared by the trainings on images: their options, a ViT or a ResNet from scratch, and the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/data/image_texts.h"
#include "headlight/data/images.h"
#include "headlight/image/decoding/decode.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/image_encoder.h"
#include "headlight/models/vit.h"
#include "headlight/recipes/model_training.h"
#include "headlight/recipes/training_folder.h"

namespace headlight {

struct ImageTraining : ModelTraining {
  std::optional<std::int64_t> image_size, patch_size;  ///< pixels of a side, of a model from scratch [224, 16]
  /// Of a ResNet's stages; without channels a ViT is trained.
  std::vector<std::int64_t> channels, depths;
  std::optional<double> drop_path;         ///< the probability that the last layer is skipped [0]
  bool skip_errors = false;                ///< whether damaged images are left out
  std::int64_t most_pixels = kMostPixels;  ///< larger images are refused before they are decoded
};

inline constexpr TrainingDefaults kImageDefaults = {.sizes = {.model = 192, .heads = 3, .layers = 12},
                                                    .batch = 128,
                                                    .tuning_epochs = 10,
                                                    .weight_decay = 0.05,
                                                    .tuning_weight_decay = 0.05,
                                                    .beta2 = 0.999,
                                                    .epsilon = 1e-8};

/// Describes the options, which must outlive the table. `images` describes what is trained on; `validates`: whether
/// there are options for what to validate on.
HEADLIGHT_API void Describe(OptionTable& table, ImageTraining& options, const TrainingDefaults& defaults,
                            const std::string& images, bool validates);
/// How a training on images without labels or texts describes its files.
TrainingWords WordsOfImages(std::string from);
void DescribeSkipErrors(OptionTable& table, bool& skip_errors);
void DescribeMostPixels(OptionTable& table, std::int64_t& most_pixels);
/// --channels and --depths, of a ResNet.
void DescribeResnet(OptionTable& table, ImageTraining& options);

/// The set of these images, perhaps with texts. With `skip_errors` damaged ones are left out, each with a
/// warning.
ImageSet ReadImageSet(ImageList list, bool skip_errors, std::int64_t most_pixels, const TrainingObserver& observer,
                      const TextShare& share = {});
ImageTextSet ReadImageTextSet(ImageTextList list, bool skip_errors, std::int64_t most_pixels,
                              const TrainingObserver& observer, const TextShare& share);

/// Calls read(i) for each of `count` images, on all threads, and returns for which it did not throw. Throws Error that
/// names the others, or with `skip_errors` notes each.
std::vector<bool> ReadableImages(std::size_t count, const std::function<void(std::size_t image)>& read,
                                 bool skip_errors, const TrainingObserver& observer);

/// Whether a class has the name of a set of images, such as train or test.
bool IsNameOfSet(std::string_view label);

/// Notes how many files of these folders are images in formats that are not read.
void NoteOtherImages(const std::vector<std::string>& sources, const TrainingObserver& observer);

/// A plan, and the folder that is held meanwhile.
struct BegunTraining {
  TrainingPlan plan;
  TrainingFolder folder;
};

/// Completes the options, and checks all that can be known before images are read. Throws Error for options that
/// exclude each other, if the folder of `from` is of another kind, and for a folder that is taken.
[[nodiscard]] BegunTraining BeginImageTraining(ImageTraining& options, const TrainingDefaults& defaults,
                                               const TrainingObserver& observer, bool validates,
                                               std::string_view kind = ImageEncoder::kKind);

/// Checks and completes the sizes of a model from scratch. `chosen_by` says where `channels` are from, if they were not
/// given.
void CompleteImageSizes(ImageTraining& options, const std::string& chosen_by = "which is given");

/// The configuration of a ViT from scratch.
VitConfig NewVitConfig(const ImageTraining& options, const TrainingPlan& plan);
/// The model, initialised, with a head for classes if there are labels, and its preprocessor_config.json.
std::unique_ptr<ImageEncoder> NewImageModel(const ImageTraining& options, const TrainingPlan& plan,
                                            const std::vector<std::string>& labels);
Json NewPreprocessorConfig(const ImageTraining& options);

/// How images are prepared: as the folder of `from` says, or NewPreprocessorConfig.
ImageProcessor ProcessorOf(const ImageTraining& options);

/// Completes a folder that the model was saved into, with preprocessor_config.json.
void SaveBesideImageModel(const ImageTraining& options, const std::string& folder);

/// Trains, as RunModelTraining, and saves the model `kept`.
HEADLIGHT_API TrainingResult RunImageTraining(const TrainingTask& task, const ImageTraining& options,
                                              const TrainingPlan& plan, const char* name, const std::string& labels,
                                              std::uint64_t corpus_hash, Json of, const Model& kept,
                                              const TrainingObserver& observer);

}  // namespace headlight
