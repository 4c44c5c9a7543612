// The surroundings of every training's loop: its folder, its log and its end.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "headlight/base/compute.h"
#include "headlight/base/json.h"
#include "headlight/base/option_table.h"
#include "headlight/cli/training_progress.h"
#include "headlight/train/trainer.h"

namespace headlight {

// TrainingRun::longest_warmup steps, or a tenth of a training of at most twice as many; with --resume, as it began.
constexpr std::int64_t kWarmupUnlessGiven = -1;

struct TrainingRun {
  std::string out;                                      // the folder of the model and of all that the training keeps
  std::string use;                                      // the command that uses the model, such as "headlight tag"
  Json of;                                              // what a resumed run must have in common besides the options
  std::vector<std::string> validation = {};             // the files that scores depend on; a resumed run needs the same
  const OptionTable* command = nullptr;                 // whose options errors name
  std::function<void(const std::string& folder)> save;  // the model as it is, into a folder that exists
  Compute compute = Compute::float32;                   // of matrix products; weights and sums stay float32
  bool resume = false;
  bool profile = false;  // tells after some steps where their time went
  std::int64_t longest_warmup = 200;
  bool fine_tuning = false;  // from a model that was trained before: the warm-up is a tenth of any training
};

// Thrown when a training was stopped by a signal and has saved all: the program ends with exit code 128 + signal.
struct EndedBySignal {
  int signal = 0;
};

// The signal that asks a training to save and stop; 0: none has come.
int InterruptedBy();

// A word, such as a path, as a shell reads it.
std::string ForShell(const std::string& word);

// Throws Error where a file of these cannot be opened. For use before any is read, which takes long.
void CheckReadable(const std::vector<std::string>& paths);
// Throws Error for a pipe or standard input among files that are read more than once.
void CheckNoPipe(const std::vector<std::string>& paths);

// out/, whose TrainingFolder is held, becomes a model folder, the best on the validation set; beside it stand last/
// (the model of the last step), checkpoint/, metrics.jsonl, TensorBoard's event file and training.svg. A schedule that
// falls to zero is given its end. Throws EndedBySignal where it is stopped by one.
TrainingResult RunTraining(const TrainingTask& task, TrainingOptions& options, const TrainingRun& run,
                           TrainingProgress& progress);

}  // namespace headlight
