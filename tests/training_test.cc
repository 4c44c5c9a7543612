// Tests the training of a small translation model: the loss decreases, an interrupted run ends with the same result as
// an uninterrupted one, and error messages name the cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "headlight/base/error.h"
#include "headlight/base/file.h"
#include "headlight/base/parallel.h"
#include "headlight/base/storage.h"
#include "headlight/base/test_support.h"
#include "headlight/kernels/gemm.h"
#include "headlight/models/transformer.h"
#include "headlight/synthetic/grammar.h"
#include "headlight/text/tokenizers/vocabulary.h"
#include "headlight/train/checkpoint.h"
#include "headlight/train/metrics.h"
#include "headlight/train/objectives/translation.h"
#include "headlight/train/trainer.h"

namespace headlight::training_test {
namespace {

constexpr int kPairs = 300;

MarianTokenizer SmallTokenizer(const std::vector<SentencePair>& pairs) {
  std::size_t next = 0;
  return TrainVocabulary(
      [&](std::string_view& line) {
        if (next == 2 * pairs.size()) return false;
        line = next % 2 == 0 ? pairs[next / 2].german : pairs[next / 2].english;
        ++next;
        return true;
      },
      {.size = 300});
}

// The data and options of a training run, in a temporary folder.
struct Setting {
  TemporaryFolder folder;
  std::vector<SentencePair> pairs;
  MarianTokenizer tokenizer;
  Corpus corpus;
  TranslationValidation validation;

  static std::vector<SentencePair> Sample() {
    Random random(4);
    std::vector<SentencePair> pairs;
    for (int i = 0; i < kPairs; ++i) pairs.push_back(SampleSentence(random, Portion::training));
    return pairs;
  }

  CorpusFiles Write() const {
    std::string german, english;
    for (const SentencePair& pair : pairs) {
      german += pair.german + "\n";
      english += pair.english + "\n";
    }
    const CorpusFiles files{folder.File("train.de"), folder.File("train.en"), folder.File("cache")};
    WriteFile(files.source, german);
    WriteFile(files.target, english);
    return files;
  }

  Setting()
      : pairs(Sample()),
        tokenizer(SmallTokenizer(pairs)),
        corpus(Write(), [this](std::string_view text, Side side) { return tokenizer.Encode(text, side); }, 1, {}) {
    for (int i = 0; i < 4; ++i) {
      validation.source_texts.push_back(pairs[i].german);
      validation.references.push_back(pairs[i].english);
      validation.sources.push_back(tokenizer.Encode(pairs[i].german));
      validation.targets.push_back(tokenizer.Encode(pairs[i].english, Side::target));
    }
    validation.decode = [this](std::span<const std::int32_t> ids) { return tokenizer.Decode(ids); };
  }

  std::unique_ptr<Transformer> Model() const {
    TransformerConfig config;
    config.model = 16;
    config.encoder_layers = config.decoder_layers = 1;
    config.encoder_heads = config.decoder_heads = 2;
    config.encoder_ffn = config.decoder_ffn = 32;
    config.source_vocabulary = config.target_vocabulary = tokenizer.size();
    config.positions = 128;
    config.start_id = config.pad_id = tokenizer.pad();
    config.end_id = tokenizer.eos();
    auto model = std::make_unique<Transformer>(config);
    model->parameters().Initialize(3);
    return model;
  }

  TrainingTask Task(Transformer& model, double label_smoothing = 0.1) const {
    return TranslationTask(model, corpus, {.start_id = tokenizer.pad(), .eos_id = tokenizer.eos()}, validation,
                           {{.batch_size = 400}, label_smoothing});
  }

  TrainingOptions Options() const {
    TrainingOptions options;
    options.schedule = {ScheduleKind::paper, 20, 5e-3, 16};
    options.steps = 24;
    options.validate_every = 9;
    options.average_last = 2;
    options.log_every = 4;
    options.adam.clip_norm = 1;
    options.adam.average_decay = 0.9;
    options.accumulation = 2;
    return options;
  }

