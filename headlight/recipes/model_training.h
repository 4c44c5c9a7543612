// The options of every training of a model, from scratch or from a folder, and the run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/export.h"
#include "headlight/base/json.h"
#include "headlight/base/option_checks.h"
#include "headlight/base/option_table.h"
#include "headlight/data/text_pairs.h"
#include "headlight/data/text_share.h"
#include "headlight/io/config_table.h"
#include "headlight/recipes/training_run.h"
#include "headlight/train/objectives/teacher_forcing.h"

namespace headlight {

/// The type of a training's GEMMs. automatic: the fastest that the processor has.
enum class ComputeChoice { automatic, float32, bfloat16 };

/// The type that is chosen. Throws Error for bfloat16 if the processor has no instructions for it.
Compute Chosen(ComputeChoice choice);

/// The input and output of a recipe, and its optimization. An empty optional stands for the recipe's default.
struct ModelTraining {
  std::vector<std::string> train, valid;  ///< files
  double validate_split = 0;              ///< instead of `valid`: the share of `train` that is held out
  std::string out;                        ///< the folder of the model and of all that the training keeps
  std::string from;                       ///< the folder of a model to fine-tune; empty: a model from scratch

  // Of a model from scratch.
  std::optional<std::int32_t> layers, heads;
  std::optional<std::int64_t> model_dim, ffn_dim;
  std::optional<double> dropout, attention_dropout;  ///< of a folder's model, too

  std::optional<std::int64_t> batch;  ///< tokens or examples per batch
  std::int64_t accumulation = 1;      ///< batches per step
  // The training ends at the first of these that is reached; 0: no such limit. Without any the recipe has epochs.
  std::int64_t epochs = 0, steps = 0;
  double minutes = 0;
  std::optional<ScheduleKind> schedule;
  std::optional<std::int64_t> warmup;  ///< steps
  std::optional<double> learning_rate, weight_decay, clip_norm;
  double layer_decay = 1;
  std::vector<std::string> freeze, rate;  ///< shell patterns of parameters, and PATTERN=FACTOR
  std::optional<double> average_decay;
  std::optional<std::int64_t> average_last;  ///< validations [1]
  std::int64_t validate_every = 0;
  std::string validate_metric;
  std::optional<std::int64_t> patience;  ///< validations without improvement; 0: no limit [0]
  ComputeChoice compute = ComputeChoice::automatic;
  GradientType gradient_type = GradientType::float32;
  bool shard_optimizer = false, profile = false;
  std::int64_t log_every = 50;
  std::uint64_t seed = 1;
  bool resume = false;
  Ranks* ranks = nullptr;  ///< those that train together; null: this process alone

  bool from_scratch() const { return from.empty(); }
  bool has_end() const { return epochs > 0 || steps > 0 || minutes > 0; }
  /// The files to validate on, and which examples of the files are trained and validated on.
  const std::vector<std::string>& validation() const { return valid.empty() ? train : valid; }
  TextShare learned() const { return {validate_split, seed, false}; }
  TextShare validated() const { return {validate_split, seed, true}; }
  /// All that is read.
  std::vector<std::string> inputs() const;
  ChosenDropout chosen_dropout() const { return {dropout, attention_dropout}; }
};

/// The sizes of a model from scratch.
struct ModelSizes {
  std::int64_t model = 256, ffn = 0;  ///< ffn 0: 4 times the model's
  std::int32_t heads = 4;
  std::int32_t layers = 4;

