// A minimal task for tests: it classifies points in a plane by their side of a line, in batches of three parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headlight/base/random.h"
#include "headlight/generate/hypothesis.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/nn/layers.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/train/trainer.h"

namespace headlight {

class PointModel : public Model {
 public:
  explicit PointModel(std::int64_t outputs = 2)
      : Model(DType::float32), layer_(Scope(parameters_), {"layer"}, 2, outputs) {
    parameters_.Initialize(1);
  }
  Tensor operator()(Context& context, const Tensor& points) const { return layer_(context, points); }
  Json::Object Description() const override { return {}; }
  NamedTensors Forward(const Safetensors&) const override { return {}; }
  void Save(const std::string&, Compute) const override {}

 private:
  Linear layer_;
};

struct Points {
  Tensor x;                          // [points, 2]
  std::vector<std::int32_t> labels;  // the side of the line of each point
};

inline Points Draw(Random& random, int count) {
  Points points{.x = Tensor::Empty({count, 2}), .labels = {}};
  for (int i = 0; i < count; ++i) {
    float* const row = points.x.matrix<float>().row(i);
    row[0] = static_cast<float>(random.Normal());
    row[1] = static_cast<float>(random.Normal());
    points.labels.push_back(row[0] + 2 * row[1] > 0 ? 1 : 0);
  }
  return points;
}

inline constexpr std::int64_t kBatchesOfEpoch = 6;

inline TrainingTask SidesTask(PointModel& model) {
  return {.model = &model,
          .batches =
              [](BatchPosition place) {
                return [place]() mutable {
                  Random random(5, static_cast<std::uint64_t>(place.epoch * kBatchesOfEpoch + place.batch));
                  TrainingBatch batch{.parts = {}, .labels = 24, .next = place, .batches_in_epoch = kBatchesOfEpoch};
                  for (int part = 0; part < 3; ++part) batch.parts.emplace_back(Draw(random, 8));
                  if (++batch.next.batch == kBatchesOfEpoch) batch.next = {place.epoch + 1, 0};
                  place = batch.next;
                  return batch;
                };
              },
          .loss =
              [&model](Context& context, const TrainingPart& part, double scale) {
                const auto& points = part.As<Points>();
                return ops::CrossEntropy(model(context, points.x), points.labels, scale);
              },
          .validate =
              [&model](const PassWatch& watch) {
                if (watch.cancelled && watch.cancelled()) throw Cancelled();
                Random random(6);
                const Points points = Draw(random, 100);
                Context context;
                ValidationReport report;
                report.loss = ops::CrossEntropy(model(context, points.x), points.labels, 0.01).data<float>()[0];
                return report;
              }};
}

inline TrainingOptions PointOptions(std::int64_t steps) {
  TrainingOptions options;
  options.schedule = {.kind = ScheduleKind::inverse_square_root, .warmup = 5, .peak = 0.1};
  options.steps = steps;
  options.validate_every = 2;
  return options;
}

}  // namespace headlight
