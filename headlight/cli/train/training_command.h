// The surroundings of every command that trains: its progress, the signals that stop it, and its end.
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

// Thrown when a training was stopped by a signal and has saved all: the program ends with exit code 128 + signal.
struct EndedBySignal {
  int signal = 0;
};

// The signal that asks a training to save and stop; 0: none has come.
int InterruptedBy();

// A word, such as a path, as a shell reads it.
std::string ForShell(const std::string& word);

// Joins the training to the ranks of this run and calls train(observer), which shows its progress. Then draws
// training.svg in the training's folder, and says how `use`, a command such as "headlight tag", uses the model. Throws
// EndedBySignal if a signal has stopped the training.
void RunTrainingCommand(ModelTraining& options, const std::string& use,
                        const std::function<TrainingResult(const TrainingObserver&)>& train);

// Adds --rank-timeout, which every command that trains has.
void AddRankTimeout(OptionTable& command);

// Adds a command of a recipe.
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
