// The training loop with steps, validations and checkpoints, for every model and task.
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
  /// If set, the weight decay changes from Adam's weight decay to this value along a cosine over `schedule.total` steps
  /// or `minutes`. If both are 0, the weight decay is constant.
  std::optional<double> final_weight_decay = {};
  std::int64_t accumulation = 1;  // number of batches per step
  /// The run ends at the first limit that is reached; 0 means no limit. At least one limit is required.
  std::int64_t epochs = 0, steps = 0;
  double minutes = 0;
  std::int64_t validate_every = 0;  // steps; 0: at the end of each epoch. The last step is always validated.
  std::int64_t patience = 0;        // stop after this many validations without improvement; 0: never
  /// The metric that selects the best model: one of TrainingTask::scores, "loss" or "perplexity". If empty, it is the
  /// task's first score, or the loss if the task has no score.
  std::string validate_metric;
  std::int64_t average_last = 1;   // the final model is the mean of the values at the last `average_last` validations
  std::int64_t log_every = 50;     // steps; 0: never
  double checkpoint_minutes = 10;  // time between checkpoints; every validation saves one too
  std::uint64_t seed = 1;          // seed of dropout
  double clip_part_norm = 0;       // upper limit of each micro-batch's gradient norm, as in ComputeGradients
  GradientType gradient_type = GradientType::float32;
  /// The ranks that train together, with the same task, options and run. Null for a single process. The
  /// result has the same bits for any number of ranks.
  Ranks* ranks = nullptr;
  bool shard_optimizer = false;  // if true, each rank stores only its own pieces of Adam's moments
};

struct StepReport {
  std::int64_t step = 0, epoch = 0, batch = 0, batches_in_epoch = 0;  // epochs and batches from 1
  double loss = 0;  // mean over labels since the last report, including label smoothing
  double learning_rate = 0;
  double gradient_norm = 0;
  double labels_per_second = 0;  // throughput since the last report
  double seconds = 0;            // training time, including validation
  std::int64_t labels = 0;       // number of labels so far
  double progress = 0;           // from 0 to 1, relative to the limit that will be reached first
};

/// Callbacks of the loop. Each may be empty. With several ranks, all except `stop` are called only on rank 0.
struct TrainingObserver {
  /// Called before the first step. `stop` is not called earlier. `labels` is the name of the labels in
  /// StepReport::labels, such as "images".
  std::function<void(const std::string& labels)> prepared = {};
  std::function<void(const StepReport&)> step = {};      // after every log_every-th step
  std::function<void(const StepReport&)> progress = {};  // after every step
  std::function<void(const ValidationReport&)> validation = {};
  std::function<void(const std::string&)> note = {};  // messages for the user: resumed, saved, stopped
  /// Called after every step, and during validations, possibly from any thread. If it returns true, the run is saved
  /// and ends. An interrupted validation is repeated when the run is resumed.
  CancelCheck stop = {};
};

/// The reason why training ended. `finished` means that the resumed run had already ended.
enum class TrainingEnd { limit, patience, stopped, finished };

struct TrainingResult {
  TrainingEnd end = TrainingEnd::limit;
  std::int64_t steps = 0;
  std::int64_t best_step = 0;  // 0: there was no validation
  std::string best_metric;     // metric that selected the best model, and its value
  double best_value = 0;
};

/// Describes a run and how its results are saved. With several ranks, only rank 0 writes files.
struct TrainingOutput {
  std::string checkpoint;           // checkpoint folder
  Json run;                         // properties that must be equal in a resumed run: data, model, options
  std::function<void()> save_best;  // called when the parameters are the best so far on the validation set
  std::function<void()> save_last;  // called at the end, with the parameters of the last step
};

/// Throws Error if the options are out of range or contradict each other.
HEADLIGHT_API void CheckTrainingOptions(const TrainingOptions& options);

/// Trains until a limit is reached. Saves a checkpoint at every validation and every few minutes. At the end, the mean
/// of the values at the last `average_last` validations is validated too, and saved if it is the best. With `resume`,
/// training continues from the checkpoint, if there is one, and produces the same bits as an uninterrupted run. If the
/// run has already ended, nothing is done, unless its limits or its patience are larger now. Throws Error with the
/// number of the step if the loss or the gradient is not finite. Earlier checkpoints and models are kept. With several
/// ranks, an error names the rank and the step. If another rank failed, OtherRankFailed is thrown.
HEADLIGHT_API TrainingResult Train(const TrainingTask& task, const TrainingOptions& options,
                                   const TrainingOutput& output, bool resume, const TrainingObserver& observer);

}  // namespace headlight
