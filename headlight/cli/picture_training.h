// Shared by the trainings on pictures: their options, a ViT from scratch, and the run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/cli/training_folder.h"
#include "headlight/cli/training_options.h"
#include "headlight/cli/training_progress.h"
#include "headlight/data/text_share.h"
#include "headlight/image/processor.h"
#include "headlight/io/config_table.h"
#include "headlight/models/vit.h"
#include "headlight/nn/picture_encoder.h"

namespace headlight {

// Of a ViT that is trained from scratch.
struct PictureModelSizes {
  std::int64_t picture = 224, patch = 16, model = 192, ffn = 0;  // pixels of a side; ffn 0: 4 times the model's
  std::int32_t heads = 3;
  int layers = 12;

  std::int64_t inner() const { return ffn > 0 ? ffn : 4 * model; }
};

struct PictureTrainingOptions {
  std::vector<std::string> train, valid;
  double validate_split = 0;
  std::string out, from;
  PictureModelSizes sizes;
  std::optional<double> dropout, attention_dropout;
  double drop_path = 0;
  TrainingOptions training;
  BatchOptions batches{.batch_tokens = 128};  // pictures
  ComputeChoice compute = ComputeChoice::automatic;
  bool profile = false, resume = false;
  CLI::App* command = nullptr;  // whose options these are

  bool from_scratch() const { return from.empty(); }
  // The paths to validate on, and which pictures of them are learned from and validated on.
  const std::vector<std::string>& validation() const { return valid.empty() ? train : valid; }
  TextShare learned() const { return {validate_split, training.seed, false}; }
  TextShare validated() const { return {validate_split, training.seed, true}; }
  ChosenDropout chosen_dropout() const { return {dropout, attention_dropout}; }
};

// The group of the options that are of a model from scratch alone.
inline constexpr const char* kPictureModelGroup = "A model from scratch";

// Binds the options to variables that must outlive the command; `pictures` describes what is learned from. Options for
// what to validate on are added where `validates`.
void AddPictureTrainingOptions(CLI::App& command, PictureTrainingOptions& options, const std::string& pictures,
                               bool validates);

// Values of options by their names, which hold where the user gives none.
using OptionValues = std::map<std::string, std::string>;
// Those of a model from scratch are left out where it is not, and --epochs where another end is given.
void SetUnlessGiven(CLI::App& command, const TrainingOptions& training, bool from_scratch, const OptionValues& values);
void SetUnlessGiven(const PictureTrainingOptions& options, const OptionValues& values);

// Completes them, and checks all that can be known before pictures are read. Throws Error for options that exclude each
// other and for a folder that is taken.
[[nodiscard]] TrainingFolder BeginPictureTraining(PictureTrainingOptions& options);

// A ViT from scratch, initialised, with a head for classes where there are labels, and its preprocessor_config.json.
std::unique_ptr<Vit> NewVit(const PictureTrainingOptions& options, const std::vector<std::string>& labels);
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
