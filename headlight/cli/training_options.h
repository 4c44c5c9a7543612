// The options of every command that trains.
#pragma once

#include <string>
#include <vector>

#include "headlight/cli/choice.h"
#include "headlight/data/text_share.h"
#include "headlight/train/tasks/teacher_forcing.h"
#include "headlight/train/trainer.h"

namespace headlight {

// The option that bounds a batch, and its description.
struct BatchUnit {
  const char* name = "--batch-tokens";
  const char* description = "Tokens per batch: of the target, where there is one";
};

// Binds the options to variables that must outlive the command.
void AddTrainingOptions(OptionTable& command, TrainingOptions& training, BatchOptions& batches, ComputeChoice& compute,
                        bool& profile, bool& resume, const BatchUnit& unit = {});

// In the place of --valid, which then is not given; both, or none, is an Error.
void AddValidateSplit(OptionTable& command, double& share);
void CheckValidation(bool has_files, double share);
// Throws Error where of `things`, such as texts, none was read from the files, or none is in the share of them.
void CheckNotEmpty(std::size_t count, const char* things, const std::vector<std::string>& paths,
                   const TextShare& share);

// For the tasks that predict words.
void AddLabelSmoothing(OptionTable& command, double& label_smoothing);
void AddRDrop(OptionTable& command, TeacherForcingOptions& options);
// Where R-Drop is used, adds its settings to those that a resumed training must share.
void SetRDrop(const TeacherForcingOptions& options, Json& of);

// Sets an end where none is given. Throws Error for options that exclude each other.
void CompleteTrainingOptions(TrainingOptions& training);

}  // namespace headlight
