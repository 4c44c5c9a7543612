// Declares functions that all training commands share: progress, signals that stop training, and the final output.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "headlight/cli/program/commands.h"
#include "headlight/cli/program/mpi_ranks.h"
#include "headlight/cli/train/training_progress.h"
#include "headlight/recipes/model_training.h"

namespace headlight {

// Thrown after a signal has stopped training and the checkpoint is saved. The program ends with exit code 128 + signal.
struct EndedBySignal {
  int signal = 0;
};

// Returns the signal that stops the training, or 0.
int InterruptedBy();

// Quotes a word, such as a path, for a shell if necessary.
std::string ForShell(const std::string& word);

// Calls train(observer) on all ranks of this run and shows its progress. Then draws training.svg in the run's folder,
// and prints the command that uses the model: `use`, such as "headlight tag", followed by the folder. Throws
// EndedBySignal if a signal has stopped the training.
void RunTrainingCommand(ModelTraining& options, const std::string& use,
                        const std::function<TrainingResult(const TrainingObserver&)>& train);

// Adds --rank-timeout, which every training command has.
void AddRankTimeout(OptionTable& command);

// Adds a command that trains with a recipe.
template <typename Options>
Command& AddTraining(Command& group, std::string name, std::string description, const char* use,
                     TrainingResult (*train)(Options options, const TrainingObserver& observer)) {
  Command& command = group.AddCommand(std::move(name), std::move(description));
  const auto options = std::make_shared<Options>();
  Describe(command, *options);
  AddRankTimeout(command);
  command.run = [options, use, train] {
    RunTrainingCommand(*options, use, [&](const TrainingObserver& observer) { return train(*options, observer); });
  };
  return command;
}

}  // namespace headlight
