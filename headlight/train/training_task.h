// The interface between the training loop and a task: batches, the loss of a micro-batch, and a validation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/data/batches.h"
#include "headlight/kinds/model.h"
#include "headlight/train/gradients.h"

namespace headlight {

/// A batch of any kind of training data, such as token ids, pixels or pairs of both.
struct TrainingBatch {
  /// Parts (micro-batches) pass through the model one after another. Only one part's activations exist at a time. The
  /// loss of a batch is the sum over its parts. If the loss is not a sum over examples (contrastive losses, matching
  /// within the batch), the whole batch is one part.
  std::vector<TrainingPart> parts;
  std::int64_t labels = 0;  // number of labels over which a step's loss is averaged
  BatchPosition next;       // the position after this batch; next.batch is 0 after an epoch's last batch
  std::int64_t batches_in_epoch = 0;
};

struct ValidationReport {
  std::int64_t step = 0, epoch = 0;  // epoch of the last step, from 1
  double loss = 0;                   // mean per label, without label smoothing
  double perplexity = 0;   // exp(loss) if the loss is a negative log-probability; default: 0. May be infinite.
  double score = 0;        // higher is better; 0 if the task has no score
  std::string score_name;  // empty if there is no score
  struct Score {
    std::string name;
    double value = 0;
  };
  std::vector<Score> more_scores;  // scores that do not select the best model
  bool best = false;
  double seconds = 0;
  struct Sample {
    std::string input, reference, output;
  };
  std::vector<Sample> samples;  // three examples of outputs
  std::int64_t labels = 0;      // number of labels over which the loss is averaged
  struct Class {
    std::string name;
    double precision = 0, recall = 0, f1 = 0;  // in per cent
    std::int64_t count = 0;                    // number of examples of the class
  };
  std::vector<Class> classes;  // scores of each class, if the task has classes
};

/// A function that is called regularly during long work and returns true to cancel it. The caller then throws
/// Cancelled. May be empty.
using CancelCheck = std::function<bool()>;

/// The functions that observe a pass over a validation set, and the ranks that divide the pass.
struct PassWatch {
  CancelCheck cancelled = {};
  /// Called with the number of processed examples and the total number. May be empty.
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};
  Ranks* ranks = nullptr;  // ranks that share the pass (train/shared_pass.h); null: a single process
};

/// A model and the task that it is trained on.
struct TrainingTask {
  Model* model = nullptr;
  /// Returns a function that returns the next batch at each call, starting at a position. Called on a separate thread.
  std::function<std::function<TrainingBatch()>(const BatchPosition& position)> batches;
  PartLoss loss;
  /// Validates the model with its current values (packed parameters). Reports are compared by score, then by loss.
  /// Ranks divide the validation pass, and every rank receives the report.
  std::function<ValidationReport(const PassWatch& watch)> validate;
  /// The names of the scores that validations report besides loss and perplexity. TrainingOptions::validate_metric must
  /// be one of these names, "loss" or "perplexity".
  std::vector<std::string> scores = {};

  /// For tasks with additional state that changes in training, such as a teacher whose weights are an average of the
  /// student's weights. `after_step` is called after each update of the model. Its arguments are the number of updates
  /// so far and the total number (Schedule::total). A checkpoint saves each `state` by name, and a resumed run restores
  /// it.
  std::function<void(std::int64_t step, std::int64_t steps)> after_step = {};
  struct State {
    std::string name;
    Tensor values;  // contiguous
  };
  std::vector<State> state = {};

  /// A contiguous float64 accumulator. The loss of each part adds to it, and `after_step` reads the sum over a step's
  /// parts.
  Tensor part_sums = {};

  /// Set if validations cannot compare models. Each validated model then counts as the best so far.
  bool last_is_best = false;
};

}  // namespace headlight
