#include "headlight/recipes/model_training.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "headlight/base/choice.h"
#include "headlight/base/error.h"
#include "headlight/base/gguf.h"
#include "headlight/base/option_checks.h"
#include "headlight/data/text_columns.h"
#include "headlight/kernels/gemm.h"

namespace headlight {
namespace {

constexpr const char* kTrainingGroup = "Training";

// Parses a learning rate factor, such as "encoder.*=0.1".
ParameterGroup RateOf(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  Check(equals != std::string::npos && equals > 0, "`rate` {}: expected PATTERN=FACTOR, such as encoder.*=0.1", text);
  ParameterGroup group{.pattern = text.substr(0, equals)};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, group.rate_factor);
  Check(error == std::errc() && stop == end && std::isfinite(group.rate_factor) && group.rate_factor >= 0,
        "`rate` {}: the factor must be a number of at least 0", text);
  return group;
}

// Returns the help text for a default value, such as "1; with `from` 2", where 2 is the default for fine-tuning.
std::string OrTuning(const std::string& usual, const std::string& tuning, bool tunes) {
  return !tunes || usual == tuning ? usual : fmt::format("{}; with `from` {}", usual, tuning);
}

}  // namespace

Compute Chosen(ComputeChoice choice) {
  const bool has_bfloat16 = kernels::CpuHas(Compute::bfloat16);
  Check(choice != ComputeChoice::bfloat16 || has_bfloat16,
        "`compute` bfloat16: this processor does not support it (AVX-512 BF16), only float32");
  return choice == ComputeChoice::float32 || !has_bfloat16 ? Compute::float32 : Compute::bfloat16;
}

std::vector<std::string> ModelTraining::inputs() const {
  std::vector<std::string> all = train;
  all.insert(all.end(), valid.begin(), valid.end());
  all.push_back(from);
  return all;
}

Option& AddTrainingCompute(OptionTable& table, ComputeChoice& choice) {
  return AddChoice<ComputeChoice>(
      table, "--compute", choice,
      {{"auto", ComputeChoice::automatic}, {"float32", ComputeChoice::float32}, {"bfloat16", ComputeChoice::bfloat16}},
      "Type of the GEMMs' inputs; weights and sums are float32 (auto: the fastest)");
}

void Describe(OptionTable& table, ModelTraining& options, const TrainingDefaults& defaults,
              const TrainingWords& words) {
  table.Add("--train", options.train, words.train).Required().Type("FILE");
  if (!words.valid.empty()) {
    table.Add("--valid", options.valid, words.valid).Type("FILE");
    table.Add("--validate-split", options.validate_split, NumberBelow(0, 1),
              "Validate on this share of `train`, chosen by `seed`, instead of `valid`");
  }
  table.Add("--out", options.out, "Folder for the model and the training's state").Required().Type("DIR");
  Option* from = nullptr;
  if (!words.from.empty()) from = &table.Add("--from", options.from, words.from).Model().Type("DIR");
  const auto add_size = [&](const char* name, auto& value, const char* description, std::int64_t usual) -> Option& {
    Option& option = table.Add(name, value, Between(1, 1 << 15), description).Group(kModelGroup);
    if (from != nullptr) option.Excludes(*from);
    return option.Default(fmt::format("{}", usual));
  };
  const ModelSizes& sizes = defaults.sizes;
  add_size("--layers", options.layers, "Layers", sizes.layers);
  add_size("--model-dim", options.model_dim, "Size of embeddings and layers", sizes.model);
  add_size("--heads", options.heads, "Attention heads", sizes.heads);
  add_size("--ffn-dim", options.ffn_dim, "Inner size of the feed-forward network", sizes.ffn)
      .Default(sizes.ffn > 0 ? fmt::format("{}", sizes.ffn) : "4 times the model's");
  const auto add_dropout = [&](const char* name, auto& value, const char* description, const std::string& usual) {
    table.Add(name, value, NumberBelow(0, 1), description).Group(kTrainingGroup).Default(usual);
  };
  add_dropout("--dropout", options.dropout, "Dropout of embeddings, sublayers and attention",
              OrTuning(fmt::format("{}", defaults.dropout), "the model's own", from != nullptr));
  add_dropout("--attention-dropout", options.attention_dropout, "Dropout of attention weights", "as `dropout`");
  DescribeOptimization(table, options, defaults, words);
}

