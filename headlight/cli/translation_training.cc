#include "headlight/cli/translation_training.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/hash.h"
#include "headlight/cli/profile_report.h"
#include "headlight/cli/training_progress.h"
#include "headlight/data/lines.h"
#include "headlight/inspect/drawing/training_drawing.h"
#include "headlight/io/json_view.h"
#include "headlight/train/checkpoint.h"
#include "headlight/train/metrics.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

volatile std::sig_atomic_t interrupted = 0;

void Interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);  // a second Ctrl-C ends the program at once
}

std::string In(const std::string& folder, const char* name) { return fmt::format("{}/{}", folder, name); }

std::string CheckpointOf(const TranslationTraining& settings) { return In(settings.out, "checkpoint"); }

// A training's folder is free, or holds a training that is to be resumed.
void CheckOut(const TranslationTraining& settings) {
  Check(!settings.out.empty(), "--out: a folder is needed");
  if (!fs::exists(settings.out)) return;
  Check(fs::is_directory(settings.out), "{}: not a folder", settings.out);
  if (fs::is_empty(settings.out)) return;
  const bool training = fs::exists(In(settings.out, "training.json"));
  Check(training, "{}: holds something else than a training, such as {}; give another --out", settings.out,
        fs::directory_iterator(settings.out)->path().filename().string());
  Check(settings.resume, "{}: holds a training already; --resume goes on with it, another --out begins anew",
        settings.out);
}

std::int64_t CountLines(const std::string& path) {
  LineReader lines(path);
  while (lines.Next()) continue;
  return lines.line_number();
}

// What is wrong with the text is better known before anything is learned from it and written.
void CheckText(const std::string& source, const std::string& target) {
  const std::int64_t source_lines = CountLines(source), target_lines = CountLines(target);
  Check(source_lines == target_lines, "{} has {} lines, but {} has {}: each line needs its translation", source,
        source_lines, target, target_lines);
  Check(source_lines > 0, "{}: there is no line in it", source);
}

ValidationSet ReadValidation(const TranslationTraining& settings, const Tokenizer& tokenizer) {
  ValidationSet set;
  set.source_texts = ReadLines(settings.valid_source);
  set.references = ReadLines(settings.valid_target);
  const auto encode = [&](const std::string& path, const std::vector<std::string>& texts, Side side) {
    std::vector<std::vector<std::int32_t>> ids;
    for (const std::string& text : texts) {
      ids.push_back(tokenizer.Encode(text, side));
      Check(static_cast<std::int64_t>(ids.back().size()) < settings.model.positions,
            "{}: line {} has {} tokens, more than the model's {} positions", path, ids.size(), ids.back().size() + 1,
            settings.model.positions);
    }
    return ids;
  };
  set.sources = encode(settings.valid_source, set.source_texts, Side::source);
  set.targets = encode(settings.valid_target, set.references, Side::target);
  set.decode = [tokenizer](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); };
  return set;
}

// What a resumed training must have in common with the one that began. What only says when it ends may differ.
Json RunOf(const TranslationTraining& settings, const Corpus& corpus) {
  const TransformerConfig& model = settings.model;
  const TrainingOptions& training = settings.training;
  return Json::Object{{"corpus_hash", fmt::format("{:016x}", corpus.hash())},
                      {"seed", training.seed},
                      {"compute", kernels::Name(settings.compute)},
                      {"layers", model.encoder_layers},
                      {"model_dim", model.model},
                      {"heads", model.encoder_heads},
                      {"ffn_dim", model.encoder_ffn},
                      {"norm", model.norm == NormPlace::post ? "post" : "pre"},
                      {"activation", static_cast<int>(model.activation)},
                      {"dropout", model.dropout},
                      {"attention_dropout", model.attention_dropout},
                      {"tie_source_target", model.tie_source_target},
                      {"tie_output", model.tie_output},
                      {"positions", model.positions},
                      {"bpe_dropout", settings.bpe_dropout},
                      {"batch_tokens", training.batches.batch_tokens},
                      {"accumulation", training.accumulation},
                      {"label_smoothing", training.label_smoothing},
                      {"schedule", static_cast<int>(training.schedule.kind)},
                      {"warmup", training.schedule.warmup},
                      {"learning_rate", training.schedule.peak},
                      {"schedule_steps", training.schedule.total},
                      {"beta1", training.adam.beta1},
                      {"beta2", training.adam.beta2},
                      {"epsilon", training.adam.epsilon},
                      {"weight_decay", training.adam.weight_decay},
                      {"clip_norm", training.adam.clip_norm},
                      {"average_decay", training.adam.average_decay},
                      {"average_last", training.average_last},
                      {"validate_every", training.validate_every}};
}

