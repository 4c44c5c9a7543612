#include "headlight/ops/frame_aligned_error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/base/parallel.h"
#include "headlight/ops/loss_gradient.h"

namespace headlight::ops {
namespace {

constexpr std::int64_t kBlock = 64;  // frames whose point gradients are summed together

// The position of a known frame or point in the rows of prediction and truth.
struct Place {
  std::int64_t row = 0, column = 0;  // column of the first element
};

std::vector<Place> PlacesOf(const char* what, const Tensor& predicted, const Tensor& truth, std::int64_t width,
                            std::span<const std::uint8_t> known) {
  Check(predicted.shape() == truth.shape() && predicted.dtype() == truth.dtype() && predicted.columns() % width == 0 &&
            predicted.elements() / width == std::ssize(known),
        "FrameAlignedError: {} of shapes {} and {} and {} marks do not fit", what, ToString(predicted.shape()),
        ToString(truth.shape()), known.size());
  const std::int64_t in_row = std::max<std::int64_t>(1, predicted.columns() / width);
  std::vector<Place> places;
  for (std::int64_t i = 0; i < std::ssize(known); ++i)
    if (known[static_cast<std::size_t>(i)] != 0) places.push_back({i / in_row, width * (i % in_row)});
  return places;
}

// The x, y and z coordinates of points, one array per axis.
template <typename T>
using Coordinates = std::array<std::vector<T>, 3>;

template <typename T>
Coordinates<T> Gathered(const Tensor& points, const std::vector<Place>& places) {
  Coordinates<T> axes;
  for (const Place& place : places)
    for (std::size_t axis = 0; axis < 3; ++axis)
      axes[axis].push_back(points.matrix<T>().row(place.row)[place.column + static_cast<std::int64_t>(axis)]);
  return axes;
}

template <typename T>
struct Error3 {
  std::array<T, 3> offset;  // vector from the predicted frame's origin to the point
  std::array<T, 3> error;   // error of the point's local coordinates
};

// Returns the local coordinates R^T (p - t) of the predicted point minus the local coordinates of the true point.
template <typename T>
Error3<T> PointError(const T* frame, const T* true_frame, const Coordinates<T>& points,
                     const Coordinates<T>& true_points, std::size_t point) {
  Error3<T> result{};
  for (std::size_t j = 0; j < 3; ++j) {
    result.offset[j] = points[j][point] - frame[9 + j];
    const T true_offset = true_points[j][point] - true_frame[9 + j];
    for (std::size_t i = 0; i < 3; ++i)
      result.error[i] += frame[3 * j + i] * result.offset[j] - true_frame[3 * j + i] * true_offset;
  }
  return result;
}

}  // namespace

Tensor FrameAlignedError(const FramesAndPoints& predicted, const FramesAndPoints& truth,
                         std::span<const std::uint8_t> frame_known, std::span<const std::uint8_t> point_known,
                         const FrameAlignedErrorOptions& options, double scale) {
  const std::vector<Place> frames = PlacesOf("frames", predicted.frames, truth.frames, 12, frame_known);
  const std::vector<Place> points = PlacesOf("points", predicted.points, truth.points, 3, point_known);
  Check(predicted.frames.dtype() == predicted.points.dtype(), "FrameAlignedError: {} frames and {} points",
        Name(predicted.frames.dtype()), Name(predicted.points.dtype()));
  const bool wants_gradient = RequiresGradient({&predicted.frames, &predicted.points});
  const Tensor loss = Tensor::Empty({1}, predicted.points.dtype());
  Tensor d_frames, d_points;
  if (wants_gradient) {
    d_frames = Tensor::Zeros(predicted.frames.shape(), predicted.frames.dtype());
    d_points = Tensor::Zeros(predicted.points.shape(), predicted.points.dtype());
  }
  const double factor = scale / options.unit / (static_cast<double>(frames.size()) + options.epsilon) /
                        (static_cast<double>(points.size()) + options.epsilon);
  Dispatch(loss.dtype(), [&]<typename T>(T) {
    const Coordinates<T> at = Gathered<T>(predicted.points, points), true_at = Gathered<T>(truth.points, points);
    const std::int64_t blocks = (std::ssize(frames) + kBlock - 1) / kBlock;
    std::vector<double> sums(static_cast<std::size_t>(blocks));
    std::vector<std::vector<T>> d_at(static_cast<std::size_t>(blocks));  // gradients of the x, y and z of each point
    const T clamp = static_cast<T>(options.clamp), epsilon = static_cast<T>(options.epsilon);
    const T share = static_cast<T>(options.clamped_share), weight = static_cast<T>(factor);
    ParallelFor(blocks, [&](std::int64_t block) {
      std::vector<T>& gradients = d_at[static_cast<std::size_t>(block)];
      if (wants_gradient) gradients.resize(3 * points.size());
      double& sum = sums[static_cast<std::size_t>(block)];
      for (std::int64_t f = block * kBlock; f < std::min(std::ssize(frames), (block + 1) * kBlock); ++f) {
        const Place& place = frames[static_cast<std::size_t>(f)];
        const T* const frame = predicted.frames.matrix<T>().row(place.row) + place.column;
        const T* const true_frame = truth.frames.matrix<T>().row(place.row) + place.column;
        T* const d_frame = wants_gradient ? d_frames.matrix<T>().row(place.row) + place.column : nullptr;
        T distances = 0;
        for (std::size_t p = 0; p < points.size(); ++p) {
          const Error3<T> here = PointError<T>(frame, true_frame, at, true_at, p);
          const auto& [x, y, z] = here.error;
          const T distance = std::sqrt(x * x + y * y + z * z + epsilon);
          distances += share * std::min(distance, clamp) + (1 - share) * distance;
          if (d_frame == nullptr) continue;
          const T slope = weight * (distance < clamp ? T{1} : 1 - share) / distance;
          for (std::size_t j = 0; j < 3; ++j) {
            T back = 0;
            for (std::size_t i = 0; i < 3; ++i) {
              const T flow = slope * here.error[i];
              back += frame[3 * j + i] * flow;
              d_frame[3 * j + i] += here.offset[j] * flow;
            }
            d_frame[9 + j] -= back;
            gradients[3 * p + j] += back;
          }
        }
        sum += static_cast<double>(distances);
      }
    });
    loss.data<T>()[0] = static_cast<T>(factor * std::accumulate(sums.begin(), sums.end(), 0.0));
    if (!wants_gradient) return;
    for (const std::vector<T>& gradients : d_at)
      for (std::size_t p = 0; p < points.size(); ++p)
        for (std::size_t j = 0; j < 3; ++j)
          d_points.matrix<T>().row(points[p].row)[points[p].column + static_cast<std::int64_t>(j)] +=
              gradients[3 * p + j];
  });
  return Record(loss, {&predicted.frames, &predicted.points},
                [frames_node = predicted.frames.node(), points_node = predicted.points.node(), d_frames,
                 d_points](const Tensor& incoming) {
                  ScaleByIncoming(d_frames, incoming);
                  ScaleByIncoming(d_points, incoming);
                  Accumulate(frames_node, d_frames);
                  Accumulate(points_node, d_points);
                });
}

}  // namespace headlight::ops
