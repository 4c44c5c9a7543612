#include "headlight/ops/points.h"

#include <array>
#include <cmath>

#include "headlight/autograd/tape.h"

namespace headlight::ops {
namespace {

template <typename T>
struct Frame {
  const T* rotation;
  const T* translation;
  explicit Frame(const T* row) : rotation(row), translation(row + 9) {}
};

void CheckFrames(const char* operation, const Tensor& frames, const Tensor& points) {
  Check(frames.columns() == 12 && points.rows() == frames.rows() && points.columns() % 3 == 0 &&
            points.dtype() == frames.dtype(),
        "{}: points of shape {} and frames of shape {} do not fit", operation, ToString(points.shape()),
        ToString(frames.shape()));
}

// Calls body(row, point, its x, y and z's places in a row) for every point.
void ForPoints(const Tensor& points, const auto& body) {
  const std::int64_t count = points.columns() / 3;
  for (std::int64_t row = 0; row < points.rows(); ++row)
    for (std::int64_t point = 0; point < count; ++point)
      body(row, std::array<std::int64_t, 3>{point, count + point, 2 * count + point});
}

}  // namespace

Tensor ToGlobal(const Tensor& frames, const Tensor& points) {
  CheckFrames("ToGlobal", frames, points);
  const Tensor y = Tensor::Empty(points.shape(), points.dtype());
  Dispatch(y.dtype(), [&]<typename T>(T) {
    ForPoints(points, [&](std::int64_t row, const auto& at) {
      const Frame<T> frame(frames.matrix<T>().row(row));
      const T* const p = points.matrix<T>().row(row);
      for (std::size_t i = 0; i < 3; ++i) {
        T sum = frame.translation[i];
        for (std::size_t j = 0; j < 3; ++j) sum += frame.rotation[3 * i + j] * p[at[j]];
        y.matrix<T>().row(row)[at[i]] = sum;
      }
    });
  });
  return Record(y, {&frames, &points}, [frames, points](const Tensor& dy) {
    const Tensor d_points = Tensor::Zeros(points.shape(), dy.dtype()),
                 d_frames = Tensor::Zeros(frames.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      ForPoints(points, [&](std::int64_t row, const auto& at) {
        const Frame<T> frame(frames.matrix<T>().row(row));
        const T *const p = points.matrix<T>().row(row), *const d = dy.matrix<T>().row(row);
        T *const d_p = d_points.matrix<T>().row(row), *const d_frame = d_frames.matrix<T>().row(row);
        for (std::size_t i = 0; i < 3; ++i) {
          d_frame[9 + i] += d[at[i]];
          for (std::size_t j = 0; j < 3; ++j) {
            d_p[at[j]] += frame.rotation[3 * i + j] * d[at[i]];
            d_frame[3 * i + j] += d[at[i]] * p[at[j]];
          }
        }
      });
    });
    Accumulate(frames.node(), d_frames);
    Accumulate(points.node(), d_points);
  });
}

Tensor ToLocal(const Tensor& frames, const Tensor& points) {
  CheckFrames("ToLocal", frames, points);
  const Tensor y = Tensor::Empty(points.shape(), points.dtype());
  Dispatch(y.dtype(), [&]<typename T>(T) {
    ForPoints(points, [&](std::int64_t row, const auto& at) {
      const Frame<T> frame(frames.matrix<T>().row(row));
      const T* const p = points.matrix<T>().row(row);
      for (std::size_t i = 0; i < 3; ++i) {
        T sum = 0;
        for (std::size_t j = 0; j < 3; ++j) sum += frame.rotation[3 * j + i] * (p[at[j]] - frame.translation[j]);
        y.matrix<T>().row(row)[at[i]] = sum;
      }
    });
  });
  return Record(y, {&frames, &points}, [frames, points](const Tensor& dy) {
    const Tensor d_points = Tensor::Zeros(points.shape(), dy.dtype()),
                 d_frames = Tensor::Zeros(frames.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      ForPoints(points, [&](std::int64_t row, const auto& at) {
        const Frame<T> frame(frames.matrix<T>().row(row));
        const T *const p = points.matrix<T>().row(row), *const d = dy.matrix<T>().row(row);
        T *const d_p = d_points.matrix<T>().row(row), *const d_frame = d_frames.matrix<T>().row(row);
        for (std::size_t j = 0; j < 3; ++j) {
          for (std::size_t i = 0; i < 3; ++i) {
            const T flow = frame.rotation[3 * j + i] * d[at[i]];
            d_p[at[j]] += flow;
            d_frame[9 + j] -= flow;
            d_frame[3 * j + i] += d[at[i]] * (p[at[j]] - frame.translation[j]);
          }
        }
      });
    });
    Accumulate(frames.node(), d_frames);
    Accumulate(points.node(), d_points);
  });
}

Tensor PointNorms(const Tensor& points, double epsilon) {
  Check(points.columns() % 3 == 0, "PointNorms: points of shape {}", ToString(points.shape()));
  const Tensor y = Tensor::Empty({points.rows(), points.columns() / 3}, points.dtype());
  Dispatch(y.dtype(), [&]<typename T>(T) {
    ForPoints(points, [&](std::int64_t row, const auto& at) {
      T sum = static_cast<T>(epsilon);
      for (const std::int64_t place : at)
        sum += points.matrix<T>().row(row)[place] * points.matrix<T>().row(row)[place];
      y.matrix<T>().row(row)[at[0]] = std::sqrt(sum);
    });
  });
  return Record(y, {&points}, [points, y](const Tensor& dy) {
    const Tensor d_points = Tensor::Empty(points.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      ForPoints(points, [&](std::int64_t row, const auto& at) {
        const T slope = dy.matrix<T>().row(row)[at[0]] / y.matrix<T>().row(row)[at[0]];
        for (const std::int64_t place : at)
          d_points.matrix<T>().row(row)[place] = slope * points.matrix<T>().row(row)[place];
      });
    });
    Accumulate(points.node(), d_points);
  });
}

}  // namespace headlight::ops
