// Runs the training of a recipe: its folder, log, checkpoints and resuming.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headlight/base/compute.h"
#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/train/trainer.h"

namespace headlight {

/// The default warm-up: TrainingRun::longest_warmup steps. If the training has at most twice as many steps, the warm-up
/// is a tenth of the training. A resumed run keeps its warm-up.
inline constexpr std::int64_t kWarmupUnlessGiven = -1;

struct TrainingRun {
  std::string out;                           ///< folder for the model and the state of the training
  Json of;                                   ///< additional settings that must not change when a run is resumed
  std::vector<std::string> validation = {};  ///< the validation files; a resumed run needs the same files
  std::function<void(const std::string& folder)> save;  ///< saves the current model into an existing folder
  Compute compute = Compute::float32;                   ///< type of GEMMs; weights and sums are always float32
  bool resume = false;
  bool profile = false;  ///< if true, reports a time profile in a note after some steps
  std::int64_t longest_warmup = 200;
  bool fine_tuning = false;  ///< if true, starts from a trained model: the warm-up is a tenth of the training
  std::string labels = "target tokens";  ///< the unit of StepReport::labels
};

/// Throws Error if one of the files cannot be opened. Should be called before the files are read, which is slow.
void CheckReadable(const std::vector<std::string>& paths);
/// Throws Error for a pipe or standard input among files that are read more than once.
void CheckNoPipe(const std::vector<std::string>& paths);

/// Trains into the folder run.out, which a TrainingFolder must have locked. The folder then has the best model on the
/// validation set, last/ (the model of the last step), checkpoint/, metrics.jsonl and TensorBoard's event file. Sets
/// the end of a schedule that decreases to zero. Throws Error if a resumed run differs from the original run.
HEADLIGHT_API TrainingResult RunTraining(const TrainingTask& task, TrainingOptions options, const TrainingRun& run,
                                         const TrainingObserver& observer);

/// Freezes the parameters that a training run has frozen, so that they match its checkpoint. `run` is from the
/// checkpoint's state.
HEADLIGHT_API void FreezeAsTrained(const JsonView& run, Parameters& parameters);

/// Passes a note to the observer, if the function is set.
void Note(const TrainingObserver& observer, const std::string& text);

}  // namespace headlight