void DescribeOptimization(OptionTable& table, ModelTraining& options, const TrainingDefaults& defaults,
                          const TrainingWords& words) {
  const bool tunes = !words.from.empty();
  const auto add = [&](const char* name, auto& value, const OptionCheck& check, const char* description) -> Option& {
    return table.Add(name, value, check, description).Group(kTrainingGroup);
  };
  const auto add_with_default = [&](const char* name, auto& value, const OptionCheck& check,
                                    const char* description) -> Option& {
    return add(name, value, check, description).ShowDefault();
  };
  const auto number = [](double value) {  // in decimal notation
    std::string digits = fmt::format("{:.9f}", value);
    digits.erase(digits.find_last_not_of('0') + 1);
    return digits.ends_with('.') ? digits.substr(0, digits.size() - 1) : digits;
  };
  add(words.batch, options.batch, AtLeast(1), words.batch_description).Default(fmt::format("{}", defaults.batch));
  add_with_default("--accumulation", options.accumulation, AtLeast(1), "Batches per step");
  add("--epochs", options.epochs, AtLeast(1), "Stop after N epochs")
      .Default(fmt::format("{}, unless another end is given{}", defaults.epochs,
                           tunes && defaults.tuning_epochs != defaults.epochs
                               ? fmt::format("; with `from` {}", defaults.tuning_epochs)
                               : ""));
  add("--steps", options.steps, AtLeast(1), "Stop after N steps");
  add("--minutes", options.minutes, NumberAbove(0), "Stop after X minutes");
  const auto word = [](ScheduleKind kind) {
    return kind == ScheduleKind::paper                 ? "paper"
           : kind == ScheduleKind::inverse_square_root ? "inverse-square-root"
           : kind == ScheduleKind::cosine              ? "cosine"
                                                       : "linear";
  };
  AddChoice<ScheduleKind>(table, "--schedule", options.schedule,
                          {{"paper", ScheduleKind::paper},
                           {"inverse-square-root", ScheduleKind::inverse_square_root},
                           {"cosine", ScheduleKind::cosine},
                           {"linear", ScheduleKind::linear}},
                          "Learning rate schedule after the warm-up")
      .Default(OrTuning(word(defaults.schedule), word(defaults.tuning_schedule), tunes))
      .Group(kTrainingGroup);
  add("--warmup", options.warmup, AtLeast(1), "Steps of linear warm-up to the peak")
      .Default(fmt::format("{}, or a tenth of the steps if at most {}{}", defaults.longest_warmup,
                           2 * defaults.longest_warmup, tunes ? "; with `from` a tenth of the steps" : ""));
  add("--learning-rate", options.learning_rate, NumberAbove(0), "Peak learning rate")
      .Default(defaults.learning_rate > 0
                   ? OrTuning(number(defaults.learning_rate), number(defaults.tuning_rate), tunes)
                   : "the paper's (model * warmup)^-0.5");
  add("--weight-decay", options.weight_decay, NumberFrom(0), "AdamW's weight decay")
      .Default(OrTuning(number(defaults.weight_decay), number(defaults.tuning_weight_decay), tunes));
  add_with_default("--layer-decay", options.layer_decay, NumberAbove(0, 1),
                   "Factor of the learning rate from each layer to the one below it");
  table
      .Add("--freeze", options.freeze, NotEmpty(),
           "Do not train the parameters whose names match; * stands for any characters")
      .Type("PATTERN")
      .Group(kTrainingGroup);
  table
      .Add("--rate", options.rate, NotEmpty(),
           "Factor of the learning rate of the parameters whose names match; the first match counts")
      .Type("PATTERN=FACTOR")
      .Group(kTrainingGroup);
  add("--clip-norm", options.clip_norm, NumberFrom(0), "Clip the gradient to this norm; 0: do not clip")
      .Default(number(defaults.clip_norm));
  add("--average-decay", options.average_decay, NumberBelow(0, 1),
      "Decay of an exponential moving average of the weights; 0: none")
      .Default(number(defaults.average_decay));
  add("--average-last", options.average_last, AtLeast(1), "Average the weights of the last N validations at the end")
      .Default("1");
  add("--validate-every", options.validate_every, AtLeast(1), "Validate every N steps").Default("each epoch");
  table
      .Add("--validate-metric", options.validate_metric, NotEmpty(),
           "Choose the best model by this score, such as loss")
      .Type("NAME")
      .Default("the task's first")
      .Group(kTrainingGroup);
  add("--patience", options.patience, AtLeast(0), "Stop after N validations without improvement; 0: never")
      .Default("0");
  AddTrainingCompute(table, options.compute).Group(kTrainingGroup);
  AddChoice<GradientType>(
      table, "--gradient-type", options.gradient_type,
      {{"float32", GradientType::float32}, {"bfloat16", GradientType::bfloat16}},
      "Round the gradients of a step's micro-batches and their sums to this type; bfloat16 halves what ranks send")
      .Group(kTrainingGroup);
  table.Add("--shard-optimizer", options.shard_optimizer, "With several ranks, divide the optimizer's state among them")
      .Group(kTrainingGroup);
  table.Add("--profile", options.profile, "Report after fifty steps where their time went").Group(kTrainingGroup);
  add_with_default("--log-every", options.log_every, AtLeast(0), "Log every N steps; 0: never");
  add_with_default("--seed", options.seed, Seed(), "Random seed; the same seed gives the same run");
  table.Add("--resume", options.resume,
            "Resume the training in `out`, or start it if there is none; with a new `epochs` or `steps` the "
            "schedule has the new length");
}

