#include "headlight/protein/nn/folding_loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/cross_entropy.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/frame_aligned_error.h"
#include "headlight/ops/rowwise.h"
#include "headlight/ops/sigmoid_cross_entropy.h"
#include "headlight/ops/smooth_lddt.h"
#include "headlight/ops/view.h"
#include "headlight/protein/nn/frames.h"
#include "headlight/protein/nn/structure_violations.h"
#include "headlight/protein/structure_scores.h"

namespace headlight {
namespace {

using std::sqrt;
using Marks = std::vector<std::uint8_t>;

constexpr double kEpsilon = 1e-8;  // avoids division by zero in means over known values

// Returns a tensor of the given type with these values, in row-major order.
Tensor TensorOf(const std::vector<double>& numbers, const Shape& shape, DType dtype) {
  const Tensor made = Tensor::Empty(shape, dtype);
  Dispatch(dtype, [&]<typename T>(T) {
    std::transform(numbers.begin(), numbers.end(), made.data<T>(), [](double x) { return static_cast<T>(x); });
  });
  return made;
}

void Append(std::vector<double>& numbers, const Vector3& point) {
  numbers.insert(numbers.end(), {point.x, point.y, point.z});
}

void Append(std::vector<double>& numbers, const RigidFrame& frame) {
  for (const Vector3& row : frame.rows) Append(numbers, row);
  Append(numbers, frame.origin);
}

// Returns the bin of a value: the number of ascending `edges` that are less than it.
std::int32_t BinOf(double value, const std::vector<double>& edges) {
  return static_cast<std::int32_t>(std::lower_bound(edges.begin(), edges.end(), value) - edges.begin());
}

// Returns the squares of bins - 1 evenly spaced edges from `first` to `last`.
std::vector<double> SquaredEdges(double first, double last, std::int64_t bins) {
  std::vector<double> edges;
  for (std::int64_t i = 0; i + 1 < bins; ++i) {
    const double share = bins > 2 ? static_cast<double>(i) / static_cast<double>(bins - 2) : 0;
    const double edge = first + (last - first) * share;
    edges.push_back(edge * edge);
  }
  return edges;
}

// Computes the mean cross-entropy of the rows that have a label.
Tensor MeanCrossEntropy(const Tensor& logits, const std::vector<std::int32_t>& labels) {
  const auto count = std::count_if(labels.begin(), labels.end(), [](std::int32_t label) { return label >= 0; });
  return ops::CrossEntropy(logits, labels, 1 / (static_cast<double>(count) + kEpsilon));
}

double SquaredDistance(const Vector3& a, const Vector3& b) { return Dot(a - b, a - b); }

// Computes algorithm 28 for the backbone frames and C alphas of each block.
Tensor BackboneLoss(const FoldedStructure& structure, const FoldingLabels& labels) {
  std::vector<double> frames;
  Marks known;
  for (const ResidueLabels& residue : labels.residues) {
    Append(frames, residue.frames[0]);
    known.push_back(residue.frame_known[0]);
  }
  const std::int64_t residues = std::ssize(labels.residues);
  const Tensor true_frames = TensorOf(frames, {residues, 12}, structure.single.dtype());
  const ops::FramesAndPoints truth = {true_frames, true_frames.ViewColumns(9, 3)};
  Tensor sum;
  for (const StructureBlock& block : structure.blocks) {
    const Tensor own = FrameMatrices(block.frames);
    const Tensor loss = ops::FrameAlignedError({own, ops::Columns(own, 9, 3)}, truth, known, known,
                                               {.clamped_share = labels.clamped_share},
                                               1 / static_cast<double>(structure.blocks.size()));
    sum = sum.empty() ? loss : ops::Add(sum, loss);
  }
  return sum;
}

// Computes the smooth lDDT loss of the C alphas, averaged over the blocks.
Tensor SmoothLddtOfBlocks(const FoldedStructure& structure, const std::vector<ResidueLabels>& labels) {
  std::vector<double> points;
  Marks known;
  for (const ResidueLabels& residue : labels) {
    Append(points, residue.frames[0].origin);
    known.push_back(residue.frame_known[0]);
  }
  const Tensor truth = TensorOf(points, {std::ssize(labels), 3}, structure.single.dtype());
  Tensor sum;
  for (const StructureBlock& block : structure.blocks) {
    const Tensor loss = ops::SmoothLddtLoss(ops::Columns(FrameMatrices(block.frames), 9, 3), truth, known,
                                            1 / static_cast<double>(structure.blocks.size()));
    sum = sum.empty() ? loss : ops::Add(sum, loss);
  }
  return sum;
}

// Computes algorithm 28 for all rigid groups and atoms of the last block. The ambiguous atoms of `labels` must already
// be renamed.
Tensor SideChainLoss(const StructureBlock& last, const std::vector<ResidueLabels>& labels) {
  std::vector<double> frames, atoms;
  Marks frame_known, atom_known;
  for (const ResidueLabels& residue : labels) {
    for (const RigidFrame& frame : residue.frames) Append(frames, frame);
    for (const Vector3& atom : residue.atoms) Append(atoms, atom);
    frame_known.insert(frame_known.end(), residue.frame_known.begin(), residue.frame_known.end());
    atom_known.insert(atom_known.end(), residue.known.begin(), residue.known.end());
  }
  const ops::FramesAndPoints truth = {TensorOf(frames, last.group_frames.shape(), last.group_frames.dtype()),
                                      TensorOf(atoms, last.atoms.shape(), last.atoms.dtype())};
  return ops::FrameAlignedError({last.group_frames, last.atoms}, truth, frame_known, atom_known, {}, 1);
}

// Computes algorithm 27 over all blocks. As in the authors' code, the angle loss covers only the chi angles.
Tensor TorsionLoss(const FoldedStructure& structure, const std::vector<ResidueLabels>& labels) {
  constexpr double kAngleWeight = 0.5, kLengthWeight = 0.01, kMeanEpsilon = 1e-4;
  constexpr std::size_t kTorsions = 7, kFirstChi = 3;
  double known = 0;
  for (const ResidueLabels& residue : labels)
    for (std::size_t torsion = kFirstChi; torsion < kTorsions; ++torsion)
      known += residue.torsion_known[torsion] ? 1 : 0;
  const auto blocks = static_cast<double>(structure.blocks.size());
  const auto of_angle = static_cast<float>(kAngleWeight / (kMeanEpsilon + blocks * known));
  const auto of_length =
      static_cast<float>(kLengthWeight / (kMeanEpsilon + blocks * static_cast<double>(kTorsions * labels.size())));
  Tensor sum;
  for (const StructureBlock& block : structure.blocks) {
    const Tensor losses = ops::Rowwise<1, 2 * kTorsions, 2 * kTorsions>(
        [labels, of_angle, of_length]<typename Number>(std::int64_t row, const Number* torsions,
                                                       const Number* unnormalized, Number* to) {
          const ResidueLabels& residue = labels[static_cast<std::size_t>(row)];
          const auto& ambiguous = TablesOfResidues().group_ambiguous[static_cast<std::size_t>(residue.type)];
          Number loss = Number(0);
          for (std::size_t torsion = 0; torsion < kTorsions; ++torsion) {
            const Number *const own = torsions + 2 * torsion, *const free = unnormalized + 2 * torsion;
            const Number length = sqrt(free[0] * free[0] + free[1] * free[1] + Number(static_cast<float>(kEpsilon)));
            const Number error = length < Number(1) ? Number(1) - length : length - Number(1);
            loss = loss + Number(of_length) * error;
            if (torsion < kFirstChi || !residue.torsion_known[torsion]) continue;
            const auto distance = [&](float sign) {
              const Number sine = own[0] - Number(sign * static_cast<float>(residue.torsions[torsion][0]));
              const Number cosine = own[1] - Number(sign * static_cast<float>(residue.torsions[torsion][1]));
              return sine * sine + cosine * cosine;
            };
            Number angle = distance(1);
            if (ambiguous[torsion + 1]) {
              const Number other = distance(-1);
              if (other < angle) angle = other;
            }
            loss = loss + Number(of_angle) * angle;
          }
          to[0] = loss;
        },
        block.torsions, block.unnormalized_torsions);
    const Tensor loss = ops::Sum(losses);
    sum = sum.empty() ? loss : ops::Add(sum, loss);
  }
  return sum;
}

// Computes the distogram loss (section 1.9.8).
Tensor DistanceLoss(const Tensor& logits, const std::vector<ResidueLabels>& labels) {
  const std::vector<double> edges = SquaredEdges(2.3125, 21.6875, logits.columns());
  std::vector<std::int32_t> bins;
  for (const ResidueLabels& i : labels)
    for (const ResidueLabels& j : labels)
      bins.push_back(i.beta_known && j.beta_known ? BinOf(SquaredDistance(i.beta, j.beta), edges) : -1);
  return MeanCrossEntropy(logits, bins);
}

// Computes the loss of the binned lDDT of the C alphas (algorithm 29).
Tensor LddtLoss(const Tensor& logits, const std::vector<std::array<Vector3, kAtom14>>& predicted,
                const std::vector<ResidueLabels>& labels) {
  const KnownAlphas known = KnownAlphasOf(labels, predicted);
  const std::vector<double> scores = ScoreLocalDistances(known.model, known.reference, /*all_atoms=*/false).by_residue;
  const auto count = static_cast<double>(logits.columns());
  std::vector<std::int32_t> bins(labels.size(), -1);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double score = scores[i] < 0 ? 1 : scores[i];  // a residue without neighbors counts as correct
    bins[known.indices[i]] = static_cast<std::int32_t>(std::min(std::floor(score * count), count - 1));
  }
  return MeanCrossEntropy(logits, bins);
}

// Computes the loss of the binned errors of each C alpha in each residue's local frame (section 1.9.7).
Tensor AlignedErrorLoss(const Tensor& logits, const Tensor& frames, const std::vector<ResidueLabels>& labels) {
  const std::vector<double> edges = SquaredEdges(0, 31, logits.columns());
  const Tensor matrices = FrameMatrices(frames.Detached());
  std::vector<std::int32_t> bins;
  Dispatch(matrices.dtype(), [&]<typename T>(T) {
    const auto seen = [](const auto& row, const Vector3& offset) {  // computes R^T (p - t)
      return Vector3{row(0, 0) * offset.x + row(1, 0) * offset.y + row(2, 0) * offset.z,
                     row(0, 1) * offset.x + row(1, 1) * offset.y + row(2, 1) * offset.z,
                     row(0, 2) * offset.x + row(1, 2) * offset.y + row(2, 2) * offset.z};
    };
    const auto origin = [&](std::size_t i) {
      const T* const t = matrices.matrix<T>().row(static_cast<std::int64_t>(i)) + 9;
      return Vector3{static_cast<double>(t[0]), static_cast<double>(t[1]), static_cast<double>(t[2])};
    };
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const T* const rotation = matrices.matrix<T>().row(static_cast<std::int64_t>(i));
      const auto predicted = [&](int row, int column) { return static_cast<double>(rotation[3 * row + column]); };
      const auto known = [&](int row, int column) {
        const Vector3& its = labels[i].frames[0].rows[static_cast<std::size_t>(row)];
        return column == 0 ? its.x : column == 1 ? its.y : its.z;
      };
      for (std::size_t j = 0; j < labels.size(); ++j) {
        if (!labels[i].frame_known[0] || !labels[j].frame_known[0]) {
          bins.push_back(-1);
          continue;
        }
        const Vector3 place = seen(predicted, origin(j) - origin(i));
        const Vector3 truth = seen(known, labels[j].frames[0].origin - labels[i].frames[0].origin);
        bins.push_back(BinOf(SquaredDistance(place, truth), edges));
      }
    }
  });
  return MeanCrossEntropy(logits, bins);
}

