// Shared by the trainings on texts: their options, the sizes of a model from scratch, and the run.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/cli/training_folder.h"
#include "headlight/cli/training_options.h"
#include "headlight/cli/training_progress.h"
#include "headlight/data/text_examples.h"
#include "headlight/io/config_table.h"
#include "headlight/nn/model.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/train/tasks/masked_language_model.h"

namespace headlight {

// Of a model that is trained from scratch.
struct ModelSizes {
  std::int64_t model = 256, positions = 512, ffn = 0;  // ffn 0: 4 times the model's
  std::int32_t heads = 4;
  int layers = 4;

  std::int64_t inner() const { return ffn > 0 ? ffn : 4 * model; }
};

struct TextTrainingOptions {
  std::vector<std::string> train, valid;
  double validate_split = 0;
  std::string out, from, tokenizer;
  ModelSizes sizes;
  std::optional<double> dropout, attention_dropout;
  TrainingOptions training;
  BatchOptions batches;
  ComputeChoice compute = ComputeChoice::automatic;
  bool profile = false, resume = false;
  CLI::App* command = nullptr;  // whose options these are

  bool from_scratch() const { return from.empty(); }
  const std::string& folder() const { return from.empty() ? tokenizer : from; }  // of the tokenizer
  // Of a model from scratch; that of one to go on from is its own unless given.
  double new_dropout() const { return dropout.value_or(0.1); }
  double new_attention_dropout() const { return attention_dropout.value_or(new_dropout()); }
  // The files to validate on, and which texts of them are learned from and validated on.
  const std::vector<std::string>& validation() const { return valid.empty() ? train : valid; }
  TextShare learned() const { return {validate_split, training.seed, false}; }
  TextShare validated() const { return {validate_split, training.seed, true}; }
  ChosenDropout chosen_dropout() const { return {dropout, attention_dropout}; }
};

// Binds the options to variables that must outlive the command; `texts` describes the files.
void AddTextTrainingOptions(CLI::App& command, TextTrainingOptions& options, const std::string& texts);

// Completes them, and checks all that can be known before texts are read. Throws Error for options that exclude each
// other, for files that are missing, and for a folder that is taken.
[[nodiscard]] TrainingFolder BeginTextTraining(TextTrainingOptions& options);

// The token that is called by one of these names, as the published tokenizers call it.
std::int32_t TokenOf(const PipelineTokenizer& tokenizer, const std::string& folder, const char* what,
                     std::initializer_list<const char*> names);

// The mask, and the tokens that none is replaced by. Throws Error where the tokenizer has no mask.
void SetSpecialTokens(const PipelineTokenizer& tokenizer, const std::string& folder, MaskingOptions& masking);

// Reports what was read. Throws Error where that is nothing.
void NoteTexts(TrainingProgress& progress, const std::vector<std::string>& paths, const TextShare& share,
               const TextExamples& read);

// Trains. `name` and `of` say what the run is, with the hash of what it learns from; `use` is as TrainingRun's.
void RunTextTraining(const TrainingTask& task, TextTrainingOptions& options, const char* name, const std::string& use,
                     std::uint64_t corpus_hash, Json of, TrainingProgress& progress);

}  // namespace headlight