void DrawCurves(const std::string& out) {
  const auto curve = [&](const char* name) {
    MetricSeries series = ReadMetric(out, name);
    return Curve{std::move(series.steps), std::move(series.values)};
  };
  TrainingCurves curves{.title = fs::path(out).filename().string(),
                        .train_loss = curve("loss"),
                        .validation_loss = curve("validation_loss"),
                        .bleu = curve("bleu"),
                        .learning_rate = curve("learning_rate")};
  if (!curves.train_loss.steps.empty() || !curves.validation_loss.steps.empty())
    DrawTraining(curves, In(out, "training.svg"));
}

// Where a schedule falls to zero: at the training's end, by the number of batches that the first epoch has.
std::int64_t StepsOf(const TrainingOptions& options, const Corpus& corpus) {
  if (options.epochs == 0) return options.steps;
  const std::int64_t batches = BatchStream(corpus, options.batches).Next().batches_in_epoch;
  const std::int64_t steps = options.epochs * ((batches + options.accumulation - 1) / options.accumulation);
  return options.steps == 0 ? steps : std::min(steps, options.steps);
}

// Looks at fifty steps after the first five, or at fewer where a validation comes, and then tells what it saw.
class StepProfiler {
 public:
  StepProfiler(const TranslationTraining& settings, TrainingProgress& progress)
      : compute_(settings.compute), validate_every_(settings.training.validate_every), progress_(progress) {}

  void Step(const StepReport& report) {
    if (done_) return;
    if (first_ == 0 && ++steps_ == 5) {
      machine_ = MeasureMachine(compute_);
      first_ = report.step;
      begin_ = std::chrono::steady_clock::now();
      StartProfile();
    } else if (first_ != 0 && (report.step == first_ + 50 || Validates(report))) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
      progress_.Note(ProfileReport(TakeProfile(), report.step - first_, seconds.count(), machine_));
      done_ = true;
    }
  }

 private:
  bool Validates(const StepReport& report) const {
    return validate_every_ > 0 ? report.step % validate_every_ == 0 : report.batch == report.batches_in_epoch;
  }

  kernels::Compute compute_;
  std::int64_t validate_every_;
  TrainingProgress& progress_;
  MachineRates machine_;
  std::int64_t steps_ = 0, first_ = 0;
  bool done_ = false;
  std::chrono::steady_clock::time_point begin_;
};

void SaveModel(const Transformer& model, const Tokenizer& tokenizer, const std::string& folder) {
  tokenizer.Save(folder, model.config().positions);
  model.Save(folder);
}

}  // namespace

Tokenizer LearnVocabulary(const std::string& source, const std::string& target, const VocabularyOptions& options) {
  LineReader source_lines(source), target_lines(target);
  bool of_source = true;
  return TrainVocabulary(
      [&](std::string_view& line) {
        std::optional<std::string_view> next = of_source ? source_lines.Next() : target_lines.Next();
        if (!next && of_source) {
          of_source = false;
          next = target_lines.Next();
        }
        if (next) line = *next;
        return next.has_value();
      },
      options);
}

bool Interrupted() { return interrupted != 0; }

void CatchInterrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, Interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);  // as nohup asks
}

