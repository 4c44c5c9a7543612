// Shared by the trainings on texts: their options, the sizes of a model from scratch, and the run.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/cli/model_training.h"
#include "headlight/cli/training_folder.h"
#include "headlight/data/text_examples.h"
#include "headlight/kinds/model.h"
#include "headlight/text/tokenizers/pipeline_tokenizer.h"
#include "headlight/train/tasks/masked_language_model.h"

namespace headlight {

struct TextTrainingOptions : ModelTrainingOptions {
  TextTrainingOptions() {
    usual_dropout = 0.1;
    tuning_rate = 5e-5;
  }

  std::string tokenizer;
  std::string tokenizer_json;    // in the place of its folder, where the model's family has one tokenizer
  std::int64_t positions = 512;  // of a model from scratch

  const std::string& folder() const { return from.empty() ? tokenizer : from; }  // of the tokenizer
};

// Binds the options to variables that must outlive the command; `texts` describes the files.
void AddTextTrainingOptions(OptionTable& command, TextTrainingOptions& options, const std::string& texts);

// Completes them, and checks all that can be known before texts are read. Throws Error for options that exclude each
// other, for files that are missing, and for a folder that is taken.
[[nodiscard]] TrainingFolder BeginTextTraining(TextTrainingOptions& options);

// The tokenizer of the model from scratch or of --from.
PipelineTokenizer TokenizerOf(const TextTrainingOptions& options);

// The token that is called by one of these names, as the published tokenizers call it.
std::int32_t TokenOf(const PipelineTokenizer& tokenizer, const std::string& folder, const char* what,
                     std::initializer_list<const char*> names);

// The mask, and the tokens that none is replaced by. Throws Error where the tokenizer has no mask.
void SetSpecialTokens(const PipelineTokenizer& tokenizer, const std::string& folder, MaskingOptions& masking);

// Reports what was read. Throws Error where that is nothing.
void NoteTexts(TrainingProgress& progress, const std::vector<std::string>& paths, const TextShare& share,
               const TextExamples& read);

// Saves a model with its tokenizer, and beside it the other files of --from.
void SaveWithTokenizer(const Model& model, const TextTrainingOptions& options, const std::string& to);

// Trains. `name` and `of` say what the run is, with the hash of what it learns from; `use` is as TrainingRun's.
void RunTextTraining(const TrainingTask& task, TextTrainingOptions& options, const char* name, const std::string& use,
                     std::uint64_t corpus_hash, Json of, TrainingProgress& progress);

}  // namespace headlight
