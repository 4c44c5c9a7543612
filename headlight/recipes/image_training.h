// Code shared by training runs on images: options, a ViT or ResNet from scratch, and the training loop.
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
  std::optional<std::int64_t> image_size, patch_size;  ///< pixels per side, for a model from scratch [224, 16]
  /// The stages of a ResNet. Without channels, a ViT is trained.
  std::vector<std::int64_t> channels, depths;
  std::optional<double> drop_path;         ///< probability of skipping the last layer (stochastic depth) [0]
  bool skip_errors = false;                ///< if true, skips damaged images
  std::int64_t most_pixels = kMostPixels;  ///< larger images cause errors before they are decoded
};

inline constexpr TrainingDefaults kImageDefaults = {.sizes = {.model = 192, .heads = 3, .layers = 12},
                                                    .batch = 128,
                                                    .tuning_epochs = 10,
                                                    .weight_decay = 0.05,
                                                    .tuning_weight_decay = 0.05,
                                                    .beta2 = 0.999,
                                                    .epsilon = 1e-8};

/// Describes the options, which must outlive the table. `images` describes the training files. If `validates` is true,
/// there are options for validation.
HEADLIGHT_API void Describe(OptionTable& table, ImageTraining& options, const TrainingDefaults& defaults,
                            const std::string& images, bool validates);
/// Returns the help texts for files of images without labels or texts.
TrainingWords WordsOfImages(std::string from);
void DescribeSkipErrors(OptionTable& table, bool& skip_errors);
void DescribeMostPixels(OptionTable& table, std::int64_t& most_pixels);
/// Describes --channels and --depths, for a ResNet.
void DescribeResnet(OptionTable& table, ImageTraining& options);

/// Reads the listed images and their texts, if any. If `skip_errors` is true, damaged images are skipped with a
/// warning.
ImageSet ReadImageSet(ImageList list, bool skip_errors, std::int64_t most_pixels, const TrainingObserver& observer,
                      const TextShare& share = {});
ImageTextSet ReadImageTextSet(ImageTextList list, bool skip_errors, std::int64_t most_pixels,
                              const TrainingObserver& observer, const TextShare& share);

/// Calls read(i) for each of `count` images on all threads. Returns true for each image whose call succeeded. Throws
/// Error naming the images whose calls failed. If `skip_errors` is true, reports each of these images in a note
/// instead.
std::vector<bool> ReadableImages(std::size_t count, const std::function<void(std::size_t image)>& read,
                                 bool skip_errors, const TrainingObserver& observer);

/// Returns true if a class is named like a split, such as train or test.
bool IsNameOfSet(std::string_view label);

/// Reports the number of images in unsupported formats in these folders.
void NoteOtherImages(const std::vector<std::string>& sources, const TrainingObserver& observer);

/// Reports the CheckSummary of image folders. Does nothing for tables and other files. If `classes` is true, the
/// subfolders are classes.
void NoteCheckOfImages(const TrainingObserver& observer, const std::vector<std::string>& folders, bool classes);

/// A plan, and the folder that is locked during training.
struct BegunTraining {
  TrainingPlan plan;
  TrainingFolder folder;
};

/// Completes the options, and makes all checks that are possible before images are read. Throws Error for options that
/// exclude each other, for a `from` folder with another kind of model, and if the output folder is in use.
[[nodiscard]] BegunTraining BeginImageTraining(ImageTraining& options, const TrainingDefaults& defaults,
                                               const TrainingObserver& observer, bool validates,
                                               std::string_view kind = ImageEncoder::kKind);

/// Completes and checks the sizes of a model from scratch. `chosen_by` describes the source of `channels` in error
/// messages.
void CompleteImageSizes(ImageTraining& options, const std::string& chosen_by = "which is given");

/// Returns the configuration of a ViT from scratch.
VitConfig NewVitConfig(const ImageTraining& options, const TrainingPlan& plan);
/// Return the initialized model, with a classification head if there are labels, and its preprocessor_config.json.
std::unique_ptr<ImageEncoder> NewImageModel(const ImageTraining& options, const TrainingPlan& plan,
                                            const std::vector<std::string>& labels);
Json NewPreprocessorConfig(const ImageTraining& options);

/// Returns the image processor of the folder `from`, or without `from` an image processor with the settings of
/// NewPreprocessorConfig.
ImageProcessor ProcessorOf(const ImageTraining& options);

/// Writes preprocessor_config.json to a folder with the saved model.
void SaveBesideImageModel(const ImageTraining& options, const std::string& folder);

/// Runs RunModelTraining, and saves the model `kept`.
HEADLIGHT_API TrainingResult RunImageTraining(const TrainingTask& task, const ImageTraining& options,
                                              const TrainingPlan& plan, const char* name, const std::string& labels,
                                              std::uint64_t corpus_hash, Json of, const Model& kept,
                                              const TrainingObserver& observer);

}  // namespace headlight
