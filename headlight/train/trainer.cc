#include "headlight/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/base/hash.h"
#include "headlight/base/in_file.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/train/best_validation.h"
#include "headlight/train/checkpoint.h"
#include "headlight/train/step_batches.h"
#include "headlight/train/training_ranks.h"

namespace headlight {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

void CheckTrainingOptions(const TrainingOptions& options) {
  Check(options.epochs >= 0 && options.steps >= 0 && options.minutes >= 0 && std::isfinite(options.minutes),
        "epochs, steps and minutes cannot be negative");
  Check(options.epochs > 0 || options.steps > 0 || options.minutes > 0,
        "a training run needs a limit: epochs, steps or minutes");
  Check(options.accumulation >= 1, "a step needs at least one batch, not {}", options.accumulation);
  Check(options.clip_part_norm >= 0, "the norm to which a micro-batch's gradient is clipped cannot be negative");
  Check(options.average_last >= 1, "at least one validation is averaged, not {}", options.average_last);
  Check(options.validate_every >= 0 && options.patience >= 0 && options.log_every >= 0,
        "validation intervals, patience and log intervals cannot be negative");
}

namespace {

class Training {
 public:
  Training(const TrainingTask& task, const TrainingOptions& options, const TrainingOutput& output,
           const TrainingObserver& observer)
      : task_(task),
        model_(*task.model),
        options_(options),
        output_(output),
        ranks_(options.ranks),
        observer_(ranks_.first() ? observer : TrainingObserver{.stop = observer.stop}),
        optimizer_(options.adam, model_.parameters(),
                   options.shard_optimizer && ranks_.several() ? options.ranks : nullptr) {
    CheckSchedule(options.schedule);
    CheckTrainingOptions(options);
    Check(!FallsToZero(options.schedule.kind) || options.schedule.total > 0 || options.minutes > 0,
          "a learning rate that falls to zero needs a limit: steps or minutes");
    std::vector<std::string> metrics = {"loss", "perplexity"};
    metrics.insert(metrics.end(), task.scores.begin(), task.scores.end());
    Check(options.validate_metric.empty() || std::ranges::find(metrics, options.validate_metric) != metrics.end(),
          "`validate_metric` {}: the validations of this training report {}", options.validate_metric,
          fmt::join(metrics, ", "));
  }

  TrainingResult Run(bool resume) {
    TrainingResult result;
    NameRankInErrors(ranks_, [&] { result = RunOnRank(resume); });
    return result;
  }

 private:
  TrainingResult RunOnRank(bool resume) {
    ranks_.CheckSame(output_.run, model_.parameters());
    model_.parameters().PrepareTraining();
    char has_checkpoint = resume && ranks_.first() && HasCheckpoint(output_.checkpoint) ? 1 : 0;
    if (ranks_.several()) Broadcast(*ranks_.ranks(), BytesOf(std::span(&has_checkpoint, 1)));
    if (has_checkpoint != 0) {
      LoadCheckpoint(output_.checkpoint, output_.run, state_, optimizer_, task_, ranks_.ranks());
      saved_step_ = optimizer_.step;
      if (state_.finished && (AtLimit() || OutOfPatience())) return Result(TrainingEnd::finished);
      Note(fmt::format("resumed after step {}", optimizer_.step));
    }
    state_.finished = false;
    begin_ = Clock::now();
    seconds_before_ = state_.seconds;
    last_save_ = Clock::now();
    TrainingEnd end = TrainingEnd::limit;
    try {
      end = Loop();
      if (end != TrainingEnd::stopped) Finish();
    } catch (const Cancelled&) {  // a cancelled validation changes nothing
      end = TrainingEnd::stopped;
    }
    if (end == TrainingEnd::stopped) Save();
    if (output_.save_last && ranks_.first()) output_.save_last();
    if (end != TrainingEnd::stopped) {
      state_.finished = true;
      Save();
    }
    return Result(end);
  }

