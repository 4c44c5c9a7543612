#include "headlight/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "headlight/base/error.h"
#include "headlight/data/prefetch.h"
#include "headlight/generate/batched.h"
#include "headlight/text/metrics/bleu.h"
#include "headlight/train/checkpoint.h"

namespace headlight {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void CheckOptions(const TrainingOptions& options) {
  CheckSchedule(options.schedule);
  Check(options.epochs >= 0 && options.steps >= 0 && options.minutes >= 0 && std::isfinite(options.minutes),
        "epochs, steps and minutes cannot be negative");
  Check(options.epochs > 0 || options.steps > 0 || options.minutes > 0,
        "a training needs an end: epochs, steps or minutes");
  Check(options.label_smoothing >= 0 && options.label_smoothing < 1,
        "label smoothing must be from 0 to below 1, not {}", options.label_smoothing);
  Check(options.accumulation >= 1, "a step needs at least one batch, not {}", options.accumulation);
  Check(options.average_last >= 1, "at least one validation is averaged, not {}", options.average_last);
  Check(options.validate_every >= 0 && options.patience >= 0, "validation intervals and patience cannot be negative");
}

class Training {
 public:
  Training(const TrainingTask& task, const TrainingOptions& options, const TrainingKeep& keep,
           const TrainingObserver& observer)
      : task_(task),
        model_(*task.model),
        options_(options),
        keep_(keep),
        observer_(observer),
        optimizer_(options.adam, model_.parameters()) {
    CheckOptions(options);
  }

  TrainingResult Run(bool resume) {
    model_.parameters().PrepareTraining();
    if (resume && HasCheckpoint(keep_.checkpoint)) {
      LoadCheckpoint(keep_.checkpoint, keep_.run, state_, optimizer_, model_.parameters());
      Note(fmt::format("resumed after step {}", optimizer_.step));
    }
    begin_ = Clock::now();
    seconds_before_ = state_.seconds;
    last_save_ = Clock::now();
    const TrainingEnd end = Loop();
    const TrainingResult result = Finish(end);
    model_.parameters().Pack();
    return result;
  }

 private:
  TrainingEnd Loop() {
    BatchStream stream = task_.batches(state_.position);
    Prefetch<Batch> batches([&] { return stream.Next(); }, 4);
    log_begin_ = Clock::now();
    while (!state_.finished && !AtLimit()) {
      const bool epoch_ended = Step(batches);
      const bool validate = options_.validate_every > 0 ? optimizer_.step % options_.validate_every == 0 : epoch_ended;
      if (validate && ValidateAndKeep()) return TrainingEnd::patience;
      if (!validate && SecondsSince(last_save_) > 60 * options_.checkpoint_minutes) Save();
      if (observer_.stop && observer_.stop()) {
        Save();
        return TrainingEnd::stopped;
      }
    }
    return TrainingEnd::limit;
  }

  // One update of the parameters; whether it was an epoch's last.
  bool Step(Prefetch<Batch>& batches) {
    std::vector<Batch> step;
    std::int64_t tokens = 0;
    bool epoch_ended = false;
    while (static_cast<std::int64_t>(step.size()) < options_.accumulation && !epoch_ended) {
      step.push_back(batches.Next());
      tokens += LabelCount(step.back());
      epoch_ended = step.back().next.batch == 0;
    }
    const BatchPosition place = state_.position;
    const double loss = AddGradients(task_.loss, step, options_.seed + static_cast<std::uint64_t>(optimizer_.step));
    const auto failed_at = [&] {
      return fmt::format(
          "at step {} (epoch {}, batch {}); the last checkpoint is kept. A smaller learning rate, a longer "
          "warm-up or gradient clipping may help",
          optimizer_.step + 1, place.epoch + 1, place.batch + 1);
    };
    Check(std::isfinite(loss), "the training loss is {} {}", loss, failed_at());
    const double learning_rate = LearningRate(options_.schedule, optimizer_.step + 1);
    try {
      gradient_norm_ = optimizer_.Step(model_.parameters(), learning_rate);
    } catch (const Error&) {
      Fail("the gradient is not finite {}", failed_at());
    }
    state_.position = step.back().next;
    batches_in_epoch_ = step.back().batches_in_epoch;
    state_.target_tokens += tokens;
    state_.loss_sum += loss * static_cast<double>(tokens);
    state_.loss_tokens += tokens;
    log_tokens_ += tokens;
    state_.seconds = seconds_before_ + SecondsSince(begin_);
    Report(step.back(), learning_rate);
    return epoch_ended;
  }

