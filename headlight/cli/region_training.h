// Shared by the trainings of models that read a text with the regions of a picture: their options, the regions that
// boxes hold, and the folder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/hash.h"
#include "headlight/base/option_table.h"
#include "headlight/cli/text_training.h"
#include "headlight/data/detection.h"
#include "headlight/image/box.h"
#include "headlight/image/picture.h"
#include "headlight/models/vilbert.h"
#include "headlight/tasks/detector.h"
#include "headlight/train/tasks/region_pairs.h"

namespace headlight {

struct RegionTrainingOptions : TextTrainingOptions {
  RegionTrainingOptions() {
    sizes = {.model = 128, .heads = 4, .layers = 4};
    batches.batch_tokens = 256;  // pairs
    positions = 64;
  }

  std::vector<std::string> boxes;
  std::string detector;
  std::int64_t region_side = 12;  // of a model from scratch
};

// Binds the options to variables that must outlive the command. `train` describes the files, `unit` what a batch has.
void AddRegionTrainingOptions(OptionTable& command, RegionTrainingOptions& options, const std::string& train,
                              const char* unit);

// Completes them, and checks all that can be known before anything is read. Throws Error for options that exclude each
// other and for a folder that is taken.
[[nodiscard]] TrainingFolder BeginRegionTraining(RegionTrainingOptions& options);

// The boxes of pictures, which --boxes has or --detector finds, with their classes.
class PictureBoxes {
 public:
  // Of the files of --boxes, or found by the detector in a folder, of which one is given.
  PictureBoxes(const std::vector<std::string>& boxes, const std::string& detector);

  const std::vector<std::string>& labels() const { return labels_; }
  // Of pictures with these paths. Throws Error naming a picture that no file of --boxes has.
  std::vector<std::vector<LabelledBox>> Of(const std::vector<Picture>& pictures,
                                           const std::vector<std::string>& paths) const;

 private:
  std::optional<Detector> detector_;
  std::map<std::string, DetectionExample> known_;  // by the picture's path
  std::vector<std::string> labels_;
};

// The regions of the pictures at these paths, with their classes, as the model reads them.
std::vector<PictureRegions> RegionsOf(const std::vector<std::string>& paths, const PictureBoxes& boxes,
                                      const RegionTextEncoder& model);
void AddToHash(Hash64& hash, const std::vector<PictureRegions>& regions);

// A ViLBERT from scratch without heads. The text and the picture have the same number of layers, and a layer of
// co-attention precedes each of the upper half. In the paper's base model the regions meet the text at once: they are
// the output of a deep network, where these are pixels, of which a layer must first make a kind and a colour.
VilbertConfig NewVilbertConfig(const RegionTrainingOptions& options, std::int64_t vocabulary);

// Trains. `name`, `use` and `corpus_hash` are as RunModelTraining's.
void RunRegionTraining(const TrainingTask& task, RegionTrainingOptions& options, const char* name,
                       const std::string& use, std::uint64_t corpus_hash, TrainingProgress& progress);

}  // namespace headlight
