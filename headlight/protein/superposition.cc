#include "headlight/protein/superposition.h"

#include <array>
#include <cmath>

#include "headlight/base/error.h"

namespace headlight {
namespace {

using Symmetric4 = std::array<std::array<double, 4>, 4>;

// Returns the eigenvector of the largest eigenvalue of a symmetric matrix, computed by Jacobi rotations.
std::array<double, 4> LargestEigenvector(Symmetric4 a) {
  Symmetric4 vectors{};
  for (std::size_t i = 0; i < 4; ++i) vectors[i][i] = 1;
  constexpr int kMostSweeps = 50;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0, all = 0;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j) (i == j ? all : off) += a[i][j] * a[i][j];
    if (off <= 1e-30 * (all + off)) break;
    for (std::size_t p = 0; p < 3; ++p) {
      for (std::size_t q = p + 1; q < 4; ++q) {
        if (a[p][q] == 0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < 4; ++k) {
          const double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp - s * kq;
          a[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < 4; ++k) {
          const double pk = a[p][k], qk = a[q][k];
          a[p][k] = c * pk - s * qk;
          a[q][k] = s * pk + c * qk;
          const double vp = vectors[k][p], vq = vectors[k][q];
          vectors[k][p] = c * vp - s * vq;
          vectors[k][q] = s * vp + c * vq;
        }
      }
    }
  }
  std::size_t largest = 0;
  for (std::size_t i = 1; i < 4; ++i)
    if (a[i][i] > a[largest][largest]) largest = i;
  return {vectors[0][largest], vectors[1][largest], vectors[2][largest], vectors[3][largest]};
}

Vector3 CenterOf(std::span<const Vector3> points) {
  Vector3 sum;
  for (const Vector3& point : points) sum = sum + point;
  return (1 / static_cast<double>(points.size())) * sum;
}

void CheckSame(std::span<const Vector3> a, std::span<const Vector3> b) {
  Check(a.size() == b.size() && !a.empty(), "{} points cannot be compared with {}", a.size(), b.size());
}

}  // namespace

RigidFrame Superpose(std::span<const Vector3> moving, std::span<const Vector3> fixed) {
  CheckSame(moving, fixed);
  const Vector3 from = CenterOf(moving), to = CenterOf(fixed);
  std::array<std::array<double, 3>, 3> s{};  // the cross-covariance matrix of the coordinates
  for (std::size_t i = 0; i < moving.size(); ++i) {
    const Vector3 a = moving[i] - from, b = fixed[i] - to;
    const std::array<double, 3> x = {a.x, a.y, a.z}, y = {b.x, b.y, b.z};
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) s[j][k] += x[j] * y[k];
  }
  const double xx = s[0][0], xy = s[0][1], xz = s[0][2], yx = s[1][0], yy = s[1][1], yz = s[1][2], zx = s[2][0],
               zy = s[2][1], zz = s[2][2];
  const Symmetric4 n = {{{xx + yy + zz, yz - zy, zx - xz, xy - yx},
                         {yz - zy, xx - yy - zz, xy + yx, zx + xz},
                         {zx - xz, xy + yx, yy - xx - zz, yz + zy},
                         {xy - yx, zx + xz, yz + zy, zz - xx - yy}}};
  const auto [w, x, y, z] = LargestEigenvector(n);
  RigidFrame frame;
  frame.rows = {Vector3{w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
                Vector3{2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
                Vector3{2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
  frame.origin = to - frame(from);
  return frame;
}

double RootMeanSquare(std::span<const Vector3> a, std::span<const Vector3> b) {
  CheckSame(a, b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += Dot(a[i] - b[i], a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

}  // namespace headlight
