// Training: of any model on any task, and of a model that reads one sequence and writes another.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/data/batches.h"
#include "headlight/data/corpus.h"
#include "headlight/generate/decode.h"
#include "headlight/nn/encoder_decoder.h"
#include "headlight/train/optimizer.h"
#include "headlight/train/schedule.h"
#include "headlight/train/teacher_forcing.h"

namespace headlight {

struct TrainingOptions {
  Schedule schedule;
  AdamOptions adam;
  BatchOptions batches;
  double label_smoothing = 0.1;
  std::int64_t accumulation = 1;  // batches a step
  // The training ends at the first of these that is reached; 0: no such limit. One at least is needed.
  std::int64_t epochs = 0, steps = 0;
  double minutes = 0;
  std::int64_t validate_every = 0;              // steps; 0: at the end of each epoch
  std::int64_t patience = 0;                    // validations without a better one until it stops; 0: it goes on
  std::int64_t average_last = 1;                // the final model is the mean of so many validations' values
  DecodingOptions decoding = {.beam_size = 1};  // of validation's translations
  std::int64_t log_every = 50;                  // steps
  double checkpoint_minutes = 10;               // between checkpoints; every validation saves one too
  std::uint64_t seed = 1;
};

// What a model is validated on.
struct ValidationSet {
  std::vector<std::vector<std::int32_t>> sources, targets;  // ids without ends
  std::vector<std::string> source_texts, references;
  std::function<std::string(std::span<const std::int32_t> ids)> decode;  // ids to text
};

struct StepReport {
  std::int64_t step = 0, epoch = 0, batch = 0, batches_in_epoch = 0;
  double loss = 0;  // mean over target tokens since the last report, label smoothing included
  double learning_rate = 0;
  double gradient_norm = 0;
  double tokens_per_second = 0;    // target tokens, since the last report
  double seconds = 0;              // of training, validation included
  std::int64_t target_tokens = 0;  // so far
  double progress = 0;             // 0 to 1, by the limit that is nearest
};

struct ValidationReport {
  std::int64_t step = 0, epoch = 0;
  double loss = 0, perplexity = 0;  // of a target token, without label smoothing
  double bits_per_byte = 0;         // of the text, for a language model; 0 where that is not asked
  double score = 0;                 // the higher, the better; where a task has none but the loss, 0
  std::string score_name = "bleu";  // empty where there is none
  struct Score {
    std::string name;
    double value = 0;
  };
  std::vector<Score> more_scores;  // that are told, and choose nothing
  bool best = false;
  double seconds = 0;
  struct Sample {
    std::string source, reference, translation;
  };
  std::vector<Sample> samples;  // three
};

// What is trained, on what, and how it is validated.
struct TrainingTask {
  Model* model = nullptr;
  std::function<BatchStream(const BatchPosition& position)> batches;  // from a place on
  BatchLoss loss;                                                     // in training
  // Of the model as it is: its parameters are packed. A report is the best by its score, then by its loss.
  std::function<ValidationReport()> validate;
};

// The world outside the loop. What is not set is not told.
struct TrainingObserver {
  std::function<void(const StepReport&)> step;      // after every log_every-th step
  std::function<void(const StepReport&)> progress;  // after every step
  std::function<void(const ValidationReport&)> validation;
  std::function<void(const std::string&)> note;  // what a user should know: resumed, saved, stopped
  std::function<bool()> stop;                    // asked after every step; true: save and return
};

enum class TrainingEnd { limit, patience, stopped };

struct TrainingResult {
  TrainingEnd end = TrainingEnd::limit;
  std::int64_t steps = 0;
  ValidationReport final_model;  // of the model that was saved last
  bool averaged = false;         // whether that is the mean of the last validations' values
};

// Where a training keeps what it has, and what it is.
struct TrainingKeep {
  std::string checkpoint;           // the checkpoint's folder
  Json run;                         // what must be the same for a resumed run: data, model, options
  std::function<void()> save_best;  // called when the parameters are the best so far on the validation set
  std::function<void()> save_last;  // called at the end, with the parameters of the last step
};

// Trains until a limit, with a checkpoint at every validation and every few minutes. At the end the mean of the last
// `average_last` validations' values is validated too, and becomes the best where it is. With `resume` it goes on from
// the checkpoint, if there is one, and ends with the same bits as a run that was never interrupted. Throws Error where
// the loss or gradient stops being a finite number, naming the step; what was saved before stays.
HEADLIGHT_API TrainingResult Train(const TrainingTask& task, const TrainingOptions& options, const TrainingKeep& keep,
                                   bool resume, const TrainingObserver& observer);

// Teacher forcing on pairs. All of it must outlive the task.
HEADLIGHT_API TrainingTask TranslationTask(EncoderDecoder& model, const Corpus& corpus, const ValidationSet& validation,
                                           const TrainingOptions& options);

// The mean loss of a target token without label smoothing, and the translations' BLEU; where `decoding` sets no longest
// length, none gets longer than the longest target.
HEADLIGHT_API ValidationReport Validate(const EncoderDecoder& model, const ValidationSet& validation,
                                        const DecodingOptions& decoding);

}  // namespace headlight