void ApplyPreset(OptionTable& table, const ModelTraining& options, const OptionValues& values) {
  const bool has_end = options.has_end();
  for (const auto& [name, value] : values) {
    Option& option = table.Get(name);
    const bool is_size = option.group() == kModelGroup;
    if ((is_size && !options.from_scratch()) || (name == "--epochs" ? has_end : option.has_value())) continue;
    option.Give({value});
  }
}

void AddPairColumns(OptionTable& table, PairColumns& columns, const char* group) {
  const auto add = [&](const char* name, std::string& column, const char* text, const char* usual) {
    AddColumn(table, name, column,
              fmt::format("Column of the {} in .jsonl, .csv and .tsv files, or its language in \"translation\"", text))
        .Default(usual)
        .Group(group);
  };
  add("--source-column", columns.source, "source", "source, document, article or text");
  add("--target-column", columns.target, "target", "target, summary or highlights");
}

TrainingPlan CompleteTraining(const ModelTraining& options, const TrainingDefaults& defaults, bool validates) {
  const bool tunes = !options.from_scratch();
  Check(!IsGguf(options.from), "{}: a GGUF file cannot be trained; name a folder in Hugging Face's layout",
        options.from);
  TrainingPlan plan;
  plan.sizes = {.model = options.model_dim.value_or(defaults.sizes.model),
                .ffn = options.ffn_dim.value_or(defaults.sizes.ffn),
                .heads = options.heads.value_or(defaults.sizes.heads),
                .layers = options.layers.value_or(defaults.sizes.layers)};
  plan.dropout = options.dropout.value_or(defaults.dropout);
  plan.attention_dropout = options.attention_dropout.value_or(plan.dropout);
  TrainingOptions& training = plan.training;
  training.schedule = {.kind = options.schedule.value_or(tunes ? defaults.tuning_schedule : defaults.schedule),
                       .warmup = options.warmup.value_or(kWarmupUnlessGiven),
                       .peak = options.learning_rate.value_or(tunes ? defaults.tuning_rate : defaults.learning_rate),
                       .model = plan.sizes.model};
  training.adam.beta2 = defaults.beta2;
  training.adam.epsilon = defaults.epsilon;
  training.adam.weight_decay =
      options.weight_decay.value_or(tunes ? defaults.tuning_weight_decay : defaults.weight_decay);
  training.adam.clip_norm = options.clip_norm.value_or(defaults.clip_norm);
  training.adam.average_decay = options.average_decay.value_or(defaults.average_decay);
  training.adam.layer_decay = options.layer_decay;
  for (const std::string& pattern : options.freeze)
    training.adam.groups.push_back({.pattern = pattern, .frozen = true});
  for (const std::string& rate : options.rate) training.adam.groups.push_back(RateOf(rate));
  training.accumulation = options.accumulation;
  training.epochs = options.has_end() ? options.epochs : tunes ? defaults.tuning_epochs : defaults.epochs;
  training.steps = options.steps;
  training.minutes = options.minutes;
  training.validate_every = options.validate_every;
  training.patience = options.patience.value_or(0);
  training.validate_metric = options.validate_metric;
  training.average_last = options.average_last.value_or(1);
  training.log_every = options.log_every;
  training.seed = options.seed;
  training.gradient_type = options.gradient_type;
  training.ranks = options.ranks;
  training.shard_optimizer = options.shard_optimizer;
  CheckTrainingOptions(training);
  Check(!FallsToZero(training.schedule.kind) || training.epochs > 0 || training.steps == 0 ||
            training.schedule.warmup <= training.steps,
        "`warmup` {}: the learning rate falls to zero at `steps` {}, and must reach its peak before that",
        training.schedule.warmup, training.steps);
  if (validates) CheckValidation(!options.valid.empty(), options.validate_split);
  Check(plan.sizes.model >= 1 && plan.sizes.inner() >= 1 && plan.sizes.heads >= 1 && plan.sizes.layers >= 1,
        "`model_dim` {}, `ffn_dim` {}, `heads` {} and `layers` {} must be at least 1", plan.sizes.model,
        plan.sizes.inner(), plan.sizes.heads, plan.sizes.layers);
  Check(options.batch.value_or(defaults.batch) >= 1, "a batch of {}: must be at least 1", options.batch.value_or(0));
  Check(tunes || !defaults.has_heads || plan.sizes.model % plan.sizes.heads == 0,
        "`heads` {} does not divide `model_dim` {}", plan.sizes.heads, plan.sizes.model);
  plan.compute = Chosen(options.compute);
  plan.batches = {.batch_size = options.batch.value_or(defaults.batch), .seed = options.seed};
  return plan;
}

