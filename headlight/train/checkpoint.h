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
  BatchPosition position;                // of the next batch
  std::int64_t labels = 0;               // trained on so far
  double seconds = 0;                    // spent so far
  double best_score = 0, best_loss = 0;  // the score is negated if lower is better
  std::int64_t best_step = 0;            // 0: none
  std::string best_metric;               // the score's name, or "loss"
  std::int64_t validated_step = 0;       // the last step that was validated
  std::int64_t validations_since_best = 0;
  double loss_sum = 0;  // accumulated for the next log line
  std::int64_t loss_labels = 0;
  bool finished = false;               // the run has reached its end, and its final steps are done
  std::deque<std::int64_t> snapshots;  // steps of the last validations whose values are kept for averaging
};

/// Writes a checkpoint. `run` describes the run (hash of the data, model, options); a checkpoint of another run is
/// refused. If `state.snapshots` contains the current step, the model's values are saved as its snapshot; earlier
/// snapshots are kept from the previous checkpoint. TrainingTask::state is saved too. With several ranks, all of them
/// must call this, and rank 0 writes.
HEADLIGHT_API void SaveCheckpoint(const std::string& folder, const Json& run, const TrainingState& state,
                                  const Optimizer& optimizer, const TrainingTask& task, Ranks* ranks = nullptr);

/// True if the folder has a checkpoint to resume from.
HEADLIGHT_API bool HasCheckpoint(const std::string& folder);

/// The checkpoint's state.json, with the names that earlier versions wrote replaced by the current ones. Throws Error
/// if it is damaged.
HEADLIGHT_API JsonView ReadCheckpointState(const std::string& folder);

/// Restores the state, the optimizer, the task's model and the task's state. Throws Error if the checkpoint is damaged,
/// of another version, or of another run (naming the setting that differs). With several ranks, all of them must call
/// this, and rank 0 reads.
HEADLIGHT_API void LoadCheckpoint(const std::string& folder, const Json& run, TrainingState& state,
                                  Optimizer& optimizer, const TrainingTask& task, Ranks* ranks = nullptr);

/// Fills the parameters' state with the checkpoint's snapshot of this step. Throws Error if the tensors do not fit.
HEADLIGHT_API void ReadSnapshot(const std::string& folder, std::int64_t step, Parameters& parameters);

/// The mean of the snapshots' states. With several ranks, rank 0 reads them.
HEADLIGHT_API Tensor MeanOfSnapshots(const std::string& folder, const TrainingState& state,
                                     const Parameters& parameters, Ranks* ranks = nullptr);

}  // namespace headlight
