#include "headlight/protein/nn/folding_embedders.h"

#include <algorithm>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/ops/concatenate.h"
#include "headlight/ops/embedding.h"
#include "headlight/ops/view.h"
#include "headlight/protein/nn/covariation.h"
#include "headlight/protein/nn/gated_attention.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

Linear Projection(const Scope& scope, const char* name, std::int64_t inputs, std::int64_t outputs) {
  return {scope, {name}, inputs, outputs, /*bias=*/true, /*stored_transposed=*/false, LeCunNormal(inputs)};
}

// Applies a linear layer to one-hot rows, [pairs, ...]. The results are looked up in a table with one row per kind and
// one row for zeros.
Tensor OfKinds(Context& context, const Linear& linear, std::int64_t kinds, std::span<const std::int32_t> rows,
               DType dtype) {
  const Tensor each = Tensor::Zeros({kinds + 1, kinds}, dtype);
  for (std::int64_t kind = 0; kind < kinds; ++kind) each.ViewRows(kind, 1).ViewColumns(kind, 1).Fill(1);
  return ops::Embedding(linear(context, each), rows);
}

constexpr std::int64_t kBins = 15;  // for recycled C beta distances

}  // namespace

Tensor FirstCells(const Tensor& alignment, std::int64_t cells) {
  const std::int64_t columns = alignment.columns();
  const Tensor flat = ops::Reshape(alignment, {1, alignment.elements()});
  return ops::Reshape(ops::Columns(flat, 0, cells * columns), {cells, columns});
}

std::vector<std::int32_t> BinsOfDistances(const Tensor& points, std::int64_t bins) {
  // kFirstBin and kBinWidth are in angstrom, kBeyond is in square angstrom.
  constexpr double kFirstBin = 3.25, kBinWidth = 1.25, kBeyond = 1e8;
  std::vector<std::int32_t> all;
  Dispatch(points.dtype(), [&]<typename T>(T) {
    std::vector<T> edges;  // squared distances
    for (std::int64_t bin = 0; bin < bins; ++bin) {
      const T edge = static_cast<T>(kFirstBin + kBinWidth * static_cast<double>(bin));
      edges.push_back(edge * edge);
    }
    edges.push_back(static_cast<T>(kBeyond));
    const Matrix<T> atoms = points.matrix<T>();
    for (std::int64_t i = 0; i < atoms.rows; ++i) {
      for (std::int64_t j = 0; j < atoms.rows; ++j) {
        T squares = 0;
        for (std::int64_t axis = 0; axis < 3; ++axis) {
          const T difference = atoms.row(i)[axis] - atoms.row(j)[axis];
          squares += difference * difference;
        }
        const auto above = std::upper_bound(edges.begin(), edges.end(), squares);
        const bool within = above != edges.begin() && above != edges.end() && above[-1] < squares;
        all.push_back(static_cast<std::int32_t>(within ? above - edges.begin() - 1 : bins));
      }
    }
  });
  return all;
}

InputEmbedder::InputEmbedder(const Scope& scope, std::int64_t alignment, std::int64_t pair, std::int32_t farthest,
                             bool covariation)
    : farthest_(farthest),
      first_(Projection(scope, "linear_tf_z_i", kTargetFeatures, pair)),
      second_(Projection(scope, "linear_tf_z_j", kTargetFeatures, pair)),
      target_(Projection(scope, "linear_tf_m", kTargetFeatures, alignment)),
      alignment_(Projection(scope, "linear_msa_m", kAlignmentFeatures, alignment)),
      places_(Projection(scope, "linear_relpos", 2 * farthest + 1, pair)) {
  if (covariation)
    covariation_ = Linear(scope, {"linear_covariation"}, kCovariationFeatures, pair, /*bias=*/false,
                          /*stored_transposed=*/false, LeCunNormal(kCovariationFeatures));
}

FoldingState InputEmbedder::operator()(Context& context, const FoldingFeatures& features) const {
  const std::int64_t residues = std::ssize(features.types);
  std::vector<std::int32_t> distances;
  for (const std::int32_t i : features.positions)
    for (const std::int32_t j : features.positions)
      distances.push_back(
          static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{i} - j, -farthest_, farthest_) + farthest_));
  Tensor positions = OfKinds(context, places_, 2 * farthest_ + 1, distances, features.target.dtype());
  if (covariation_ && !features.covariation.empty())
    positions = ops::Add(positions, (*covariation_)(context, features.covariation));
  const Tensor first = first_(context, features.target), second = second_(context, features.target);
  const std::int64_t pair = first.columns();
  const Tensor both = ops::Add(ops::Reshape(first, {residues, 1, pair}), ops::Reshape(second, {1, residues, pair}));
  const Tensor cells = alignment_(context, features.alignment), target = target_(context, features.target);
  const Shape rows = {cells.rows() / residues, residues, cells.columns()};
  return {ops::Reshape(ops::Add(ops::Reshape(cells, rows), target), cells.shape()),
          ops::Add(ops::Reshape(both, {residues * residues, pair}), positions)};
}

RecycledState EmptyRecycledState(std::int64_t residues, std::int64_t alignment, std::int64_t pair, DType dtype) {
  return {Tensor::Zeros({residues, alignment}, dtype), Tensor::Zeros({residues * residues, pair}, dtype),
          Tensor::Zeros({residues, 3}, dtype)};
}

RecycledState Recycle(const FoldingOutputs& outputs, std::span<const std::int32_t> types) {
  const std::int64_t residues = std::ssize(types);
  const Tensor atoms = outputs.structure.blocks.back().atoms.Detached();
  const Tensor beta = Tensor::Empty({residues, 3}, atoms.dtype());
  constexpr std::int64_t alpha_atom = 1, beta_atom = 4;  // indices in atom14
  const std::int32_t glycine = *ResidueOfLetter('G');
  for (std::int64_t residue = 0; residue < residues; ++residue) {
    const std::int64_t atom = types[static_cast<std::size_t>(residue)] == glycine ? alpha_atom : beta_atom;
    beta.ViewRows(residue, 1).CopyFrom(atoms.ViewRows(residue, 1).ViewColumns(3 * atom, 3));
  }
  return {FirstCells(outputs.alignment.Detached(), residues), outputs.pair.Detached(), beta};
}

RecyclingEmbedder::RecyclingEmbedder(const Scope& scope, std::int64_t alignment, std::int64_t pair)
    : row_norm_(scope / "layer_norm_m", alignment),
      pair_norm_(scope / "layer_norm_z", pair),
      distances_(Projection(scope, "linear", kBins, pair)) {}

FoldingState RecyclingEmbedder::operator()(Context& context, const FoldingState& state,
                                           const RecycledState& recycled) const {
  const std::int64_t residues = recycled.first_row.rows(), columns = state.alignment.columns();
  const std::vector<std::int32_t> bins = BinsOfDistances(recycled.beta_atoms, kBins);
  const Tensor distances = OfKinds(context, distances_, kBins, bins, state.pair.dtype());
  const Tensor pair = ops::Add(state.pair, ops::Add(pair_norm_(context, recycled.pair), distances));
  const Tensor row = ops::Add(FirstCells(state.alignment, residues), row_norm_(context, recycled.first_row));
  const std::int64_t others = state.alignment.rows() - residues;
  if (others == 0) return {row, pair};
  const Tensor flat = ops::Reshape(state.alignment, {1, state.alignment.elements()});
  const Tensor rest = ops::Reshape(ops::Columns(flat, residues * columns, others * columns), {others, columns});
  return {ops::Concatenate(row, rest), pair};
}

}  // namespace headlight
