// The options and the training loop that all recipes share.
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

/// The type of GEMMs in training. automatic: the fastest type that the processor supports.
enum class ComputeChoice { automatic, float32, bfloat16 };

/// Returns the chosen type. Throws Error for bfloat16 if the processor does not support it.
Compute Chosen(ComputeChoice choice);

/// The options of a training run: its files and its optimization. An empty optional means the recipe's default.
struct ModelTraining {
  std::vector<std::string> train, valid;  ///< files
  double validate_split = 0;              ///< the held-out fraction of `train`, instead of `valid`
  std::string out;                        ///< folder for the model and the state of the training
  std::string from;                       ///< folder of a model to fine-tune; empty: a model from scratch

  /// Options of a model from scratch.
  std::optional<std::int32_t> layers, heads;
  std::optional<std::int64_t> model_dim, ffn_dim;
  std::optional<double> dropout, attention_dropout;  ///< also for fine-tuning

  std::optional<std::int64_t> batch;  ///< tokens or examples per batch
  std::int64_t accumulation = 1;      ///< batches per step
  /// Training ends at the first of these limits. 0 means no limit. If no limit is set, the recipe's number of epochs
  /// applies.
  std::int64_t epochs = 0, steps = 0;
  double minutes = 0;
  std::optional<ScheduleKind> schedule;
  std::optional<std::int64_t> warmup;  ///< steps
  std::optional<double> learning_rate, weight_decay, clip_norm;
  double layer_decay = 1;
  std::vector<std::string> freeze, rate;  ///< wildcard patterns of parameter names, and PATTERN=FACTOR
  std::optional<double> average_decay;
  std::optional<std::int64_t> average_last;  ///< number of last validations whose weights are averaged [1]
  std::int64_t validate_every = 0;
  std::string validate_metric;
  std::optional<std::int64_t> patience;  ///< validations without improvement; 0: no limit [0]
  ComputeChoice compute = ComputeChoice::automatic;
  GradientType gradient_type = GradientType::float32;
  bool shard_optimizer = false, profile = false;
  std::int64_t log_every = 50;
  std::uint64_t seed = 1;
  bool resume = false;
  Ranks* ranks = nullptr;  ///< the ranks that train together; null: only this process

  bool from_scratch() const { return from.empty(); }
  bool has_end() const { return epochs > 0 || steps > 0 || minutes > 0; }
  /// Return the files to validate on, and the selections of examples for training and validation.
  const std::vector<std::string>& validation() const { return valid.empty() ? train : valid; }
  TextShare learned() const { return {validate_split, seed, false}; }
  TextShare validated() const { return {validate_split, seed, true}; }
  /// Returns all input files.
  std::vector<std::string> inputs() const;
  ChosenDropout chosen_dropout() const { return {dropout, attention_dropout}; }
};

/// The sizes of a model from scratch.
struct ModelSizes {
  std::int64_t model = 256, ffn = 0;  ///< ffn 0: 4 * `model`
  std::int32_t heads = 4;
  std::int32_t layers = 4;

  std::int64_t inner() const { return ffn > 0 ? ffn : 4 * model; }
};

/// The defaults of options that ModelTraining does not set. The defaults tuning_* apply with `from`.
struct TrainingDefaults {
  ModelSizes sizes = {};
  bool has_heads = true;  ///< if true, the model has attention heads, whose number must divide the model size
  double dropout = 0;
  std::int64_t batch = BatchOptions{}.batch_size;
  std::int64_t epochs = 20, tuning_epochs = 3;
  ScheduleKind schedule = ScheduleKind::cosine, tuning_schedule = ScheduleKind::cosine;
  double learning_rate = 1e-3, tuning_rate = 1e-4;  ///< peak values; 0: (model * warmup)^-0.5
  double weight_decay = 0, tuning_weight_decay = 0;
  double clip_norm = 1, average_decay = 0;
  double beta2 = AdamOptions{}.beta2, epsilon = AdamOptions{}.epsilon;
  std::int64_t longest_warmup = 200;
};

