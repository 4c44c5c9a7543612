// Tests self-distillation of a small ViT on synthetic images.
#include "headlight/train/objectives/self_distillation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "headlight/base/parallel.h"
#include "headlight/base/test_support.h"
#include "headlight/io/safetensors.h"
#include "headlight/models/resnet.h"
#include "headlight/models/vit.h"
#include "headlight/train/trainer.h"
#include "tests/parity_testing.h"

namespace headlight::self_distillation_test {
namespace {

VitConfig SmallVit() {
  VitConfig config;
  config.model = 12;
  config.layers = 2;
  config.heads = 2;
  config.ffn = 20;
  config.image = {8, 8};
  config.patch = {4, 4};
  config.scope = "";
  return config;
}

SelfDistillationOptions SmallOptions() {
  SelfDistillationOptions options;
  options.head = {.hidden = 10, .bottleneck = 6, .prototypes = 9};
  options.drop_path = 0.3;
  options.batches = {.batch_size = 4, .seed = 3};
  return options;
}

Tensor Noise(std::int64_t side, std::uint64_t seed) {
  const Tensor image = Tensor::Empty({side, side, 3});
  Random random(seed);
  for (float& value : image.span<float>()) value = static_cast<float>(random.Normal());
  return image;
}

// Returns random images with two global crops and one local crop of another size.
DistilledImages NoisyImages(std::int64_t count) {
  return {.count = count, .crops = [](std::int64_t image, std::int64_t epoch) {
            const auto seed = static_cast<std::uint64_t>(1000 * epoch + 10 * image);
            return std::vector<Tensor>{Noise(8, seed), Noise(8, seed + 1), Noise(5, seed + 2)};
          }};
}

struct Pair {
  explicit Pair(const SelfDistillationOptions& options = SmallOptions()) {
    for (Vit* model : {&student, &teacher}) model->parameters().Initialize(1);
    distillation.emplace(student, teacher, options);
  }
  Vit student{SmallVit()}, teacher{SmallVit()};
  std::optional<SelfDistillation> distillation;
};

// Returns the outputs of the initial network with its head, [crops, prototypes].
Numbers OutputsAtTheStart(const std::vector<Tensor>& crops) {
  Vit model(SmallVit());
  model.parameters().Initialize(1);
  const DistillationHead head(model.parameters(), 12, SmallOptions().head);
  model.parameters().InitializeNew(3);
  Context context;
  return ToDouble(head(context, model.Encode(context, crops).RowOfEach(0)));
}

Numbers Softmax(Numbers numbers, double temperature) {
  for (double& number : numbers) number = std::exp(number / temperature);
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  for (double& number : numbers) number /= sum;
  return numbers;
}

TEST(SelfDistillation, TheTeacherOfAResnetUsesItsBatchStatistics) {
  ResnetConfig config;
  config.embedding = 4;
  config.hidden = {4, 6};
  config.depths = {1, 1};
  config.bottleneck = false;
  Resnet student(config), teacher(config);
  for (Resnet* model : {&student, &teacher}) model->parameters().Initialize(1);
  SelfDistillation distillation(student, teacher, SmallOptions());
  const TrainingTask task = distillation.Task(NoisyImages(4), NoisyImages(4));
  const TrainingBatch batch = task.batches({})();
  ASSERT_EQ(batch.parts.size(), 1U) << "batch norm takes the statistics of the whole batch";
  const auto loss = [&] {
    Context context;
    context.training.emplace();
    return task.loss(context, Made(batch.parts.front()), 1).data<float>()[0];
  };
  const float plain = loss();
  const auto average = std::ranges::find_if(
      teacher.parameters().all(), [](const Parameter& one) { return one.names.front().ends_with("running_mean"); });
  ASSERT_NE(average, teacher.parameters().all().end());
  const std::vector<float> before = average->value.ToVector<float>();
  average->value.Fill(5);
  EXPECT_EQ(loss(), plain) << "running averages are not read";
  EXPECT_EQ(average->value.ToVector<float>(), std::vector<float>(before.size(), 5)) << "nor are they changed by a part";
}

TEST(SelfDistillation, HasThePapersLossAndCenter) {
  Pair pair;
  const DistilledImages images = NoisyImages(4);
  const TrainingTask task = pair.distillation->Task(images, images);
  TrainingBatch batch = task.batches({})();
  ASSERT_EQ(batch.parts.size(), 1U);
  EXPECT_EQ(batch.labels, 4);

  std::vector<Tensor> crops;
  for (std::int64_t image = 0; image < 4; ++image)
    for (const Tensor& crop : images.crops(image, 0)) crops.push_back(crop);
  const Numbers outputs = OutputsAtTheStart(crops);
  const auto row = [&](std::size_t image, std::size_t crop) {
    const auto begin = outputs.begin() + static_cast<std::ptrdiff_t>((image * 3 + crop) * 9);
    return Numbers(begin, begin + 9);
  };
  Numbers center(9);
  const auto expected = [&] {
    double loss = 0;
    for (std::size_t image = 0; image < 4; ++image)
      for (std::size_t global = 0; global < 2; ++global)
        for (std::size_t crop = 0; crop < 3; ++crop) {
          if (crop == global) continue;
          Numbers target = row(image, global);
          for (std::size_t k = 0; k < 9; ++k) target[k] -= center[k];
          target = Softmax(target, 0.04);
          const Numbers given = Softmax(row(image, crop), 0.1);
          for (std::size_t k = 0; k < 9; ++k) loss -= target[k] * std::log(given[k]) / 4;  // mean over four pairs
        }
    return loss;
  };
  const auto actual = [&] {
    Context context;
    return static_cast<double>(task.loss(context, Made(batch.parts.front()), 1).data<float>()[0]);
  };
  EXPECT_NEAR(actual(), expected(), 1e-4 * expected());
  task.after_step(1, 10);  // the student has not changed, so the teacher must not change either
  for (std::size_t k = 0; k < 9; ++k)
    for (std::size_t image = 0; image < 4; ++image)
      for (std::size_t global = 0; global < 2; ++global) center[k] += 0.1 * row(image, global)[k] / 8;
  EXPECT_NEAR(actual(), expected(), 1e-4 * expected());
}

TEST(SelfDistillation, TheTeacherFollowsACosineMomentum) {
  Pair pair;
  const TrainingTask task = pair.distillation->Task(NoisyImages(1), NoisyImages(1));
  const auto shift_after = [&](std::int64_t step, std::int64_t steps) {
    pair.teacher.parameters().values().Fill(0);
    pair.student.parameters().values().Fill(1);
    Context context;
    task.loss(context, Made(task.batches({})().parts.front()), 1);
    task.after_step(step, steps);
    return static_cast<double>(pair.teacher.parameters().values().data<float>()[0]);
  };
  EXPECT_NEAR(shift_after(5, 0), 0.004, 1e-6);
  EXPECT_NEAR(shift_after(50, 100), 0.002, 1e-6);
  EXPECT_EQ(shift_after(100, 100), 0);
}

// Trains for 12 steps. The run is stopped and resumed at each of `stops`. Returns all values at the end.
std::vector<float> TrainedValues(const std::vector<std::int64_t>& stops, int threads) {
  const int before = Threads();
  SetThreads(threads);
  const TemporaryFolder folder;
  TrainingOptions options;
  options.schedule = {.kind = ScheduleKind::cosine, .warmup = 2, .peak = 0.01, .total = 12};
  options.adam.clip_parameter_norm = 0.1;
  options.adam.weight_decay = 0.04;
  options.final_weight_decay = 0.4;
  options.steps = 12;
  options.validate_every = 5;
  std::vector<float> values;
  for (const std::int64_t stop : stops) {
    Pair pair;  // a new process starts with a new model
    const TrainingTask task = pair.distillation->Task(NoisyImages(10), NoisyImages(3));
    std::int64_t step = 0;
    Train(task, options,
          {.checkpoint = folder.File("checkpoint"), .run = Json::Object{}, .save_best = {}, .save_last = {}},
          /*resume=*/true,
          {.step = {},
           .progress = [&](const StepReport& report) { step = report.step; },
           .validation = {},
           .note = {},
           .stop = [&] { return step == stop; }});
    values = pair.student.parameters().values().ToVector<float>();
    const std::vector<float> teacher = pair.teacher.parameters().values().ToVector<float>();
    values.insert(values.end(), teacher.begin(), teacher.end());
  }
  SetThreads(before);
  return values;
}

TEST(SelfDistillation, ResumesToTheBitWithAnyNumberOfThreads) {
  const std::vector<float> whole = TrainedValues({100}, 2);
  EXPECT_EQ(TrainedValues({3, 8, 100}, 2), whole);
  EXPECT_EQ(TrainedValues({100}, 1), whole);
}

TEST(SelfDistillation, ThePrototypesAreFrozenInTheFirstEpoch) {
  const auto prototypes_move = [](std::int64_t frozen) {
    SelfDistillationOptions options = SmallOptions();
    options.frozen_epochs = frozen;
    Pair pair(options);
    const TrainingTask task = pair.distillation->Task(NoisyImages(4), NoisyImages(4));
    pair.student.parameters().PrepareTraining();
    const TrainingBatch batch = task.batches({})();
    ComputeGradients(pair.student.parameters(), task.loss, batch.parts, {.labels = batch.labels, .seed = 1});
    const Parameter& prototypes = pair.student.parameters().all().back();
    const std::vector<float> gradient = prototypes.gradient.ToVector<float>();
    EXPECT_EQ(prototypes.names.front(), "distillation_head.last_layer.weight");
    return gradient != std::vector<float>(gradient.size());
  };
  EXPECT_FALSE(prototypes_move(1));
  EXPECT_TRUE(prototypes_move(0));
}

TEST(SelfDistillation, SavesOnlyTheEncoder) {
  Pair pair;
  const TemporaryFolder folder;
  pair.teacher.Save(folder.path());
  const Safetensors file(folder.File("model.safetensors"));
  EXPECT_TRUE(file.contains("embeddings.cls_token"));
  for (const auto& [name, tensor] : file.tensors()) EXPECT_THAT(name, testing::Not(testing::HasSubstr("head")));
}

TEST(SelfDistillation, RefusesImpossibleOptions) {
  const auto refusal = [](const auto& change) {
    SelfDistillationOptions options = SmallOptions();
    change(options);
    return ErrorOf([&] { Pair pair(options); });
  };
  using testing::HasSubstr;
  EXPECT_EQ(refusal([](auto&) {}), "");
  EXPECT_THAT(refusal([](auto& options) { options.head.prototypes = 1; }), HasSubstr("2 prototypes"));
  EXPECT_THAT(refusal([](auto& options) { options.teacher_temperature = 0; }), HasSubstr("above 0"));
  EXPECT_THAT(refusal([](auto& options) { options.teacher_momentum = 1; }), HasSubstr("below 1"));
}

}  // namespace
}  // namespace headlight::self_distillation_test
