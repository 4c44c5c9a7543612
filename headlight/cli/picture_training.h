// Shared by the trainings on pictures: their options, a ViT or a ResNet from scratch, and the run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/cli/model_training.h"
#include "headlight/cli/training_folder.h"
#include "headlight/data/picture_texts.h"
#include "headlight/data/pictures.h"
#include "headlight/image/processor.h"
#include "headlight/kinds/picture_encoder.h"
#include "headlight/models/vit.h"

namespace headlight {

struct PictureTrainingOptions : ModelTrainingOptions {
  PictureTrainingOptions() {
    sizes = {.model = 192, .heads = 3, .layers = 12};
    tuning_epochs = 10;
    batches.batch_tokens = 128;  // pictures
  }

  std::int64_t picture = 224, patch = 16;      // of a model from scratch: pixels of a side
  std::vector<std::int64_t> channels, depths;  // of a ResNet's stages; without channels a ViT is trained
  double drop_path = 0;
  bool skip_errors = false;
};

inline constexpr const char* kPictureModelGroup = kModelGroup;

// Binds the options to variables that must outlive the command; `pictures` describes what is learned from. Options for
// what to validate on are added where `validates`.
void AddPictureTrainingOptions(OptionTable& command, PictureTrainingOptions& options, const std::string& pictures,
                               bool validates);

/// Adds --skip-errors, for trainings on sets of pictures.
void AddSkipPictures(OptionTable& command, bool& skip_errors);

/// The set of these pictures, perhaps with texts. With `skip_errors` damaged ones are left out, each with a warning.
PictureSet ReadPictureSet(PictureList list, bool skip_errors, TrainingProgress& progress, const TextShare& share = {});
PictureTextSet ReadPictureTextSet(PictureTextList list, bool skip_errors, TrainingProgress& progress,
                                  const TextShare& share);

// Completes them, and checks all that can be known before pictures are read. Throws Error for options that exclude each
// other, where the folder of --from is of another kind, and for a folder that is taken.
[[nodiscard]] TrainingFolder BeginPictureTraining(PictureTrainingOptions& options,
                                                  std::string_view kind = PictureEncoder::kKind);

// Adds --channels and --depths, of a ResNet.
void AddResnetOptions(OptionTable& command, PictureTrainingOptions& options);
// Checks the sizes of a model from scratch. `chosen_by` says where --channels are from, if they were not given.
void CompletePictureSizes(PictureTrainingOptions& options, const std::string& chosen_by = "which is given");

// The configuration of a ViT from scratch.
VitConfig NewVitConfig(const PictureTrainingOptions& options);
// The model, initialised, with a head for classes where there are labels, and its preprocessor_config.json.
std::unique_ptr<PictureEncoder> NewPictureModel(const PictureTrainingOptions& options,
                                                const std::vector<std::string>& labels);
Json NewPreprocessorConfig(const PictureTrainingOptions& options);

// How pictures are prepared: as the folder of --from says it, or NewPreprocessorConfig.
PictureProcessor ProcessorOf(const PictureTrainingOptions& options);

// Completes a folder that the model was saved into, with preprocessor_config.json. Nothing else that stands beside the
// model of --from is of the new one.
void SaveBesidePictureModel(const PictureTrainingOptions& options, const std::string& folder);

// Trains. `name` and `of` say what the run is, with the hash of what it learns from; `use` is as TrainingRun's. `save`
// saves the model that is kept.
void RunPictureTraining(const TrainingTask& task, PictureTrainingOptions& options, const char* name,
                        const std::string& use, std::uint64_t corpus_hash, Json of, const Model& kept,
                        TrainingProgress& progress);

}  // namespace headlight
