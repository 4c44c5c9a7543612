// Training: the loop of steps, validations and checkpoints, of any model on any task.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/train/optimizer.h"
#include "headlight/train/schedule.h"
#include "headlight/train/training_task.h"

namespace headlight {

struct TrainingOptions {
  Schedule schedule;
  AdamOptions adam;
  // Where given, the weight decay goes from Adam's to this one by a cosine, in `schedule.total` steps or in `minutes`;
  // where both are 0 it stays.
  std::optional<double> final_weight_decay = {};
  std::int64_t accumulation = 1;  // batches a step
  // The training ends at the first of these that is reached; 0: no such limit. One at least is needed.
  std::int64_t epochs = 0, steps = 0;
  double minutes = 0;
  std::int64_t validate_every = 0;  // steps; 0: at the end of each epoch. The last step is always validated.
  std::int64_t patience = 0;        // the training ends after so many validations without a better one; 0: never so
  // Which of TrainingTask::scores chooses the best model, or "loss" or "perplexity"; empty: the task's first, then the
  // loss.
  std::string validate_metric;
  std::int64_t average_last = 1;   // the final model is the mean of so many validations' values
  std::int64_t log_every = 50;     // steps; 0: never
  double checkpoint_minutes = 10;  // between checkpoints; every validation saves one too
  std::uint64_t seed = 1;          // of dropout
  double clip_part_norm = 0;       // of each part's gradient, as ComputeGradients has it
  GradientType gradient_type = GradientType::float32;
  // Those that train together, each with the same task, options and run; null: there is but one. The result has the
  // same bits for any number of them.
  Ranks* ranks = nullptr;
  bool shard_optimizer = false;  // each rank keeps a part of Adam's moments alone
};

struct StepReport {
  std::int64_t step = 0, epoch = 0, batch = 0, batches_in_epoch = 0;  // epochs and batches from 1
  double loss = 0;  // mean over labels since the last report, label smoothing included
  double learning_rate = 0;
  double gradient_norm = 0;
  double labels_per_second = 0;  // since the last report
  double seconds = 0;            // of training, validation included
  std::int64_t labels = 0;       // so far
  double progress = 0;           // 0 to 1, by the limit that is nearest
};

// Callbacks of the loop; each may be empty. Where there are several ranks, all but `stop` are called on rank 0 alone.
struct TrainingObserver {
  // Before the first step; from now on `stop` is asked. `labels`: what StepReport::labels counts, such as "images".
  std::function<void(const std::string& labels)> prepared = {};
  std::function<void(const StepReport&)> step = {};      // after every log_every-th step
  std::function<void(const StepReport&)> progress = {};  // after every step
  std::function<void(const ValidationReport&)> validation = {};
  std::function<void(const std::string&)> note = {};  // what a user should know: resumed, saved, stopped
  // Asked after every step and, perhaps by any thread, during validations; true: save and return. A validation that was
  // cut off begins anew when the training is resumed.
  CancelCheck stop = {};
};

// finished: it had already ended when it was resumed, and nothing was done.
enum class TrainingEnd { limit, patience, stopped, finished };

struct TrainingResult {
  TrainingEnd end = TrainingEnd::limit;
  std::int64_t steps = 0;
  std::int64_t best_step = 0;  // 0: none was validated
  std::string best_metric;     // by which it is the best, and its value
  double best_value = 0;
};

// Where a training keeps what it has, and what it is. Where there are several ranks, rank 0 alone keeps it.
struct TrainingKeep {
  std::string checkpoint;           // the checkpoint's folder
  Json run;                         // what must be the same for a resumed run: data, model, options
  std::function<void()> save_best;  // called when the parameters are the best so far on the validation set
  std::function<void()> save_last;  // called at the end, with the parameters of the last step
};

// Throws Error where the options are impossible, whatever the task.
HEADLIGHT_API void CheckTrainingOptions(const TrainingOptions& options);

// Trains until a limit, with a checkpoint at every validation and every few minutes. At the end the mean of the last
// `average_last` validations' values is validated too, and becomes the best where it is. With `resume` it goes on from
// the checkpoint, if there is one, and ends with the same bits as a run that was never interrupted; a run that has
// ended stays as it is, unless its limits or its patience are larger now. Throws Error where the loss or gradient stops
// being a finite number, naming the step; what was saved before stays. With several ranks an error names the rank and
// the step; OtherRankFailed is thrown where another one has failed.
HEADLIGHT_API TrainingResult Train(const TrainingTask& task, const TrainingOptions& options, const TrainingKeep& keep,
                                   bool resume, const TrainingObserver& observer);

}  // namespace headlight
