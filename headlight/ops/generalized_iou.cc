#include "headlight/ops/generalized_iou.h"

#include <algorithm>
#include <cstddef>

#include "headlight/autograd/tape.h"
#include "headlight/ops/loss_gradient.h"

namespace headlight::ops {
namespace {

// Two intervals on one axis, with their ends, the length of their intersection, and the length of their hull.
struct Extent {
  Extent(double center_a, double size_a, double center_b, double size_b)
      : low_a(center_a - size_a / 2),
        high_a(center_a + size_a / 2),
        low_b(center_b - size_b / 2),
        high_b(center_b + size_b / 2),
        common(std::max(0.0, std::min(high_a, high_b) - std::max(low_a, low_b))),
        span(std::max(high_a, high_b) - std::min(low_a, low_b)) {}

  // Adds the contributions of the gradients of `common` and `span` to the gradients of a's center and size.
  void Back(double d_common, double d_span, double& d_center, double& d_size) const {
    double d_low = low_a < low_b ? -d_span : 0, d_high = high_a > high_b ? d_span : 0;
    if (common > 0) {
      if (low_a > low_b) d_low -= d_common;
      if (high_a < high_b) d_high += d_common;
    }
    d_center += d_low + d_high;
    d_size += (d_high - d_low) / 2;
  }

  double low_a, high_a, low_b, high_b, common, span;
};

struct BoxOverlap {
  BoxOverlap(const CenteredBox& a, const CenteredBox& b)
      : x(a[0], a[2], b[0], b[2]),
        y(a[1], a[3], b[1], b[3]),
        intersection(x.common * y.common),
        joined(a[2] * a[3] + b[2] * b[3] - intersection),
        hull(x.span * y.span),
        value(intersection / joined - 1 + joined / hull) {}

  Extent x, y;
  double intersection, joined, hull;
  double value;
};

// Returns the gradient of GeneralizedIou with respect to a.
CenteredBox GradientOfIou(const CenteredBox& a, const CenteredBox& b) {
  const BoxOverlap o(a, b);
  const double d_area =
      1 / o.hull - o.intersection / (o.joined * o.joined);  // with respect to a's area, which also increases the union
  const double d_intersection = 1 / o.joined - d_area;
  const double d_hull = -o.joined / (o.hull * o.hull);
  CenteredBox gradient = {0, 0, d_area * a[3], d_area * a[2]};
  o.x.Back(d_intersection * o.y.common, d_hull * o.y.span, gradient[0], gradient[2]);
  o.y.Back(d_intersection * o.x.common, d_hull * o.x.span, gradient[1], gradient[3]);
  return gradient;
}

}  // namespace

double GeneralizedIou(const CenteredBox& a, const CenteredBox& b) { return BoxOverlap(a, b).value; }

Tensor GeneralizedIouLoss(const Tensor& boxes, std::span<const CenteredBox> targets, double scale) {
  Check(boxes.shape().rank() == 2 && boxes.columns() == 4 && boxes.rows() == std::ssize(targets),
        "GeneralizedIouLoss: boxes {} do not fit {} targets", ToString(boxes.shape()), targets.size());
  for (const CenteredBox& target : targets)
    Check(target[2] > 0 && target[3] > 0, "GeneralizedIouLoss: a target of {} x {} has no area", target[2], target[3]);
  const Tensor loss = Tensor::Empty({1}, boxes.dtype());
  const Tensor d_boxes = boxes.node() != nullptr ? Tensor::Empty(boxes.shape(), boxes.dtype()) : Tensor();
  Dispatch(boxes.dtype(), [&]<typename T>(T) {
    double sum = 0;
    for (std::int64_t row = 0; row < boxes.rows(); ++row) {
      const T* const from = boxes.matrix<T>().row(row);
      const CenteredBox box = {from[0], from[1], from[2], from[3]};
      const CenteredBox& target = targets[static_cast<std::size_t>(row)];
      sum += 1 - GeneralizedIou(box, target);
      if (d_boxes.empty()) continue;
      const CenteredBox gradient = GradientOfIou(box, target);  // for an incoming gradient of 1
      for (std::size_t i = 0; i < 4; ++i) d_boxes.matrix<T>().row(row)[i] = static_cast<T>(-scale * gradient[i]);
    }
    loss.data<T>()[0] = static_cast<T>(scale * sum);
  });
  return Record(loss, {&boxes}, [boxes = boxes.node(), d_boxes](const Tensor& gradient) {
    ScaleByIncoming(d_boxes, gradient);
    Accumulate(boxes, d_boxes);
  });
}

}  // namespace headlight::ops