// Computes the loss of experimentally resolved atoms (section 1.9.10), over the atoms that the residue types have.
Tensor ResolvedLoss(const Tensor& logits, const std::vector<ResidueLabels>& labels) {
  std::vector<std::int32_t> rows;
  std::vector<double> targets;
  for (const ResidueLabels& residue : labels) {
    for (std::size_t atom = 0; atom < kAtom37; ++atom) {
      if (!TablesOfResidues().has_atom37[static_cast<std::size_t>(residue.type)][atom]) continue;
      rows.push_back(static_cast<std::int32_t>((&residue - labels.data()) * kAtom37 + static_cast<std::int64_t>(atom)));
      targets.push_back(residue.resolved[atom] ? 1 : 0);
    }
  }
  const Tensor all = ops::Reshape(logits, {logits.elements(), 1});
  if (rows.empty()) return ops::Scale(ops::Sum(all), 0);
  const auto count = static_cast<double>(rows.size());
  return ops::SigmoidCrossEntropy(ops::Embedding(all, rows), TensorOf(targets, {std::ssize(rows), 1}, logits.dtype()),
                                  1 / (count + kEpsilon));
}

void CheckLabels(const FoldingOutputs& outputs, const FoldingLabels& labels) {
  const std::int64_t residues = std::ssize(labels.residues);
  Check(residues >= 1 && outputs.single.rows() == residues && !outputs.structure.blocks.empty() &&
            outputs.letters.rows() == std::ssize(labels.letters),
        "FoldingLoss: labels have {} residues and {} letters, but outputs have {} and {}", residues,
        labels.letters.size(), outputs.single.rows(), outputs.letters.rows());
}

}  // namespace