  TrainingEnd Loop() {
    const auto begin = [&] { return StepBatches(task_, state_.position, options_.accumulation, ranks_.ranks()); };
    const bool resumed = state_.position.epoch > 0 || state_.position.batch > 0;
    StepBatches batches = resumed ? InFile(output_.checkpoint + "/state.json", begin) : begin();
    log_begin_ = Clock::now();
    for (;;) {
      if (ValidationIsDue()) ValidateAndKeep();
      if (OutOfPatience()) return TrainingEnd::patience;
      if (AtLimit()) return TrainingEnd::limit;
      const StepNews news = Step(batches);
      if (news.stop) return TrainingEnd::stopped;
      if (news.save) Save();
    }
  }

  bool ValidationIsDue() const {
    if (optimizer_.step == state_.validated_step) return false;
    return options_.validate_every > 0 ? optimizer_.step % options_.validate_every == 0 : state_.position.batch == 0;
  }

  // Updates the parameters once, from `accumulation` batches, or fewer at the end of an epoch.
  StepNews Step(StepBatches& batches) {
    const Clock::time_point begin = Clock::now();
    const double waited = ranks_.several() ? ranks_.ranks()->seconds_waited : 0;
    if (ranks_.several()) ranks_.ranks()->step = optimizer_.step + 1;
    const BatchPosition location = state_.position;
    const auto [parts, labels, next, batches_in_epoch] = batches.Next();
    state_.position = next;
    batches_in_epoch_ = batches_in_epoch;
    const double loss = ComputeGradients(model_.parameters(), task_.loss, parts,
                                         {.labels = labels,
                                          .seed = options_.seed + static_cast<std::uint64_t>(optimizer_.step),
                                          .clip_part_norm = options_.clip_part_norm,
                                          .type = options_.gradient_type,
                                          .ranks = ranks_.several() ? ranks_.ranks() : nullptr,
                                          .own_pieces = options_.shard_optimizer,
                                          .sums = task_.part_sums});
    const double learning_rate = LearningRate(options_.schedule, optimizer_.step + 1, Progress());
    const auto fail_diverged = [&](const char* what) {
      FailDiverged(what, optimizer_.step + 1,
                   fmt::format("epoch {}, batch {}", location.epoch + 1, location.batch + 1));
    };
    if (!std::isfinite(loss)) fail_diverged("training loss");
    try {
      gradient_norm_ = optimizer_.Step(model_.parameters(), learning_rate, WeightDecay());
    } catch (const Error&) {
      fail_diverged("gradient");
    }
    if (task_.after_step) task_.after_step(optimizer_.step, options_.schedule.total);
    state_.labels += labels;
    state_.loss_sum += loss * static_cast<double>(labels);
    state_.loss_labels += labels;
    log_labels_ += labels;
    state_.seconds = seconds_before_ + SecondsSince(begin_);
    Report(learning_rate);
    StepNews news{.seconds = state_.seconds,
                  .busy_seconds = 0,
                  .bits = Bits(),
                  .stop = observer_.stop && observer_.stop(),
                  .save = SecondsSince(last_save_) > 60 * options_.checkpoint_minutes};
    if (!ranks_.several()) return news;
    news.busy_seconds = SecondsSince(begin) - (ranks_.ranks()->seconds_waited - waited);
    news = ranks_.Agree(news, optimizer_.step);
    state_.seconds = news.seconds;
    return news;
  }

  // Returns a digest of values that must be equal on all ranks: the gradient's norm and some of the values. Different
  // values are used in each step.
  std::uint64_t Bits() const {
    if (!ranks_.several()) return 0;
    constexpr std::int64_t most = std::int64_t{1} << 14;
    const Tensor& values = model_.parameters().values();
    const std::int64_t blocks = (values.elements() + most - 1) / most, begin = optimizer_.step % blocks * most;
    Hash64 hash(std::bit_cast<std::uint64_t>(gradient_norm_));
    Dispatch(values.dtype(), [&]<typename T>(T) {
      const auto some = values.ViewRows(begin, std::min(most, values.elements() - begin)).span<T>();
      hash.Update({reinterpret_cast<const char*>(some.data()), some.size_bytes()});
    });
    return hash.value();
  }