void CheckValidation(bool has_files, double share) {
  Check(!has_files || share == 0, "`validate_split` replaces `valid`: give one of them");
  Check(has_files || share > 0, "`valid` FILE ... or `validate_split` SHARE is needed, to validate on");
}

void CheckNotEmpty(std::size_t count, const char* things, const std::vector<std::string>& paths,
                   const TextShare& share) {
  const std::string files = fmt::format("{}", fmt::join(paths, ", "));
  Check(count > 0 || share.share > 0, "{}: there are no {} in it", files, things);
  Check(count > 0, "`validate_split` {}: of the {} in {} none are {}", share.share, things, files,
        share.held_out ? "held out, to validate on" : "left to train on");
}

void AddLabelSmoothing(OptionTable& table, double& label_smoothing) {
  table
      .Add("--label-smoothing", label_smoothing, NumberBelow(0, 1),
           "Share of the probability that is spread over the whole vocabulary")
      .ShowDefault()
      .Group(kTrainingGroup);
}

void AddRDrop(OptionTable& table, TeacherForcingOptions& options) {
  table
      .Add("--r-drop", options.r_drop, NumberFrom(0),
           "Weight of the divergence between two passes over each batch with different dropout masks (R-Drop); 0: one "
           "pass")
      .ShowDefault()
      .Group(kTrainingGroup);
  table.Add("--r-drop-after", options.r_drop_after, AtLeast(0), "Epochs before R-Drop starts")
      .ShowDefault()
      .Group(kTrainingGroup);
}

void SetRDrop(const TeacherForcingOptions& options, Json& of) {
  if (options.r_drop == 0) return;
  of.Set("r_drop", options.r_drop);
  of.Set("r_drop_after", options.r_drop_after);
}

TrainingResult RunModelTraining(const TrainingTask& task, const ModelTraining& options, const TrainingPlan& plan,
                                const char* name, const std::string& labels, std::uint64_t corpus_hash, Json of,
                                const std::function<void(const std::string& folder)>& save,
                                const TrainingObserver& observer) {
  of.Set("task", name);
  of.Set("corpus_hash", fmt::format("{:016x}", corpus_hash));
  of.Set("parameters", task.model->parameters().count());
  if (options.from_scratch()) {
    const ModelSizes& sizes = plan.sizes;
    of.Set("layers", sizes.layers);
    of.Set("model_dim", sizes.model);
    of.Set("heads", sizes.heads);
    of.Set("ffn_dim", sizes.inner());
    of.Set("dropout", plan.dropout);
    of.Set("attention_dropout", plan.attention_dropout);
  } else {
    of.Set("dropout", options.dropout ? Json(*options.dropout) : Json());
    of.Set("attention_dropout", options.attention_dropout ? Json(*options.attention_dropout) : Json());
  }
  return RunTraining(task, plan.training,
                     {.out = options.out,
                      .of = std::move(of),
                      .validation = options.valid,
                      .save = save,
                      .compute = plan.compute,
                      .resume = options.resume,
                      .profile = options.profile,
                      .fine_tuning = !options.from_scratch(),
                      .labels = labels},
                     observer);
}

}  // namespace headlight