  TrainingOutput Output(const std::string& name) const {
    return {.checkpoint = folder.File(name), .run = Json::Object{{"what", "a test"}}, .save_best = {}, .save_last = {}};
  }
};

TEST(Training, TheLossDecreasesAndIsReported) {
  const Setting setting;
  const auto model = setting.Model();
  TrainingOptions options = setting.Options();
  options.steps = 60;
  std::vector<double> losses;
  int validations = 0;
  const TrainingObserver observer{.step = [&](const StepReport& report) { losses.push_back(report.loss); },
                                  .progress = {},
                                  .validation =
                                      [&](const ValidationReport& report) {
                                        ++validations;
                                        EXPECT_NEAR(report.perplexity, std::exp(report.loss), 1e-9);
                                        EXPECT_EQ(report.samples.size(), 3U);
                                      },
                                  .note = {},
                                  .stop = {}};
  const TrainingResult result = Train(setting.Task(*model), options, setting.Output("c"), false, observer);
  EXPECT_EQ(result.end, TrainingEnd::limit);
  EXPECT_EQ(result.steps, 60);
  EXPECT_EQ(losses.size(), 15U);
  EXPECT_LT(losses.back(), losses.front() - 1);
  EXPECT_GE(validations, 7);
}

TEST(Training, ValidationBoundsTheLengthOfTranslations) {
  Setting setting;
  std::size_t longest = 0, written = 0;
  for (const auto& target : setting.validation.targets) longest = std::max(longest, target.size());
  setting.validation.decode = [&](std::span<const std::int32_t> ids) {
    written = std::max(written, ids.size());
    return std::string();
  };
  const auto model = setting.Model();  // untrained model
  setting.Task(*model).validate({});
  EXPECT_GT(written, 0);
  EXPECT_LE(written, longest + 1);
}

TEST(Training, AnInterruptedRunEndsWithTheSameBits) {
  const Setting setting;
  const TrainingOptions options = setting.Options();
  const auto whole = setting.Model();
  Train(setting.Task(*whole), options, setting.Output("whole"), false, {});

  // The run is stopped repeatedly in the middle of an epoch, as with Ctrl-C, and resumed with a new model.
  std::vector<float> resumed;
  for (const std::int64_t stop : {2, 7, 11, 12, 100}) {
    const auto model = setting.Model();
    std::int64_t step = 0;
    const TrainingObserver observer{.step = {},
                                    .progress = [&](const StepReport& report) { step = report.step; },
                                    .validation = {},
                                    .note = {},
                                    .stop = [&] { return step == stop; }};
    Train(setting.Task(*model), options, setting.Output("parts"), true, observer);
    resumed = model->parameters().values().ToVector<float>();
  }
  EXPECT_EQ(resumed, whole->parameters().values().ToVector<float>());
}

TEST(Training, GradientsHaveTheSameBitsForAnyNumberOfThreads) {
  const Setting setting;
  const auto model = setting.Model();
  const TrainingTask task = setting.Task(*model);
  std::vector<TrainingPart> parts;
  std::int64_t labels = 0;
  const auto next = task.batches({});
  for (int i = 0; i < 5; ++i) {
    const TrainingBatch batch = next();
    parts.insert(parts.end(), batch.parts.begin(), batch.parts.end());
    labels += batch.labels;
  }
  model->parameters().PrepareTraining();
  const int threads = Threads();
  std::vector<float> first;
  for (const int count : {1, 2, 4}) {
    SetThreads(count);
    model->parameters().gradients().Fill(0);
    ComputeGradients(model->parameters(), task.loss, parts, {.labels = labels, .seed = 1});
    const std::vector<float> gradients = model->parameters().gradients().ToVector<float>();
    if (first.empty()) first = gradients;
    EXPECT_TRUE(gradients == first) << count << " threads";
  }
  SetThreads(threads);
}

TEST(Training, AnotherSeedGivesAnotherRun) {
  const Setting setting;
  TrainingOptions options = setting.Options();
  const auto one = setting.Model(), other = setting.Model();
  Train(setting.Task(*one), options, setting.Output("one"), false, {});
  options.seed = 2;  // changes only dropout, not the batches
  Train(setting.Task(*other), options, setting.Output("other"), false, {});
  EXPECT_NE(one->parameters().values().ToVector<float>(), other->parameters().values().ToVector<float>());
}

TEST(Training, RefusesACheckpointOfAnotherRun) {
  const Setting setting;
  const auto model = setting.Model();
  TrainingOutput output = setting.Output("c");
  Train(setting.Task(*model), setting.Options(), output, false, {});
  output.run = Json::Object{{"what", "another"}};
  EXPECT_THAT(ErrorOf([&] { Train(setting.Task(*model), setting.Options(), output, true, {}); }),
              testing::HasSubstr("what \"a test\", not \"another\""));
}

TEST(Training, ANaNLossStopsItAndKeepsTheCheckpoint) {
  const Setting setting;
  const auto model = setting.Model();
  const TrainingOutput output = setting.Output("c");
  std::int64_t step = 0;
  const TrainingObserver observer{.step = {},
                                  .progress =
                                      [&](const StepReport& report) {
                                        step = report.step;
                                        if (step == 11)
                                          model->parameters().values().span<float>()[5] =
                                              std::numeric_limits<float>::quiet_NaN();
                                      },
                                  .validation = {},
                                  .note = {},
                                  .stop = {}};
  EXPECT_THAT(ErrorOf([&] { Train(setting.Task(*model), setting.Options(), output, false, observer); }),
              testing::HasSubstr("at step 12"));
  Optimizer optimizer(setting.Options().adam, model->parameters());
  TrainingState state;
  LoadCheckpoint(output.checkpoint, output.run, state, optimizer, setting.Task(*model));
  EXPECT_EQ(optimizer.step, 9);
  for (const float value : model->parameters().values().span<float>()) EXPECT_TRUE(std::isfinite(value));
}

TEST(Training, Bfloat16TrainsLikeFloat32) {
  if (!kernels::CpuHas(Compute::bfloat16)) GTEST_SKIP() << "this processor has no bfloat16";
  const Setting setting;
  TrainingOptions options = setting.Options();
  options.steps = 60;
  std::vector<double> losses[2];
  for (const auto compute : {Compute::float32, Compute::bfloat16}) {
    const auto model = setting.Model();
    model->parameters().SetCompute(compute);
    TrainingObserver observer;
    observer.validation = [&](const ValidationReport& report) {
      losses[static_cast<int>(compute)].push_back(report.loss);
    };
    Train(setting.Task(*model), options, setting.Output(Name(compute)), false, observer);
  }
  ASSERT_EQ(losses[0].size(), losses[1].size());
  EXPECT_LT(losses[0].back(), 0.9 * losses[0].front());
  EXPECT_NE(losses[0], losses[1]);
  for (std::size_t i = 0; i < losses[0].size(); ++i) EXPECT_NEAR(losses[1][i], losses[0][i], 0.005 * losses[0][i]) << i;
}

TEST(Training, StepsAfterTheFirstEpochAllocateNoMemory) {
  const Setting setting;
  const auto model = setting.Model();
  const int threads = Threads();
  SetThreads(1);  // each thread allocates scratch memory when it is first used
  TrainingOptions options = setting.Options();
  options.validate_every = 1000000;
  options.average_last = 1;
  options.epochs = 4;
  options.steps = 0;
  std::int64_t allocations = 0;
  const TrainingObserver observer{.step = {},
                                  .progress =
                                      [&](const StepReport& report) {
                                        if (report.epoch > 2) return;
                                        allocations = GetStorageStatistics().system_allocations;
                                      },
                                  .validation = {},
                                  .note = {},
                                  .stop =
                                      [&] {
                                        EXPECT_EQ(GetStorageStatistics().system_allocations, allocations);
                                        return false;
                                      }};
  Train(setting.Task(*model), options, setting.Output("c"), false, observer);
  SetThreads(threads);
}

TEST(Training, NamesImpossibleOptions) {
  const Setting setting;
  const auto model = setting.Model();
  const auto error = [&](auto change) {
    TrainingOptions options = setting.Options();
    change(options);
    return ErrorOf([&] { Train(setting.Task(*model), options, setting.Output("c"), false, {}); });
  };
  EXPECT_THAT(error([](auto& options) { options.steps = 0; }), testing::HasSubstr("needs a limit"));
  EXPECT_THAT(error([](auto& options) { options.log_every = -1; }), testing::HasSubstr("negative"));
  EXPECT_THAT(ErrorOf([&] { setting.Task(*model, 1); }), testing::HasSubstr("label smoothing"));
  EXPECT_THAT(error([](auto& options) { options.accumulation = 0; }), testing::HasSubstr("at least one batch"));
  EXPECT_THAT(error([](auto& options) { options.adam.beta1 = 1; }), testing::HasSubstr("Adam"));
  EXPECT_THAT(error([](auto& options) { options.schedule.warmup = 0; }), testing::HasSubstr("warm-up"));
}

TEST(Metrics, AreReadAndTruncatedAtTheResumedStep) {
  const TemporaryFolder folder;
  const auto report = [](std::int64_t step, double loss) {
    StepReport result;
    result.step = step;
    result.loss = loss;
    return result;
  };
  {
    Metrics metrics(folder.path(), 0);
    metrics.Add(report(10, 3));
    metrics.Add(report(20, 2));
    metrics.Add(report(30, 1));
  }
  Metrics metrics(folder.path(), 20);
  metrics.Add(report(30, 1.5));
  const MetricSeries series = ReadMetric(folder.path(), "loss");
  EXPECT_EQ(series.steps, (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(series.values, (std::vector<double>{3, 2, 1.5}));
  EXPECT_THAT(ReadScoreNames(folder.path()), testing::IsEmpty());
  ValidationReport validation;
  validation.score_name = "f1";
  validation.more_scores = {{"exact_match", 40}};
  metrics.Add(validation);
  EXPECT_THAT(ReadScoreNames(folder.path()), testing::ElementsAre("f1", "exact_match"));
}

}  // namespace
}  // namespace headlight::training_test
