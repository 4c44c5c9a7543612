// The surroundings of every training's loop: its folder, its log and its end.
#pragma once

#include <functional>
#include <string>

#include "headlight/base/compute.h"
#include "headlight/base/json.h"
#include "headlight/cli/training_progress.h"
#include "headlight/train/trainer.h"

namespace headlight {

// A warm-up of 200 steps, or of a tenth of a training of at most 400.
constexpr std::int64_t kWarmupUnlessGiven = -1;

struct TrainingRun {
  std::string out;                                      // the folder of the model and of all that the training keeps
  Json of;                                              // what a resumed run must have in common besides the options
  std::function<void(const std::string& folder)> save;  // the model as it is, into a folder that exists
  Compute compute = Compute::float32;                   // of matrix products; weights and sums stay float32
  bool resume = false;
  bool profile = false;  // tells after some steps where their time went
};

// A training's folder is free, or holds a training that is to be resumed: else an Error.
void CheckTrainingFolder(const std::string& out, bool resume);
// Makes the folder, and marks it as a training's.
void BeginTraining(const std::string& out);
std::string CheckpointOf(const std::string& out);

// out/ becomes a model folder, the best on the validation set; beside it stand last/ (the model of the last step),
// checkpoint/, metrics.jsonl, TensorBoard's event file and training.svg. A schedule that falls to zero is given its
// end.
TrainingResult RunTraining(const TrainingTask& task, TrainingOptions& options, const TrainingRun& run,
                           TrainingProgress& progress);

// Set by the first Ctrl-C, by a request to end and by a terminal that goes away: long work saves and stops.
bool Interrupted();
void CatchInterrupts();

}  // namespace headlight