  std::int64_t inner() const { return ffn > 0 ? ffn : 4 * model; }
};

/// What holds where ModelTraining says nothing. tuning_*: with `from`.
struct TrainingDefaults {
  ModelSizes sizes = {};
  bool has_heads = true;  ///< whether the model has attention, whose heads divide it
  double dropout = 0;
  std::int64_t batch = BatchOptions{}.batch_size;
  std::int64_t epochs = 20, tuning_epochs = 3;
  ScheduleKind schedule = ScheduleKind::cosine, tuning_schedule = ScheduleKind::cosine;
  double learning_rate = 1e-3, tuning_rate = 1e-4;  ///< at the peak; 0: the paper's (model * warmup)^-0.5
  double weight_decay = 0, tuning_weight_decay = 0;
  double clip_norm = 1, average_decay = 0;
  double beta2 = AdamOptions{}.beta2, epsilon = AdamOptions{}.epsilon;
  std::int64_t longest_warmup = 200;
};

/// Options that are complete.
struct TrainingPlan {
  ModelSizes sizes;
  double dropout = 0, attention_dropout = 0;  ///< of a model from scratch
  TrainingOptions training;
  BatchOptions batches;
  Compute compute = Compute::float32;
};

/// The group of the options that are of a model from scratch only.
inline constexpr const char* kModelGroup = "A model from scratch";

/// How a recipe describes its options.
struct TrainingWords {
  std::string train;       ///< of the files: "Text to train on: one text per line"
  std::string valid = {};  ///< likewise; empty if there is nothing to validate on
  std::string from = {};   ///< empty: only models from scratch
  const char* batch = "--batch-tokens";
  const char* batch_description = "Tokens per batch: of the target, if there is one";
};

/// Describes the options, which must outlive the table.
HEADLIGHT_API void Describe(OptionTable& table, ModelTraining& options, const TrainingDefaults& defaults,
                            const TrainingWords& words);
/// Describes the options of the optimization only.
void DescribeOptimization(OptionTable& table, ModelTraining& options, const TrainingDefaults& defaults,
                          const TrainingWords& words);
Option& AddTrainingCompute(OptionTable& table, ComputeChoice& choice);

/// Adds a number of a model from scratch.
template <typename Value>
Option& AddModelNumber(OptionTable& table, const std::string& name, Value& value, const OptionCheck& check,
                       const std::string& description) {
  Option& option = table.Add(name, value, check, description).Group(kModelGroup).ShowDefault();
  if (Option* const from = table.Find("--from"); from != nullptr) option.Excludes(*from);
  return option;
}

/// Values of options by their names. ApplyPreset sets those that have no value yet, which must be optionals; not those
/// of a model from scratch if there is a folder, and no `epochs` if another end is given.
using OptionValues = std::map<std::string, std::string>;
HEADLIGHT_API void ApplyPreset(OptionTable& table, const ModelTraining& options, const OptionValues& values);
template <typename Options>
void ApplyPreset(Options& options, const OptionValues& values) {
  OptionTable table;
  Describe(table, options);
  ApplyPreset(table, options, values);
}

/// The entry of a map of presets. Throws Error naming them all if there is none of this name.
template <typename Presets>
const typename Presets::mapped_type& PresetOf(const Presets& presets, const std::string& name,
                                              const char* option = "preset") {
  const auto found = presets.find(name);
  if (found != presets.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, values] : presets) names.push_back(known);
  Fail("`{}` must be {}, not {}", option, Alternatives(names), Quoted(name));
}

/// The names of the members of records that hold a source and its target.
void AddPairColumns(OptionTable& table, PairColumns& columns, const char* group);

/// Completes the options, and checks what can be known before anything is read. `validates`: whether there must be
/// something to validate on. Throws Error for options that exclude each other.
HEADLIGHT_API TrainingPlan CompleteTraining(const ModelTraining& options, const TrainingDefaults& defaults,
                                            bool validates = true);

/// Throws Error if of `things`, such as texts, none was read from the files, or none is in the share of them.
void CheckNotEmpty(std::size_t count, const char* things, const std::vector<std::string>& paths,
                   const TextShare& share);
/// Throws Error unless there is exactly one of files to validate on and a share.
void CheckValidation(bool has_files, double share);

// For the tasks that predict tokens.
void AddLabelSmoothing(OptionTable& table, double& label_smoothing);
void AddRDrop(OptionTable& table, TeacherForcingOptions& options);
/// If R-Drop is used, adds its settings to those that a resumed training must share.
void SetRDrop(const TeacherForcingOptions& options, Json& of);

/// Trains. `name` is the task's, and `of` says what the run is besides the options here; `corpus_hash` is of what it
/// trains on; `save` saves the model that is kept, with the files that belong to it; `labels` as TrainingRun's.
HEADLIGHT_API TrainingResult RunModelTraining(const TrainingTask& task, const ModelTraining& options,
                                              const TrainingPlan& plan, const char* name, const std::string& labels,
                                              std::uint64_t corpus_hash, Json of,
                                              const std::function<void(const std::string& folder)>& save,
                                              const TrainingObserver& observer);

}  // namespace headlight
