// Shared by the trainings of a model from scratch or of a folder's: their options and the run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/json.h"
#include "headlight/cli/training_options.h"
#include "headlight/cli/training_progress.h"
#include "headlight/data/text_share.h"
#include "headlight/io/config_table.h"

namespace headlight {

// Of a model that is trained from scratch.
struct ModelSizes {
  std::int64_t model = 256, ffn = 0;  // ffn 0: 4 times the model's
  std::int32_t heads = 4;
  int layers = 4;

  std::int64_t inner() const { return ffn > 0 ? ffn : 4 * model; }
};

struct ModelTrainingOptions {
  std::vector<std::string> train, valid;
  double validate_split = 0;
  std::string out, from;
  ModelSizes sizes;
  double usual_dropout = 0;   // of a model from scratch
  double tuning_rate = 1e-4;  // the peak learning rate with --from, unless given
  int tuning_epochs = 3;      // likewise the epochs
  std::optional<double> dropout, attention_dropout;
  TrainingOptions training;
  BatchOptions batches;
  ComputeChoice compute = ComputeChoice::automatic;
  bool profile = false, resume = false;
  OptionTable* command = nullptr;  // whose options these are

  bool from_scratch() const { return from.empty(); }
  bool given(const std::string& option) const { return command->Given(option); }
  // Of a model from scratch; that of a folder's is its own unless given.
  double new_dropout() const { return dropout.value_or(usual_dropout); }
  double new_attention_dropout() const { return attention_dropout.value_or(new_dropout()); }
  ChosenDropout chosen_dropout() const { return {dropout, attention_dropout}; }
  // The files to validate on, and which examples of them are learned from and validated on.
  const std::vector<std::string>& validation() const { return valid.empty() ? train : valid; }
  // All that is read.
  std::vector<std::string> inputs() const {
    std::vector<std::string> all = train;
    all.insert(all.end(), valid.begin(), valid.end());
    all.push_back(from);
    return all;
  }
  TextShare learned() const { return {validate_split, training.seed, false}; }
  TextShare validated() const { return {validate_split, training.seed, true}; }
};

// The group of the options that are of a model from scratch alone.
inline constexpr const char* kModelGroup = "A model from scratch";

// How a task words its options.
struct ModelTrainingWords {
  std::string train;  // of the files: "Text to train on: a text a line"
  std::string valid;  // likewise; empty where there is nothing to validate on
  std::string from;
  BatchUnit unit;
};

// Binds the options to variables that must outlive the command, whose values are the defaults. Returns --from.
Option& AddModelTrainingOptions(OptionTable& command, ModelTrainingOptions& options, const ModelTrainingWords& words);

// The words of a training on pictures without labels or texts.
ModelTrainingWords WordsOfPictures(std::string from);

// Adds a number of a model from scratch, for a command that has --from.
template <typename Value>
Option& AddModelNumber(OptionTable& command, const std::string& name, Value& value, const OptionCheck& check,
                       const std::string& description) {
  return command.Add(name, value, check, description).Excludes(command.Get("--from")).Group(kModelGroup).ShowDefault();
}

// Replaces an option's description, in which its default is said.
void Describe(OptionTable& command, const std::string& option, const std::string& description);

// Values of options by their names, which hold where the user gives none. Those of a model from scratch are left out
// where it is not, and --epochs where another end is given.
using OptionValues = std::map<std::string, std::string>;
void SetUnlessGiven(const ModelTrainingOptions& options, const OptionValues& values);

// Completes the options, and checks what can be known before anything is read. Throws Error for options that exclude
// each other.
void CompleteModelTraining(ModelTrainingOptions& options);

// Trains. `name` is the task's, `use` as TrainingRun's, and `of` says what the run is besides the options here;
// `corpus_hash` is of what it learns from; `save` saves the model that is kept, with what stands beside it.
void RunModelTraining(const TrainingTask& task, ModelTrainingOptions& options, const char* name, const std::string& use,
                      std::uint64_t corpus_hash, Json of, const std::function<void(const std::string& folder)>& save,
                      TrainingProgress& progress);

}  // namespace headlight
