// Shared by the trainings of models that read a text with the regions of an image: their options, the regions that
// boxes hold, and the folder.
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
  std::string detector;                     ///< or the folder of a detector that finds them
  bool skip_errors = false;                 ///< whether damaged images are left out
  std::optional<std::int64_t> region_size;  ///< pixels of a side, of a model from scratch [12]

  std::int64_t longest() const { return positions.value_or(64); }
  std::int64_t region_side() const { return region_size.value_or(12); }
};

inline constexpr TrainingDefaults kRegionDefaults = {.sizes = {.model = 128, .heads = 4, .layers = 4},
                                                     .dropout = 0.1,
                                                     .batch = 256,
                                                     .tuning_schedule = ScheduleKind::linear,
                                                     .tuning_rate = 5e-5,
                                                     .tuning_weight_decay = 0.01};

/// Describes the options, which must outlive the table. `train` describes the files, `batch` what a batch has.
HEADLIGHT_API void Describe(OptionTable& table, RegionTraining& options, const std::string& train, const char* batch);

/// Checks all that can be known before anything is read, and takes the folder. Throws Error for options that exclude
/// each other.
[[nodiscard]] TrainingFolder BeginRegionTraining(RegionTraining& options);

// The boxes of images, which `boxes` has or `detector` finds, with their classes.
class ImageBoxes {
 public:
  // Of the files of `boxes`, or found by the detector in a folder, of which one is given.
  ImageBoxes(const std::vector<std::string>& boxes, const std::string& detector);

  const std::vector<std::string>& labels() const { return labels_; }
  // Of images with these paths. Throws Error naming an image that no file of `boxes` has.
  std::vector<std::vector<LabelledBox>> Of(const std::vector<Image>& images,
                                           const std::vector<std::string>& paths) const;

 private:
  std::optional<ObjectDetector> detector_;
  std::map<std::string, DetectionExample> known_;  // by the image's path
  std::vector<std::string> labels_;
};

// Which of the images at these paths can be read. Throws Error or notes as ReadableImages does.
std::vector<bool> ReadablePaths(const std::vector<std::string>& paths, const RegionTraining& options,
                                const TrainingObserver& observer);

// The regions of the images at these paths, with their classes, as the model reads them.
std::vector<ImageRegions> RegionsOf(const std::vector<std::string>& paths, const ImageBoxes& boxes,
                                    const RegionTextEncoder& model);
void AddToHash(Hash64& hash, const std::vector<ImageRegions>& regions);

// A ViLBERT from scratch without heads. The text and the image have the same number of layers, and a layer of
// co-attention precedes each of the upper half. In the paper's base model the regions meet the text at once: they are
// the output of a deep network, where these are pixels, of which a layer must first make a kind and a colour.
VilbertConfig NewVilbertConfig(const RegionTraining& options, const TrainingPlan& plan, std::int64_t vocabulary);

/// Trains, as RunModelTraining.
HEADLIGHT_API TrainingResult RunRegionTraining(const TrainingTask& task, const RegionTraining& options,
                                               const TrainingPlan& plan, const char* name, const std::string& labels,
                                               std::uint64_t corpus_hash, const TrainingObserver& observer);

}  // namespace headlight
