// Checks that self-distillation of a small ViT improves its features for classes that it is not trained on.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "headlight/base/test_support.h"
#include "headlight/models/vit.h"
#include "headlight/train/objectives/self_distillation.h"
#include "headlight/train/trainer.h"

namespace headlight::self_distillation_slow_test {
namespace {

// Returns a view of one of four textures: horizontal or vertical stripes, boxes or rings, with a different pitch for
// each image. Position, strength and noise differ between views, so that only the texture is the same in all views.
Tensor View(std::int64_t side, std::int64_t image, Random& random) {
  Random own(static_cast<std::uint64_t>(image));
  const double pitch = 2 * std::numbers::pi / (4 + 2 * own.Uniform());
  const double left = 40 * random.Uniform(), top = 40 * random.Uniform(), strength = 0.4 + 0.6 * random.Uniform();
  const Tensor view = Tensor::Empty({side, side, 3});
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x) {
      const double across = left + static_cast<double>(x), down = top + static_cast<double>(y);
      const double waves[] = {std::sin(pitch * across), std::sin(pitch * down),
                              1.4 * std::sin(pitch * across) * std::sin(pitch * down),
                              std::sin(pitch * std::hypot(across - 30, down - 30))};
      for (int c = 0; c < 3; ++c)
        view.data<float>()[(y * side + x) * 3 + c] =
            static_cast<float>(strength * waves[image % 4] + 0.3 * random.Normal());
    }
  return view;
}

DistilledImages Textures(std::int64_t first, std::int64_t count, bool labeled) {
  DistilledImages images{.count = count,
                         .crops =
                             [=](std::int64_t image, std::int64_t epoch) {
                               Random random = RandomOfExample(1, epoch, first + image);
                               std::vector<Tensor> views;
                               for (const std::int64_t side : {16, 16, 8, 8})
                                 views.push_back(View(side, first + image, random));
                               return views;
                             },
                         .whole =
                             [=](std::int64_t image) {
                               Random random = RandomOfExample(2, 0, first + image);
                               return View(16, first + image, random);
                             }};
  for (std::int64_t i = 0; labeled && i < count; ++i)
    images.classes.push_back(static_cast<std::int32_t>((first + i) % 4));
  return images;
}

TEST(SelfDistillation, ImprovesFeatures) {
  VitConfig config{.model = 48, .layers = 3, .heads = 3, .ffn = 96, .image = {16, 16}, .patch = {4, 4}, .scope = ""};
  Vit student(config), teacher(config);
  for (Vit* model : {&student, &teacher}) model->parameters().Initialize(1);
  SelfDistillation distillation(student, teacher,
                                {.head = {.hidden = 256, .bottleneck = 64, .prototypes = 1024},
                                 .teacher_momentum = 0.98,
                                 .drop_path = 0,
                                 .batches = {.batch_size = 32, .seed = 1}});
  const DistilledImages valid = Textures(100000, 240, true);
  const TrainingTask task = distillation.Task(Textures(0, 1024, false), valid);
  const double untrained = task.validate({}).score;
  TrainingOptions options;
  options.steps = 300;
  options.validate_every = 100;
  options.schedule = {.kind = ScheduleKind::cosine, .warmup = 50, .peak = 0.002, .total = options.steps};
  options.adam = {.beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 0.04, .clip_parameter_norm = 3};
  double trained = 0;
  const TemporaryFolder folder;
  Train(task, options,
        {.checkpoint = folder.File("checkpoint"), .run = Json::Object{}, .save_best = {}, .save_last = {}}, false,
        {.step = {},
         .progress = {},
         .validation = [&](const ValidationReport& report) { trained = report.score; },
         .note = {},
         .stop = {}});
  // The score increases from 72.9 to 95.4. With two other seeds it increases from 74.2 to 99.2 and from 78.3 to 98.3.
  // If the teacher equals the student and has the same temperature, the features become worse.
  EXPECT_GT(trained, untrained + 15) << "untrained: " << untrained;
}

}  // namespace
}  // namespace headlight::self_distillation_slow_test
