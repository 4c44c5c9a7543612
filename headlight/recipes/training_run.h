// A training as its recipe runs it: the folder, the log, the checkpoint of a run that resumes.
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

/// TrainingRun::longest_warmup steps, or a tenth of a training of at most twice as many; resumed, as it began.
inline constexpr std::int64_t kWarmupUnlessGiven = -1;

struct TrainingRun {
  std::string out;                           ///< the folder of the model and of all that the training keeps
  Json of;                                   ///< what a resumed run must share besides the options
  std::vector<std::string> validation = {};  ///< the files that scores depend on; a resumed run needs the same
  std::function<void(const std::string& folder)> save;  ///< the model as it is, into a folder that exists
  Compute compute = Compute::float32;                   ///< of GEMMs; weights and sums stay float32
  bool resume = false;
  bool profile = false;  ///< notes after some steps where their time went
  std::int64_t longest_warmup = 200;
  bool fine_tuning = false;              ///< from a trained model: the warm-up is a tenth of any training
  std::string labels = "target tokens";  ///< what StepReport::labels counts
};

/// Throws Error if one of the files cannot be opened. For use before any is read, which takes long.
void CheckReadable(const std::vector<std::string>& paths);
/// Throws Error for a pipe or standard input among files that are read more than once.
void CheckNoPipe(const std::vector<std::string>& paths);

/// Trains into the folder run.out, whose TrainingFolder is held: it becomes a model folder, the best on the validation
/// set, with last/ (the model of the last step), checkpoint/, metrics.jsonl and TensorBoard's event file. A schedule
/// that falls to zero is given its end. Throws Error if a resumed run differs from the one that began.
HEADLIGHT_API TrainingResult RunTraining(const TrainingTask& task, TrainingOptions options, const TrainingRun& run,
                                         const TrainingObserver& observer);

/// Freezes the parameters that a training has frozen, so that they fit its checkpoint: `run` is that of the
/// checkpoint's state.
HEADLIGHT_API void FreezeAsTrained(const JsonView& run, Parameters& parameters);

/// Tells the observer, if it listens.
void Note(const TrainingObserver& observer, const std::string& text);

}  // namespace headlight