  void Report(const Batch& batch, double learning_rate) {
    StepReport report{.step = optimizer_.step,
                      .epoch = batch.next.batch == 0 ? batch.next.epoch : batch.next.epoch + 1,
                      .batch = batch.next.batch == 0 ? batch.batches_in_epoch : batch.next.batch,
                      .batches_in_epoch = batch.batches_in_epoch,
                      .loss = state_.loss_sum / static_cast<double>(std::max<std::int64_t>(1, state_.loss_tokens)),
                      .learning_rate = learning_rate,
                      .gradient_norm = gradient_norm_,
                      .tokens_per_second = static_cast<double>(log_tokens_) / SecondsSince(log_begin_),
                      .seconds = state_.seconds,
                      .target_tokens = state_.target_tokens,
                      .progress = Progress()};
    if (observer_.progress) observer_.progress(report);
    if (optimizer_.step % options_.log_every != 0) return;
    if (observer_.step) observer_.step(report);
    state_.loss_sum = 0;
    state_.loss_tokens = 0;
    log_tokens_ = 0;
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

  bool AtLimit() const {
    return (options_.epochs > 0 && state_.position.epoch >= options_.epochs) ||
           (options_.steps > 0 && optimizer_.step >= options_.steps) ||
           (options_.minutes > 0 && state_.seconds >= 60 * options_.minutes);
  }

  // Whether patience is at its end.
  bool ValidateAndKeep() {
    const Clock::time_point begin = Clock::now();
    if (options_.average_last > 1) {
      state_.snapshots.push_back(optimizer_.step);
      if (static_cast<std::int64_t>(state_.snapshots.size()) > options_.average_last) state_.snapshots.pop_front();
    }
    // Where a moving average is kept, it is what is validated and kept as the model.
    WithValues(optimizer_.average, [&] {
      const ValidationReport report = ValidateNow();
      if (report.best && keep_.save_best) keep_.save_best();
    });
    const bool out_of_patience = options_.patience > 0 && state_.validations_since_best >= options_.patience;
    state_.finished = out_of_patience;
    state_.seconds = seconds_before_ + SecondsSince(begin_);
    Save();
    log_begin_ += Clock::now() - begin;  // what validation takes is not the training's speed
    if (out_of_patience) Note(fmt::format("no better validation in {}: stopped", options_.patience));
    return out_of_patience;
  }

  ValidationReport ValidateNow() {
    model_.parameters().Pack();
    ValidationReport report = task_.validate();
    model_.parameters().Unpack();
    report.step = optimizer_.step;
    report.epoch = state_.position.epoch;
    Check(std::isfinite(report.loss), "the validation loss is {} at step {}; the last checkpoint is kept", report.loss,
          report.step);
    report.best = state_.best_step == 0 || report.score > state_.best_score ||
                  (report.score == state_.best_score && report.loss < state_.best_loss);
    if (report.best) {
      state_.best_score = report.score;
      state_.best_loss = report.loss;
      state_.best_step = optimizer_.step;
      state_.validations_since_best = 0;
    } else {
      ++state_.validations_since_best;
    }
    if (observer_.validation) observer_.validation(report);
    return report;
  }

  TrainingResult Finish(TrainingEnd end) {
    TrainingResult result;
    result.end = end;
    result.steps = optimizer_.step;
    if (keep_.save_last) keep_.save_last();
    if (end == TrainingEnd::stopped) return result;
    const bool validated = state_.best_step == optimizer_.step || state_.validations_since_best > 0;
    if (!validated) ValidateAndKeep();  // the end came between two validations
    if (options_.average_last > 1 && state_.snapshots.size() > 1) {
      Note(fmt::format("averaging the last {} validations' values", state_.snapshots.size()));
      WithValues(MeanOfSnapshots(keep_.checkpoint, state_, model_.parameters()), [&] {
        result.final_model = ValidateNow();
        result.averaged = result.final_model.best;
        if (result.averaged && keep_.save_best) keep_.save_best();
      });
    }
    Save();
    return result;
  }

  // Runs body with these values in the parameters' place, unless there are none.
  template <typename Body>
  void WithValues(const Tensor& values, const Body& body) {
    if (values.empty()) return body();
    Parameters& parameters = model_.parameters();
    const Tensor own = parameters.values().Clone();
    parameters.values().CopyFrom(values);
    body();
    parameters.values().CopyFrom(own);
  }

  void Save() {
    SaveCheckpoint(keep_.checkpoint, keep_.run, state_, optimizer_, model_.parameters());
    last_save_ = Clock::now();
  }

  void Note(const std::string& text) const {
    if (observer_.note) observer_.note(text);
  }

  const TrainingTask& task_;
  Model& model_;
  const TrainingOptions& options_;
  const TrainingKeep& keep_;
  const TrainingObserver& observer_;
  Optimizer optimizer_;
  TrainingState state_;
  double gradient_norm_ = 0;
  std::int64_t batches_in_epoch_ = 0;
  Clock::time_point begin_, last_save_, log_begin_;
  double seconds_before_ = 0;
  std::int64_t log_tokens_ = 0;
};

}  // namespace

ValidationReport Validate(const EncoderDecoder& model, const ValidationSet& validation,
                          const DecodingOptions& decoding) {
  const Clock::time_point begin = Clock::now();
  ValidationReport report;
  report.loss = MeanLoss(model, validation.sources, validation.targets).mean;
  report.perplexity = std::exp(report.loss);

  std::vector<std::vector<std::int32_t>> sources = validation.sources;
  for (auto& source : sources) source.push_back(model.limits().end_id);
  std::vector<std::string> translations;
  // A model that has not yet learned to end goes round in circles: none gets longer than the longest reference. In
  // small batches, since each token is remembered.
  DecodingOptions limited = decoding;
  if (limited.max_length == 0) {
    std::size_t longest = 0;
    for (const auto& target : validation.targets) longest = std::max(longest, target.size());
    limited.max_length =
        static_cast<std::int32_t>(std::min(static_cast<std::int64_t>(longest) + 1, model.limits().positions));
  }
  constexpr std::int64_t batch_tokens = 1024;
  for (const auto& hypotheses : DecodeInBatches(model, sources, limited, batch_tokens))
    translations.push_back(validation.decode(hypotheses.front().ids));
  const std::vector<std::vector<std::string>> references = {validation.references};
  report.score = CorpusBleu(translations, references).score;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, translations.size()); ++i)
    report.samples.push_back({validation.source_texts[i], validation.references[i], translations[i]});
  report.seconds = SecondsSince(begin);
  return report;
}

TrainingResult Train(const TrainingTask& task, const TrainingOptions& options, const TrainingKeep& keep, bool resume,
                     const TrainingObserver& observer) {
  return Training(task, options, keep, observer).Run(resume);
}

TrainingTask TranslationTask(EncoderDecoder& model, const Corpus& corpus, const ValidationSet& validation,
                             const TrainingOptions& options) {
  return {
      .model = &model,
      .batches = [&](const BatchPosition& position) { return BatchStream(corpus, options.batches, position); },
      .loss = [&](Context& context, const Batch& batch,
                  double scale) { return TeacherForcedLoss(model, context, batch, options.label_smoothing, scale); },
      .validate = [&] { return Validate(model, validation, options.decoding); }};
}

}  // namespace headlight
