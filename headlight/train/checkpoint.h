// Checkpoints: all that a training is made of at one moment, in a folder that appears at once.
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

// The state of a training besides the parameters, the optimizer and the task's own.
struct TrainingState {
  BatchPosition position;                // of the next batch
  std::int64_t labels = 0;               // learned from so far
  double seconds = 0;                    // spent so far
  double best_score = 0, best_loss = 0;  // the score is negated where less is better
  std::int64_t best_step = 0;            // 0: none
  std::string best_metric;               // the score's name, or "loss"
  std::int64_t validated_step = 0;       // the last one that was validated
  std::int64_t validations_since_best = 0;
  double loss_sum = 0;  // of the log line being collected
  std::int64_t loss_labels = 0;
  bool finished = false;               // it has come to its end and to what follows it
  std::deque<std::int64_t> snapshots;  // the steps of the last validations whose values are kept, to be averaged
};

// `run` says what the training is (its data's hash, its model, its options): a checkpoint of another run is refused.
// A snapshot of this very step is taken of the task's model; those of earlier steps are in the checkpoint that is
// replaced. TrainingTask::state is kept too. Where there are several ranks all of them call it, and rank 0 writes.
HEADLIGHT_API void SaveCheckpoint(const std::string& folder, const Json& run, const TrainingState& state,
                                  const Optimizer& optimizer, const TrainingTask& task, Ranks* ranks = nullptr);

// True where there is a checkpoint to resume from.
HEADLIGHT_API bool HasCheckpoint(const std::string& folder);

/// The checkpoint's state.json, with the present names of what earlier versions wrote. Throws Error if it is damaged.
HEADLIGHT_API JsonView ReadCheckpointState(const std::string& folder);

// Fills all of them, the task's model and state too. Throws Error where the checkpoint is damaged, of another version,
// or of another run (naming what differs). Where there are several ranks all of them call it, and rank 0 reads.
HEADLIGHT_API void LoadCheckpoint(const std::string& folder, const Json& run, TrainingState& state,
                                  Optimizer& optimizer, const TrainingTask& task, Ranks* ranks = nullptr);

// Fills the parameters' state with that of the step, which is a snapshot of the checkpoint. Throws Error where they do
// not fit.
HEADLIGHT_API void ReadSnapshot(const std::string& folder, std::int64_t step, Parameters& parameters);

// The mean of the snapshots' states, which rank 0 reads where there are several.
HEADLIGHT_API Tensor MeanOfSnapshots(const std::string& folder, const TrainingState& state,
                                     const Parameters& parameters, Ranks* ranks = nullptr);

}  // namespace headlight
