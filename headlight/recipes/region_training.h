// Code shared by the recipes for models whose inputs are a text and the regions of an image: options, regions and
// folder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/hash.h"
#include "headlight/data/detection.h"
#include "headlight/image/box.h"
#include "headlight/image/image.h"
#include "headlight/models/vilbert.h"
#include "headlight/pipelines/object_detector.h"
#include "headlight/recipes/text_training.h"
#include "headlight/train/objectives/region_pairs.h"

namespace headlight {

struct RegionTraining : TextTraining {
  std::vector<std::string> boxes;           ///< files of boxes in the images
  std::string detector;                     ///< folder of a detector that finds boxes, instead of `boxes`
  bool skip_errors = false;                 ///< if true, skips damaged images
  std::optional<std::int64_t> region_size;  ///< pixels per side of a region, for a model from scratch [12]

  std::int64_t longest() const { return positions.value_or(64); }
  std::int64_t region_side() const { return region_size.value_or(12); }
};

inline constexpr TrainingDefaults kRegionDefaults = {.sizes = {.model = 128, .heads = 4, .layers = 4},
                                                     .dropout = 0.1,
                                                     .batch = 256,
                                                     .tuning_schedule = ScheduleKind::linear,
                                                     .tuning_rate = 5e-5,
                                                     .tuning_weight_decay = 0.01};

/// Describes the options, which must outlive the table. `train` describes the training files, and `batch` is the unit
/// of the batch size.
HEADLIGHT_API void Describe(OptionTable& table, RegionTraining& options, const std::string& train, const char* batch);

/// Makes all checks that are possible before anything is read, and locks the folder. Throws Error for options that
/// exclude each other.
[[nodiscard]] TrainingFolder BeginRegionTraining(RegionTraining& options);

/// The boxes of images with their classes, from `boxes` files or a detector.
class ImageBoxes {
 public:
  /// Takes either the files `boxes` or the folder of a detector. The other argument is empty.
  ImageBoxes(const std::vector<std::string>& boxes, const std::string& detector);

  const std::vector<std::string>& labels() const { return labels_; }
  /// Returns the boxes of the images with these paths. Throws Error naming an image without boxes in the files.
  std::vector<std::vector<LabeledBox>> Of(const std::vector<Image>& images,
                                          const std::vector<std::string>& paths) const;

 private:
  std::optional<ObjectDetector> detector_;
  std::map<std::string, DetectionExample> known_;  // boxes by the path of the image
  std::vector<std::string> labels_;
};

/// Returns true for each path whose image can be read. Reports errors in the same way as ReadableImages.
std::vector<bool> ReadablePaths(const std::vector<std::string>& paths, const RegionTraining& options,
                                const TrainingObserver& observer);

/// Returns the regions of the images at these paths with their classes, as the model's input.
std::vector<ImageRegions> RegionsOf(const std::vector<std::string>& paths, const ImageBoxes& boxes,
                                    const RegionTextEncoder& model);
void AddToHash(Hash64& hash, const std::vector<ImageRegions>& regions);

/// Returns the configuration of a ViLBERT from scratch, without heads. The text and image streams have the same number
/// of layers, and a co-attention layer precedes each layer of the upper half. In the paper's base model, co-attention
/// begins in the first layer, since regions are outputs of a deep network. Here regions are pixels, from which the
/// lower layers must extract features.
VilbertConfig NewVilbertConfig(const RegionTraining& options, const TrainingPlan& plan, std::int64_t vocabulary);

/// Runs RunModelTraining with these options.
HEADLIGHT_API TrainingResult RunRegionTraining(const TrainingTask& task, const RegionTraining& options,
                                               const TrainingPlan& plan, const char* name, const std::string& labels,
                                               std::uint64_t corpus_hash, const TrainingObserver& observer);

}  // namespace headlight