TrainingResult TrainTranslation(const TranslationTraining& given) {
  TranslationTraining settings = given;
  settings.model.positions = std::max(settings.model.positions, std::int64_t{settings.corpus.max_length} + 1);
  CheckOut(settings);
  CheckText(settings.train_source, settings.train_target);
  CheckText(settings.valid_source, settings.valid_target);

  TrainingProgress progress(settings.quiet);
  fs::create_directories(settings.out);
  WriteFile(In(settings.out, "training.json"), Json(Json::Object{{"headlight_training", 1}}).Text());
  const bool resuming = settings.resume && HasCheckpoint(CheckpointOf(settings));
  if (!resuming)
    progress.Note(fmt::format("learning a vocabulary of {} from {} and {}", settings.vocabulary.size,
                              settings.train_source, settings.train_target));
  const Tokenizer tokenizer = fs::exists(In(settings.out, "source.spm"))
                                  ? Tokenizer::Load(settings.out)
                                  : LearnVocabulary(settings.train_source, settings.train_target, settings.vocabulary);
  tokenizer.Save(settings.out, settings.model.positions);
  settings.model.source_vocabulary = settings.model.target_vocabulary = tokenizer.size();
  settings.model.start_id = settings.model.pad_id = tokenizer.pad();
  settings.model.end_id = tokenizer.eos();

  settings.corpus.keep_text = settings.bpe_dropout > 0;
  const Corpus corpus(
      {settings.train_source, settings.train_target, In(settings.out, "corpus.cache")},
      [&](std::string_view text, Side side) { return tokenizer.Encode(text, side); },
      HashOf(MappedFile(In(settings.out, "source.spm")).text()), settings.corpus);
  const CorpusCounts& counts = corpus.counts();
  progress.Note(
      fmt::format("{} pairs of {}: {} empty, {} longer than {} tokens and {} lopsided ones are left out; {} source "
                  "and {} target tokens",
                  counts.kept, counts.lines, counts.empty, counts.over_long, settings.corpus.max_length,
                  counts.lopsided, counts.source_tokens, counts.target_tokens));
  const ValidationSet validation = ReadValidation(settings, tokenizer);

  Transformer model(settings.model);
  model.parameters().Initialise(settings.training.seed);
  model.parameters().SetCompute(settings.compute);
  progress.Note(fmt::format("a model of {:.1f} million parameters, computing in {}",
                            static_cast<double>(model.parameters().count()) / 1e6, kernels::Name(settings.compute)));

  settings.training.batches.start_id = settings.model.start_id;
  settings.training.batches.eos_id = settings.model.end_id;
  settings.training.batches.seed = settings.training.seed;
  if (settings.bpe_dropout > 0)
    settings.training.batches.sample = [&](std::string_view text, Side side, Random& random) {
      return tokenizer.EncodeSampled(text, random, settings.bpe_dropout, side);
    };

  Schedule& schedule = settings.training.schedule;
  if (FallsToZero(schedule.kind)) schedule.total = StepsOf(settings.training, corpus);

  const std::int64_t resumed_step =
      resuming ? ReadJson(In(CheckpointOf(settings), "state.json"))["step"].Integer(0) : 0;
  Metrics metrics(settings.out, resumed_step);
  StepProfiler profiler(settings, progress);
  const TrainingObserver observer{.step =
                                      [&](const StepReport& report) {
                                        metrics.Add(report);
                                        progress.Log(report);
                                      },
                                  .progress =
                                      [&](const StepReport& report) {
                                        progress.Step(report);
                                        if (settings.profile) profiler.Step(report);
                                      },
                                  .validation =
                                      [&](const ValidationReport& report) {
                                        metrics.Add(report);
                                        progress.Validation(report);
                                      },
                                  .note = [&](const std::string& text) { progress.Note(text); },
                                  .stop = Interrupted};
  const TrainingKeep keep{.checkpoint = CheckpointOf(settings),
                          .run = RunOf(settings, corpus),
                          .save_best = [&] { SaveModel(model, tokenizer, settings.out); },
                          .save_last =
                              [&] {
                                ReplaceFolder(In(settings.out, "last"),
                                              [&](const std::string& folder) { SaveModel(model, tokenizer, folder); });
                              }};
  const TrainingResult result = Train(model, corpus, validation, settings.training, keep, settings.resume, observer);
  DrawCurves(settings.out);
  if (result.end == TrainingEnd::stopped) progress.Note("stopped; --resume goes on from here");
  return result;
}

}  // namespace headlight
