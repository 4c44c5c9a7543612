#include "headlight/protein/nn/frames.h"

#include <array>
#include <cmath>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/rowwise.h"
#include "headlight/ops/view.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

using std::sqrt;

// A rigid transform: R as nine values in row-major order, and the translation t.
template <typename Number>
struct Rigid {
  std::array<Number, 9> rotation = {};
  std::array<Number, 3> translation = {};

  template <typename Row>
  static Rigid From(const Row* row) {
    Rigid frame;
    for (std::size_t i = 0; i < 9; ++i) frame.rotation[i] = Number(row[i]);
    for (std::size_t i = 0; i < 3; ++i) frame.translation[i] = Number(row[9 + i]);
    return frame;
  }

  template <typename Point>
  std::array<Number, 3> Apply(const Point& p) const {
    std::array<Number, 3> moved = translation;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) moved[i] = moved[i] + rotation[3 * i + j] * p[j];
    return moved;
  }

  // Returns the composition that applies `inner` first and then this transform.
  Rigid Compose(const Rigid& inner) const {
    Rigid both;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 3; ++k)
          both.rotation[3 * i + j] = both.rotation[3 * i + j] + rotation[3 * i + k] * inner.rotation[3 * k + j];
    both.translation = Apply(inner.translation);
    return both;
  }

  void Write(Number* row) const {
    std::copy(rotation.begin(), rotation.end(), row);
    std::copy(translation.begin(), translation.end(), row + 9);
  }
};

template <typename Number>
std::array<Number, 9> RotationOf(const Number* q) {
  const Number &w = q[0], &x = q[1], &y = q[2], &z = q[3];
  const Number two = Number(2);
  return {w * w + x * x - y * y - z * z, two * (x * y - w * z),         two * (x * z + w * y),
          two * (x * y + w * z),         w * w - x * x + y * y - z * z, two * (y * z - w * x),
          two * (x * z - w * y),         two * (y * z + w * x),         w * w - x * x - y * y + z * z};
}

}  // namespace

Tensor IdentityFrames(std::int64_t residues, DType dtype) {
  const Tensor frames = Tensor::Zeros({residues, 7}, dtype);
  frames.ViewColumns(0, 1).Fill(1);
  return frames;
}

Tensor FrameMatrices(const Tensor& frames) {
  return ops::Rowwise<12, 7>(
      [](std::int64_t, const auto* frame, auto* to) {
        const auto rotation = RotationOf(frame);
        std::copy(rotation.begin(), rotation.end(), to);
        std::copy(frame + 4, frame + 7, to + 9);
      },
      frames);
}

Tensor UpdateFrames(const Tensor& frames, const Tensor& updates) {
  return ops::Rowwise<7, 7, 6>(
      []<typename Number>(std::int64_t, const Number* q, const Number* u, Number* to) {
        // Multiplies q by the quaternion (1, b, c, d).
        const std::array<Number, 4> rotated = {
            q[0] - q[1] * u[0] - q[2] * u[1] - q[3] * u[2], q[1] + q[0] * u[0] + q[2] * u[2] - q[3] * u[1],
            q[2] + q[0] * u[1] - q[1] * u[2] + q[3] * u[0], q[3] + q[0] * u[2] + q[1] * u[1] - q[2] * u[0]};
        Number squares = Number(0);
        for (const Number& part : rotated) squares = squares + part * part;
        const Number norm = sqrt(squares);
        for (std::size_t i = 0; i < 4; ++i) to[i] = rotated[i] / norm;
        const std::array<Number, 9> rotation = RotationOf(q);
        for (std::size_t i = 0; i < 3; ++i) {
          to[4 + i] = q[4 + i];
          for (std::size_t j = 0; j < 3; ++j) to[4 + i] = to[4 + i] + rotation[3 * i + j] * u[3 + j];
        }
      },
      frames, updates);
}

Tensor StopRotationGradient(const Tensor& frames) {
  return ops::Rowwise<7, 4, 3>(
      [](std::int64_t, const auto* quaternion, const auto* translation, auto* to) {
        std::copy(quaternion, quaternion + 4, to);
        std::copy(translation, translation + 3, to + 4);
      },
      ops::Columns(frames, 0, 4).Detached(), ops::Columns(frames, 4, 3));
}

Tensor ScaleTranslations(const Tensor& frames, double factor) {
  return ops::Rowwise<7, 7>(
      [factor]<typename Number>(std::int64_t, const Number* frame, Number* to) {
        std::copy(frame, frame + 4, to);
        for (std::size_t i = 4; i < 7; ++i) to[i] = Number(static_cast<float>(factor)) * frame[i];
      },
      frames);
}

ResidueGeometry PlaceAtoms(const Tensor& backbones, const Tensor& torsions, std::span<const std::int32_t> types) {
  Check(std::ssize(types) == backbones.rows(), "PlaceAtoms: {} types for backbones of shape {}", types.size(),
        ToString(backbones.shape()));
  for (const std::int32_t type : types)
    Check(type >= 0 && type < kResidueTypes, "PlaceAtoms: residue type {} of {}", type, kResidueTypes);
  constexpr std::size_t kFrames = kRigidGroups * 12, kAtoms = kAtom14 * 3;
  const Tensor both = ops::Rowwise<kFrames + kAtoms, 12, 14>(
      [types = std::vector(types.begin(), types.end())]<typename Number>(std::int64_t row, const Number* backbone,
                                                                         const Number* torsion, Number* to) {
        const ResidueTables& tables = TablesOfResidues();
        const auto type = static_cast<std::size_t>(types[static_cast<std::size_t>(row)]);
        const Rigid<Number> global = Rigid<Number>::From(backbone);
        std::array<Rigid<Number>, kRigidGroups> frames;  // relative to the backbone, then converted to global frames
        for (std::size_t group = 0; group < kRigidGroups; ++group) {
          const auto& ideal = tables.group_frame[type][group];
          Rigid<Number> frame, rotation;
          for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 3; ++j) frame.rotation[3 * i + j] = Number(ideal[i][j]);
            frame.translation[i] = Number(ideal[i][3]);
          }
          if (group > 0) {  // rotate around the x axis
            const Number &sine = torsion[2 * group - 2], &cosine = torsion[2 * group - 1];
            rotation.rotation = {Number(1), Number(0), Number(0), Number(0), cosine, -sine, Number(0), sine, cosine};
            frame = frame.Compose(rotation);
          }
          frames[group] = group > 4 ? frames[group - 1].Compose(frame) : frame;
        }
        for (std::size_t group = 0; group < kRigidGroups; ++group) {
          frames[group] = global.Compose(frames[group]);
          frames[group].Write(to + 12 * group);
        }
        for (std::size_t atom = 0; atom < kAtom14; ++atom) {
          const auto group = static_cast<std::size_t>(tables.atom14_group[type][atom]);
          std::array<Number, 3> position = {};
          if (tables.has_atom14[type][atom]) {
            std::array<Number, 3> ideal;
            for (std::size_t i = 0; i < 3; ++i) ideal[i] = Number(tables.atom14_position[type][atom][i]);
            position = frames[group].Apply(ideal);
          }
          std::copy(position.begin(), position.end(), to + kFrames + 3 * atom);
        }
      },
      backbones, torsions);
  return {ops::Columns(both, 0, kFrames), ops::Columns(both, kFrames, kAtoms)};
}

}  // namespace headlight
