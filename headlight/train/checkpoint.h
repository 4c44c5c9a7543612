// Checkpoints: the complete state of a training run, in a folder that is replaced atomically.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/train/optimizer.h"
#include "headlight/train/training_task.h"

namespace headlight {

inline constexpr std::int64_t kCheckpointVersion = 4;

/// The state of a training run, except for the parameters, the optimizer and the task's own state.
struct TrainingState {
  BatchPosition position;                // position of the next batch
  std::int64_t labels = 0;               // number of labels trained on so far
  double seconds = 0;                    // training time so far
  double best_score = 0, best_loss = 0;  // the score is negated if lower is better
  std::int64_t best_step = 0;            // 0: no best model yet
  std::string best_metric;               // name of the score that selects the best model, or "loss"
  std::int64_t validated_step = 0;       // the last step that was validated
  std::int64_t validations_since_best = 0;
  double loss_sum = 0;  // sum of losses since the last log line
  std::int64_t loss_labels = 0;
  bool finished = false;               // if true, the run has ended and its final steps are done
  std::deque<std::int64_t> snapshots;  // validated steps whose parameter values are kept for averaging
};

/// Writes a checkpoint. `run` describes the run (hash of the data, model, options). LoadCheckpoint refuses a checkpoint
/// of another run. If `state.snapshots` contains the current step, the model's values are saved as the snapshot of this
/// step. Earlier snapshots are kept from the previous checkpoint. TrainingTask::state is saved too. With several ranks,
/// all of them must call this function, and rank 0 writes the files.
HEADLIGHT_API void SaveCheckpoint(const std::string& folder, const Json& run, const TrainingState& state,
                                  const Optimizer& optimizer, const TrainingTask& task, Ranks* ranks = nullptr);

/// Returns true if the folder has a checkpoint to resume from.
HEADLIGHT_API bool HasCheckpoint(const std::string& folder);

/// Returns the checkpoint's state.json. Names that earlier versions used are replaced by the current names. Throws
/// Error if the file is damaged.
HEADLIGHT_API JsonView ReadCheckpointState(const std::string& folder);

/// Restores the state, the optimizer, the task's model and the task's state. Throws Error if the checkpoint is damaged,
/// of another version, or of another run. The message names the setting that differs. With several ranks, all of them
/// must call this function, and rank 0 reads the files.
HEADLIGHT_API void LoadCheckpoint(const std::string& folder, const Json& run, TrainingState& state,
                                  Optimizer& optimizer, const TrainingTask& task, Ranks* ranks = nullptr);

/// Sets the parameters' state to the checkpoint's snapshot of this step. Throws Error if the tensors do not fit.
HEADLIGHT_API void ReadSnapshot(const std::string& folder, std::int64_t step, Parameters& parameters);

/// Returns the mean of the snapshots' states. With several ranks, rank 0 reads them.
HEADLIGHT_API Tensor MeanOfSnapshots(const std::string& folder, const TrainingState& state,
                                     const Parameters& parameters, Ranks* ranks = nullptr);

}  // namespace headlight