KnownAlphas KnownAlphasOf(std::span<const ResidueLabels> labels,
                          std::span<const std::array<Vector3, kAtom14>> predicted) {
  constexpr std::size_t alpha = 1;  // the index in atom14 and atom37
  KnownAlphas known;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!labels[i].known[alpha]) continue;
    Residue residue;
    residue.known[alpha] = true;
    residue.atoms[alpha] = labels[i].atoms[alpha];
    known.reference.push_back(residue);
    residue.atoms[alpha] = predicted[i][alpha];
    known.model.push_back(residue);
    known.indices.push_back(i);
  }
  return known;
}

std::vector<std::array<Vector3, kAtom14>> AtomsOf(const FoldedStructure& structure) {
  const Tensor& atoms = structure.blocks.back().atoms;
  std::vector<std::array<Vector3, kAtom14>> all(static_cast<std::size_t>(atoms.rows()));
  Dispatch(atoms.dtype(), [&]<typename T>(T) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const T* from = atoms.matrix<T>().row(static_cast<std::int64_t>(i));
      for (Vector3& atom : all[i]) {
        atom = {static_cast<double>(from[0]), static_cast<double>(from[1]), static_cast<double>(from[2])};
        from += 3;
      }
    }
  });
  return all;
}

FoldingLosses LossesOf(const FoldingOutputs& outputs, const FoldingLabels& labels, const FoldingLossWeights& weights) {
  CheckLabels(outputs, labels);
  const std::vector<std::array<Vector3, kAtom14>> predicted = AtomsOf(outputs.structure);
  std::vector<ResidueLabels> renamed = labels.residues;
  const std::vector<bool> better = BetterRenamed(labels.residues, predicted);
  for (std::size_t i = 0; i < renamed.size(); ++i)
    if (better[i]) renamed[i] = Renamed(renamed[i]);
  const StructureBlock& last = outputs.structure.blocks.back();

  FoldingLosses losses;
  losses.backbone = BackboneLoss(outputs.structure, labels);
  losses.side_chains = SideChainLoss(last, renamed);
  losses.torsions = TorsionLoss(outputs.structure, labels.residues);
  losses.distances = DistanceLoss(outputs.distances, labels.residues);
  losses.letters = MeanCrossEntropy(outputs.letters, labels.letters);
  losses.lddt = LddtLoss(outputs.lddt, predicted, labels.residues);
  if (!outputs.aligned_errors.empty())
    losses.aligned_errors = AlignedErrorLoss(outputs.aligned_errors, last.frames, labels.residues);
  losses.resolved = ResolvedLoss(outputs.resolved, labels.residues);
  if (weights.violations > 0) losses.violations = ViolationLoss(last.atoms, labels.residues);
  if (weights.smooth_lddt > 0) losses.smooth_lddt = SmoothLddtOfBlocks(outputs.structure, labels.residues);
  return losses;
}

Tensor FoldingLoss(const FoldingOutputs& outputs, const FoldingLabels& labels, const FoldingLossWeights& weights,
                   double scale) {
  const FoldingLosses losses = LossesOf(outputs, labels, weights);
  const double factor = scale * std::sqrt(static_cast<double>(labels.residues.size()));
  Tensor sum;
  const auto add = [&](const Tensor& loss, double weight) {
    if (loss.empty() || weight == 0) return;
    const Tensor weighted = ops::Scale(loss, factor * weight);
    sum = sum.empty() ? weighted : ops::Add(sum, weighted);
  };
  add(losses.backbone, weights.backbone);
  add(losses.side_chains, weights.side_chains);
  add(losses.torsions, weights.torsions);
  add(losses.distances, weights.distances);
  add(losses.letters, weights.letters);
  add(losses.lddt, weights.lddt);
  add(losses.aligned_errors, weights.aligned_errors);
  add(losses.resolved, weights.resolved);
  add(losses.violations, weights.violations);
  add(losses.smooth_lddt, weights.smooth_lddt);
  Check(!sum.empty(), "FoldingLoss: all weights are 0");
  return sum;
}

}  // namespace headlight
