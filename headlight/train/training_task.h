// A task as the trainer knows it: batches, the loss of a part of one, and a validation.
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

// A batch of whatever a task learns from, such as token ids, pixels or pairs of both.
struct TrainingBatch {
  // They go through the model one at a time, each with activations of its own. The loss of a batch is the sum of those
  // of its parts; where it is not (contrastive losses, matching within the batch), the batch is one part.
  std::vector<TrainingPart> parts;
  std::int64_t labels = 0;  // a step's loss is the mean over so many
  BatchPosition next;       // the place after this batch; next.batch is 0 after an epoch's last
  std::int64_t batches_in_epoch = 0;
};

struct ValidationReport {
  std::int64_t step = 0, epoch = 0;  // epoch: of the last step, from 1
  double loss = 0;                   // of a label, without label smoothing
  double perplexity = 0;             // exp(loss), where that is a negative log-probability; else 0. May be infinite.
  double score = 0;                  // the higher, the better; where a task has none but the loss, 0
  std::string score_name;            // empty where there is none
  struct Score {
    std::string name;
    double value = 0;
  };
  std::vector<Score> more_scores;  // reported, but not what the best model is chosen by
  bool best = false;
  double seconds = 0;
  struct Sample {
    std::string input, reference, output;
  };
  std::vector<Sample> samples;  // three
  std::int64_t labels = 0;      // that the loss is the mean of
  struct Class {
    std::string name;
    double precision = 0, recall = 0, f1 = 0;  // per cent
    std::int64_t count = 0;                    // how many are right
  };
  std::vector<Class> classes;  // where a task has classes: of each
};

// Asked again and again during long work, which throws Cancelled where it says yes; may be empty.
using CancelCheck = std::function<bool()>;

// Who watches a pass over a validation set, and who shares it.
struct PassWatch {
  CancelCheck cancelled = {};
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};  // of examples; may be empty
  Ranks* ranks = nullptr;  // each of which makes the pass (train/shared_pass.h); null: there is but one
};

// A model, and what it learns.
struct TrainingTask {
  Model* model = nullptr;
  // The batches from a place on, one with each call: called on a thread of its own.
  std::function<std::function<TrainingBatch()>(const BatchPosition& position)> batches;
  PartLoss loss;
  // Of the model as it is: its parameters are packed. A report is the best by its score, then by its loss. Ranks divide
  // the pass, and all have the report.
  std::function<ValidationReport(const PassWatch& watch)> validate;
  // The names of the scores that validations report besides loss and perplexity, of which
  // TrainingOptions::validate_metric is one.
  std::vector<std::string> scores = {};

  // Where a task has more that changes in training, such as a teacher whose weights are an average of the student's:
  // called after each update of the model, with how many there have been and will be (Schedule::total), and what of it
  // a checkpoint keeps, by name; a resumed run fills these.
  std::function<void(std::int64_t step, std::int64_t steps)> after_step = {};
  struct State {
    std::string name;
    Tensor values;  // contiguous
  };
  std::vector<State> state = {};

  // float64, contiguous: what the loss of each part adds to, and `after_step` finds the sum of over a step's parts.
  Tensor part_sums = {};

  // Set where validations do not tell which model is the better one: then every one is the best so far.
  bool last_is_best = false;
};

}  // namespace headlight
