#include "headlight/ops/points.h"

#include <array>
#include <cmath>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/rows.h"

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

// Calls body(row, indices of x, y and z in the row) for every point. Rows are divided among threads.
void ForPoints(const Tensor& points, const auto& body) {
  const std::int64_t count = points.columns() / 3;
  ForRowChunks(points.rows(), points.columns(), [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t row = first; row < first + rows; ++row)
      for (std::int64_t point = 0; point < count; ++point)
        body(row, std::array<std::int64_t, 3>{point, count + point, 2 * count + point});
  });
}

}  // namespace

Tensor ToGlobal(const Tensor& frames, const Tensor& points) {
  CheckFrames("ToGlobal", frames, points);
  const Tensor y = Tensor::Empty(points.shape(), points.dtype());
  Dispatch(y.dtype(), [&]<typename T>(T) {
    const Matrix<T> frame_rows = frames.matrix<T>(), from = points.matrix<T>(), to = y.matrix<T>();
    ForPoints(points, [&](std::int64_t row, const auto& at) {
      const Frame<T> frame(frame_rows.row(row));
      const T* const p = from.row(row);
      for (std::size_t i = 0; i < 3; ++i) {
        T sum = frame.translation[i];
        for (std::size_t j = 0; j < 3; ++j) sum += frame.rotation[3 * i + j] * p[at[j]];
        to.row(row)[at[i]] = sum;
      }
    });
  });
  return Record(y, {&frames, &points}, [frames, points](const Tensor& dy) {
    const Tensor d_points = Tensor::Zeros(points.shape(), dy.dtype()),
                 d_frames = Tensor::Zeros(frames.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      const Matrix<T> frame_rows = frames.matrix<T>(), from = points.matrix<T>(), flows = dy.matrix<T>(),
                      d_from = d_points.matrix<T>(), d_frame_rows = d_frames.matrix<T>();
      ForPoints(points, [&](std::int64_t row, const auto& at) {
        const Frame<T> frame(frame_rows.row(row));
        const T *const p = from.row(row), *const d = flows.row(row);
        T *const d_p = d_from.row(row), *const d_frame = d_frame_rows.row(row);
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
    const Matrix<T> frame_rows = frames.matrix<T>(), from = points.matrix<T>(), to = y.matrix<T>();
    ForPoints(points, [&](std::int64_t row, const auto& at) {
      const Frame<T> frame(frame_rows.row(row));
      const T* const p = from.row(row);
      for (std::size_t i = 0; i < 3; ++i) {
        T sum = 0;
        for (std::size_t j = 0; j < 3; ++j) sum += frame.rotation[3 * j + i] * (p[at[j]] - frame.translation[j]);
        to.row(row)[at[i]] = sum;
      }
    });
  });
  return Record(y, {&frames, &points}, [frames, points](const Tensor& dy) {
    const Tensor d_points = Tensor::Zeros(points.shape(), dy.dtype()),
                 d_frames = Tensor::Zeros(frames.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      const Matrix<T> frame_rows = frames.matrix<T>(), from = points.matrix<T>(), flows = dy.matrix<T>(),
                      d_from = d_points.matrix<T>(), d_frame_rows = d_frames.matrix<T>();
      ForPoints(points, [&](std::int64_t row, const auto& at) {
        const Frame<T> frame(frame_rows.row(row));
        const T *const p = from.row(row), *const d = flows.row(row);
        T *const d_p = d_from.row(row), *const d_frame = d_frame_rows.row(row);
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
    const Matrix<T> from = points.matrix<T>(), to = y.matrix<T>();
    ForPoints(points, [&](std::int64_t row, const auto& at) {
      T sum = static_cast<T>(epsilon);
      for (const std::int64_t position : at) sum += from.row(row)[position] * from.row(row)[position];
      to.row(row)[at[0]] = std::sqrt(sum);
    });
  });
  return Record(y, {&points}, [points, y](const Tensor& dy) {
    const Tensor d_points = Tensor::Empty(points.shape(), dy.dtype());
    Dispatch(dy.dtype(), [&]<typename T>(T) {
      const Matrix<T> from = points.matrix<T>(), norms = y.matrix<T>(), flows = dy.matrix<T>(),
                      d_from = d_points.matrix<T>();
      ForPoints(points, [&](std::int64_t row, const auto& at) {
        const T slope = flows.row(row)[at[0]] / norms.row(row)[at[0]];
        for (const std::int64_t position : at) d_from.row(row)[position] = slope * from.row(row)[position];
      });
    });
    Accumulate(points.node(), d_points);
  });
}

}  // namespace headlight::ops