  // Returns the weight decay of the next step.
  double WeightDecay() const {
    const double first = options_.adam.weight_decay;
    const std::int64_t total = options_.schedule.total;
    if (!options_.final_weight_decay || (total == 0 && options_.minutes == 0)) return first;
    const double done = total > 0 ? static_cast<double>(optimizer_.step) / static_cast<double>(total) : Progress();
    const double last = *options_.final_weight_decay;
    return last + (first - last) * (1 + std::cos(std::numbers::pi * std::min(1.0, done))) / 2;
  }

  void Report(double learning_rate) {
    const BatchPosition& next = state_.position;
    const StepReport report{
        .step = optimizer_.step,
        .epoch = Epoch(),
        .batch = next.batch == 0 ? batches_in_epoch_ : next.batch,
        .batches_in_epoch = batches_in_epoch_,
        .loss = state_.loss_sum / static_cast<double>(std::max<std::int64_t>(1, state_.loss_labels)),
        .learning_rate = learning_rate,
        .gradient_norm = gradient_norm_,
        .labels_per_second = static_cast<double>(log_labels_) / std::max(1e-9, SecondsSince(log_begin_)),
        .seconds = state_.seconds,
        .labels = state_.labels,
        .progress = Progress()};
    if (observer_.progress) observer_.progress(report);
    if (options_.log_every == 0 || optimizer_.step % options_.log_every != 0) return;
    if (observer_.step) observer_.step(report);
    if (const std::optional<std::string> slow = ranks_.SlowRank()) Note(*slow);
    state_.loss_sum = 0;
    state_.loss_labels = 0;
    log_labels_ = 0;
    log_begin_ = Clock::now();
  }

  double Progress() const {
    const auto epochs =
        static_cast<double>(state_.position.epoch) +
        (batches_in_epoch_ > 0 ? static_cast<double>(state_.position.batch) / static_cast<double>(batches_in_epoch_)
                               : 0);
    double progress = 0;
    if (options_.epochs > 0) progress = std::max(progress, epochs / static_cast<double>(options_.epochs));
    if (options_.steps > 0)
      progress = std::max(progress, static_cast<double>(optimizer_.step) / static_cast<double>(options_.steps));
    if (options_.minutes > 0) progress = std::max(progress, state_.seconds / (60 * options_.minutes));
    return std::min(progress, 1.0);
  }

  // Returns the epoch of the last step, counted from 1.
  std::int64_t Epoch() const { return state_.position.epoch + (state_.position.batch == 0 ? 0 : 1); }

  bool OutOfPatience() const { return options_.patience > 0 && state_.validations_since_best >= options_.patience; }

  [[noreturn]] void FailDiverged(const char* what, std::int64_t step, const std::string& location) const {
    std::string kept = "there is no checkpoint yet";
    if (saved_step_ > 0)
      kept = fmt::format("the last checkpoint, {} (step {}), is kept", output_.checkpoint, saved_step_);
    if (saved_step_ > 0 && state_.best_step > 0)
      kept = fmt::format("the best model (step {}) and the last checkpoint, {} (step {}), are kept", state_.best_step,
                         output_.checkpoint, saved_step_);
    Fail(
        "the training has diverged: the {} is not finite at step {} ({}, learning rate {:.2e}); {}. Try a lower "
        "learning rate, a longer warm-up or a smaller limit of the gradient's norm",
        what, step, location, LearningRate(options_.schedule, step, Progress()), kept);
  }

  bool AtLimit() const {
    return (options_.epochs > 0 && state_.position.epoch >= options_.epochs) ||
           (options_.steps > 0 && optimizer_.step >= options_.steps) ||
           (options_.minutes > 0 && state_.seconds >= 60 * options_.minutes);
  }

