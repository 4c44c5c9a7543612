#include "headlight/nn/detection_loss.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "headlight/base/error.h"
#include "headlight/nn/assignment.h"
#include "headlight/ops/absolute_error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/softmax.h"

namespace headlight {

DetectionLossSums DetectionLossSums::Of(std::span<const TrueObjects> batch, std::int64_t queries,
                                        const DetectionLossOptions& options) {
  double boxes = 0, weights = 0;
  for (const TrueObjects& image : batch) {
    const auto objects = std::ssize(image.labels), matched = std::min<std::int64_t>(objects, queries);
    boxes += static_cast<double>(objects);
    weights += static_cast<double>(matched) + options.nothing_weight * static_cast<double>(queries - matched);
  }
  return {.boxes = std::max(1.0, boxes), .weights = weights};
}

std::vector<std::int32_t> MatchQueries(const QueryAnswers& answers, std::int64_t first, std::int64_t queries,
                                       const TrueObjects& objects, const DetectionLossOptions& options) {
  // A non-finite cost is replaced, so that this match is chosen last. The non-finite value remains visible in the loss.
  constexpr double kWorst = 1e30;
  const auto count = std::ssize(objects.labels);
  std::vector<double> costs(static_cast<std::size_t>(count * queries));
  const Tensor shares = ops::Softmax(answers.logits.Detached().ViewRows(first, queries));
  Dispatch(shares.dtype(), [&]<typename T>(T) {
    for (std::int64_t query = 0; query < queries; ++query) {
      const T* const share = shares.matrix<T>().row(query);
      const T* const numbers = answers.boxes.matrix<T>().row(first + query);
      const ops::CenteredBox box = {numbers[0], numbers[1], numbers[2], numbers[3]};
      for (std::int64_t object = 0; object < count; ++object) {
        const ops::CenteredBox& truth = objects.boxes[static_cast<std::size_t>(object)];
        double distance = 0;
        for (std::size_t i = 0; i < 4; ++i) distance += std::abs(box[i] - truth[i]);
        const double cost = options.box_cost * distance -
                            options.class_cost * share[objects.labels[static_cast<std::size_t>(object)]] -
                            options.giou_cost * ops::GeneralizedIou(box, truth);
        costs[static_cast<std::size_t>(object * queries + query)] = std::isfinite(cost) ? cost : kWorst;
      }
    }
  });
  return Assign({costs.data(), count, queries, queries});
}

Tensor DetectionLoss(const QueryAnswers& answers, std::span<const TrueObjects> images, const DetectionLossSums& sums,
                     const DetectionLossOptions& options, double scale) {
  const std::int64_t rows = answers.logits.rows(), classes = answers.logits.columns();
  Check(!images.empty() && rows % std::ssize(images) == 0 && answers.boxes.shape() == Shape({rows, 4}) && classes > 1,
        "DetectionLoss: logits {} and boxes {} do not fit {} images", ToString(answers.logits.shape()),
        ToString(answers.boxes.shape()), images.size());
  const std::int64_t queries = rows / std::ssize(images);
  MatchedObjects matches = {
      std::vector(static_cast<std::size_t>(rows), static_cast<std::int32_t>(classes - 1)), {}, {}};
  for (std::size_t image = 0; image < images.size(); ++image) {
    const TrueObjects& objects = images[image];
    Check(objects.labels.size() == objects.boxes.size(), "DetectionLoss: {} labels of {} boxes", objects.labels.size(),
          objects.boxes.size());
    for (const std::int32_t label : objects.labels)
      Check(label >= 0 && label < classes - 1, "DetectionLoss: class {} of {}", label, classes - 1);
    const std::int64_t first = static_cast<std::int64_t>(image) * queries;
    const std::vector<std::int32_t> query = MatchQueries(answers, first, queries, objects, options);
    for (std::size_t object = 0; object < query.size(); ++object)
      if (query[object] >= 0) matches.Add(first + query[object], objects, object);
  }
  return MatchedLoss(answers, matches, sums, options, scale);
}

void MatchedObjects::Add(std::int64_t row, const TrueObjects& objects, std::size_t object) {
  labels[static_cast<std::size_t>(row)] = objects.labels[object];
  rows.push_back(static_cast<std::int32_t>(row));
  boxes.push_back(objects.boxes[object]);
}

Tensor MatchedLoss(const QueryAnswers& answers, const MatchedObjects& matches, const DetectionLossSums& sums,
                   const DetectionLossOptions& options, double scale) {
  std::vector<double> class_weights(static_cast<std::size_t>(answers.logits.columns()), 1);
  class_weights.back() = options.nothing_weight;
  const Tensor of_classes = ops::CrossEntropy(answers.logits, matches.labels, scale / sums.weights, class_weights);
  if (matches.rows.empty()) return of_classes;
  std::vector<double> numbers;
  for (const ops::CenteredBox& box : matches.boxes) numbers.insert(numbers.end(), box.begin(), box.end());
  const Tensor boxes = ops::Embedding(answers.boxes, matches.rows);
  return ops::Add(of_classes,
                  ops::Add(ops::AbsoluteError(boxes, numbers, scale * options.box_weight / sums.boxes),
                           ops::GeneralizedIouLoss(boxes, matches.boxes, scale * options.giou_weight / sums.boxes)));
}

}  // namespace headlight