/// The completed options of a training run.
struct TrainingPlan {
  ModelSizes sizes;
  double dropout = 0, attention_dropout = 0;  ///< for a model that is trained from scratch
  TrainingOptions training;
  BatchOptions batches;
  Compute compute = Compute::float32;
};

/// The option group for models from scratch.
inline constexpr const char* kModelGroup = "A model from scratch";

/// Help texts of a recipe's options.
struct TrainingWords {
  std::string train;       ///< such as "Text to train on: one text per line"
  std::string valid = {};  ///< empty if there is no validation
  std::string from = {};   ///< empty if there is no fine-tuning
  const char* batch = "--batch-tokens";
  const char* batch_description = "Tokens per batch";
};

/// Describes the options, which must outlive the table.
HEADLIGHT_API void Describe(OptionTable& table, ModelTraining& options, const TrainingDefaults& defaults,
                            const TrainingWords& words);
/// Describes only the optimization options.
void DescribeOptimization(OptionTable& table, ModelTraining& options, const TrainingDefaults& defaults,
                          const TrainingWords& words);
Option& AddTrainingCompute(OptionTable& table, ComputeChoice& choice);

/// Adds a numeric option for a model from scratch.
template <typename Value>
Option& AddModelNumber(OptionTable& table, const std::string& name, Value& value, const OptionCheck& check,
                       const std::string& description) {
  Option& option = table.Add(name, value, check, description).Group(kModelGroup).ShowDefault();
  if (Option* const from = table.Find("--from"); from != nullptr) option.Excludes(*from);
  return option;
}

/// Option values by option name. ApplyPreset sets the options that have no value yet, which must be std::optional.
/// ApplyPreset omits options of models from scratch if `from` is given, and `epochs` if another limit is given.
using OptionValues = std::map<std::string, std::string>;
HEADLIGHT_API void ApplyPreset(OptionTable& table, const ModelTraining& options, const OptionValues& values);
template <typename Options>
void ApplyPreset(Options& options, const OptionValues& values) {
  OptionTable table;
  Describe(table, options);
  ApplyPreset(table, options, values);
}

/// Returns the preset with this name. Throws Error naming all presets if there is no such preset.
template <typename Presets>
const typename Presets::mapped_type& PresetOf(const Presets& presets, const std::string& name,
                                              const char* option = "preset") {
  const auto found = presets.find(name);
  if (found != presets.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, values] : presets) names.push_back(known);
  Fail("`{}` must be {}, not {}", option, Alternatives(names), Quoted(name));
}

/// Adds options for the names of the record members with source and target.
void AddPairColumns(OptionTable& table, PairColumns& columns, const char* group);

/// Completes the options, and makes all checks that are possible before anything is read. If `validates` is true,
/// validation data is needed. Throws Error for options that exclude each other.
HEADLIGHT_API TrainingPlan CompleteTraining(const ModelTraining& options, const TrainingDefaults& defaults,
                                            bool validates = true);

/// Throws Error if the files have no `things`, such as texts, or if `share` selects none of them. `count` is the number
/// of selected `things`.
void CheckNotEmpty(std::size_t count, const char* things, const std::vector<std::string>& paths,
                   const TextShare& share);
/// Throws Error unless either validation files or a held-out fraction is given, but not both.
void CheckValidation(bool has_files, double share);

/// Add options for tasks that predict tokens.
void AddLabelSmoothing(OptionTable& table, double& label_smoothing);
void AddRDrop(OptionTable& table, TeacherForcingOptions& options);
/// If R-Drop is used, adds its settings to `of`. The settings must not change when a run is resumed.
void SetRDrop(const TeacherForcingOptions& options, Json& of);

/// Trains a model. `name` is the name of the task. `of` has settings that must not change when a run is resumed, in
/// addition to the options. `corpus_hash` identifies the training data. `save` saves the best model with its files.
/// `labels` is as in TrainingRun.
HEADLIGHT_API TrainingResult RunModelTraining(const TrainingTask& task, const ModelTraining& options,
                                              const TrainingPlan& plan, const char* name, const std::string& labels,
                                              std::uint64_t corpus_hash, Json of,
                                              const std::function<void(const std::string& folder)>& save,
                                              const TrainingObserver& observer);

}  // namespace headlight