  void ValidateAndKeep() {
    const Clock::time_point begin = Clock::now();
    // The moving average of the parameters, if there is one, is validated and saved as the model.
    optimizer_.GatherAverage();
    WithState(optimizer_.average, [&] { ValidateNow(); });
    state_.validated_step = optimizer_.step;
    if (options_.average_last > 1) {
      state_.snapshots.push_back(optimizer_.step);
      if (static_cast<std::int64_t>(state_.snapshots.size()) > options_.average_last) state_.snapshots.pop_front();
    }
    state_.seconds = seconds_before_ + SecondsSince(begin_);
    // All ranks use rank 0's time, because the next learning rate may depend on it.
    if (ranks_.several()) Broadcast(*ranks_.ranks(), BytesOf(std::span(&state_.seconds, 1)));
    Save();
    log_begin_ += Clock::now() - begin;  // training speed excludes validation time
    if (OutOfPatience()) Note(fmt::format("stopped after {} validations without improvement", options_.patience));
  }

  // Validates the model, and saves it if it is the best so far.
  void ValidateNow() {
    const PassWatch watch = {.cancelled = observer_.stop, .ranks = ranks_.several() ? ranks_.ranks() : nullptr};
    const Clock::time_point begin = Clock::now();
    model_.parameters().Pack();
    ValidationReport report = task_.validate(watch);
    model_.parameters().Unpack();
    report.seconds = SecondsSince(begin);
    report.step = optimizer_.step;
    report.epoch = Epoch();
    if (!std::isfinite(report.loss))
      FailDiverged("validation loss", report.step, fmt::format("epoch {}", report.epoch));
    report.best = KeepIfBest(report, options_.validate_metric, task_.last_is_best, state_);
    if (observer_.validation) observer_.validation(report);
    if (report.best && output_.save_best && ranks_.first()) output_.save_best();
  }

  void Finish() {
    if (state_.validated_step != optimizer_.step) ValidateAndKeep();  // the run ended between two validations
    if (options_.average_last > 1 && state_.snapshots.size() > 1) {
      Note(fmt::format("averaging the last {} validations' values", state_.snapshots.size()));
      WithState(MeanOfSnapshots(output_.checkpoint, state_, model_.parameters(), ranks_.ranks()),
                [&] { ValidateNow(); });
    }
  }

  // Runs body with Parameters::state temporarily replaced by `state`, unless `state` is empty.
  template <typename Body>
  void WithState(const Tensor& state, const Body& body) {
    if (state.empty()) return body();
    Parameters& parameters = model_.parameters();
    const Tensor own = parameters.state().Clone();
    parameters.state().CopyFrom(state);
    try {
      body();
    } catch (...) {
      parameters.state().CopyFrom(own);
      parameters.Unpack();
      throw;
    }
    parameters.state().CopyFrom(own);
  }

  void Save() {
    SaveCheckpoint(output_.checkpoint, output_.run, state_, optimizer_, task_, ranks_.ranks());
    saved_step_ = optimizer_.step;
    last_save_ = Clock::now();
  }

  TrainingResult Result(TrainingEnd end) {
    model_.parameters().Pack();
    return {end, optimizer_.step, state_.best_step, state_.best_metric, BestValue(state_)};
  }

  void Note(const std::string& text) const {
    if (observer_.note) observer_.note(text);
  }

  const TrainingTask& task_;
  Model& model_;
  const TrainingOptions& options_;
  const TrainingOutput& output_;
  TrainingRanks ranks_;
  const TrainingObserver observer_;
  Optimizer optimizer_;
  TrainingState state_;
  double gradient_norm_ = 0;
  std::int64_t batches_in_epoch_ = 0;
  std::int64_t saved_step_ = 0;  // the step of the last checkpoint
  Clock::time_point begin_, last_save_, log_begin_;
  double seconds_before_ = 0;
  std::int64_t log_labels_ = 0;
};

}  // namespace

TrainingResult Train(const TrainingTask& task, const TrainingOptions& options, const TrainingOutput& output,
                     bool resume, const TrainingObserver& observer) {
  return Training(task, options, output, observer).Run(resume);
}

}  // namespace headlight
