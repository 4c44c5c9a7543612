#include "headlight/kinds/folding_tensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headlight/ops/softmax.h"
#include "headlight/protein/predicted_error.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

using Axes = std::vector<std::int64_t>;

// Writes the outputs of one chain to the outputs of a batch. Padding is 0.
class ChainOutputs {
 public:
  ChainOutputs(const Padded& chains, std::size_t chain, NamedTensors& out)
      : chains_(chains),
        chain_(static_cast<std::int64_t>(chain)),
        first_(chains.begin[chain]),
        residues_(chains.sequences[chain].length),
        out_(out) {}

  // Copies [residues, ...] into [batch, length, columns].
  void Residues(const char* name, const Tensor& x, const Axes& columns) const {
    Tensor& all = Output(name, {chains_.batch, chains_.length}, columns, x.dtype());
    Copy(x, all, chain_ * chains_.length);
  }
  // Copies [residues * residues, ...] into [batch, length, length, columns].
  void Pairs(const char* name, const Tensor& x, const Axes& columns) const {
    const std::int64_t length = chains_.length;
    Tensor& all = Output(name, {chains_.batch, length, length}, columns, x.dtype());
    for (std::int64_t row = 0; row < residues_; ++row)
      Copy(x.ViewRows(row * residues_, residues_), all, (chain_ * length + first_ + row) * length);
  }
  // Copies each block's [residues, ...] into [blocks, batch, length, columns].
  void Blocks(const char* name, const std::vector<Tensor>& blocks, const Axes& columns) const {
    Tensor& all = Output(name, {std::ssize(blocks), chains_.batch, chains_.length}, columns, blocks.front().dtype());
    std::int64_t row = chain_ * chains_.length;
    for (const Tensor& block : blocks) {
      Copy(block, all, row);
      row += chains_.batch * chains_.length;
    }
  }

 private:
  Tensor& Output(const char* name, Axes axes, const Axes& columns, DType dtype) const {
    Tensor& all = out_.tensors[name];
    axes.insert(axes.end(), columns.begin(), columns.end());
    if (all.empty()) all = Tensor::Zeros(Shape(axes), dtype);
    return all;
  }
  // Copies the rows of the chain to the output, starting at row `row`.
  void Copy(const Tensor& x, Tensor& all, std::int64_t row) const {
    const Tensor rows = x.Clone();  // contiguous
    const std::int64_t width = rows.elements() / residues_;
    const auto copy = [&]<typename T>(T) {
      std::copy_n(rows.data<T>(), rows.elements(), all.data<T>() + (row + first_) * width);
    };
    if (rows.dtype() == DType::int32)
      copy(std::int32_t{});
    else
      copy(float{});
  }

  const Padded& chains_;
  std::int64_t chain_, first_, residues_;
  NamedTensors& out_;
};

// Returns the row of `table` for each residue's type, [residues, columns].
template <typename To, typename From, std::size_t columns>
Tensor OfTypes(const std::vector<std::int32_t>& types,
               const std::array<std::array<From, columns>, kResidueTypes>& table) {
  std::vector<To> rows;
  for (const std::int32_t type : types)
    for (const From value : table[static_cast<std::size_t>(type)]) rows.push_back(static_cast<To>(value));
  return Tensor::From<To>(rows, {std::ssize(types), static_cast<std::int64_t>(columns)});
}

// Adds outputs that depend only on the residue types.
void AddResidues(const FoldingFeatures& features, const ChainOutputs& outputs) {
  const std::vector<std::int32_t>& types = features.types;
  const std::int64_t residues = std::ssize(types);
  const ResidueTables& tables = TablesOfResidues();
  outputs.Residues("aatype", Tensor::From<std::int32_t>(types, {residues}), {});
  outputs.Residues("residue_index", Tensor::From<std::int32_t>(features.positions, {residues}), {});
  outputs.Residues("atom14_atom_exists", OfTypes<float>(types, tables.has_atom14), {kAtom14});
  outputs.Residues("atom37_atom_exists", OfTypes<float>(types, tables.has_atom37), {kAtom37});
  outputs.Residues("residx_atom14_to_atom37", OfTypes<std::int32_t>(types, tables.atom14_to_atom37), {kAtom14});
  outputs.Residues("residx_atom37_to_atom14", OfTypes<std::int32_t>(types, tables.atom37_to_atom14), {kAtom37});
}

// Converts frames [residues, 8 * 12] to matrices [residues, 8 * 4 * 4]. A frame is a rotation and a translation.
Tensor FourByFour(const Tensor& frames) {
  const Tensor matrices = Tensor::Zeros({frames.rows(), kRigidGroups * 16});
  for (std::int64_t row = 0; row < frames.rows(); ++row) {
    const float* from = frames.matrix<float>().row(row);
    float* to = matrices.matrix<float>().row(row);
    for (int group = 0; group < kRigidGroups; ++group, from += 12, to += 16) {
      for (int axis = 0; axis < 3; ++axis) {
        std::copy_n(from + 3 * axis, 3, to + 4 * axis);
        to[4 * axis + 3] = from[9 + axis];
      }
      to[15] = 1;
    }
  }
  return matrices;
}

void AddStructure(const FoldedStructure& structure, const ChainOutputs& outputs) {
  const auto add = [&](const char* name, Tensor StructureBlock::*member, const Axes& columns) {
    std::vector<Tensor> blocks;
    for (const StructureBlock& block : structure.blocks) blocks.push_back(block.*member);
    outputs.Blocks(name, blocks, columns);
  };
  add("frames", &StructureBlock::frames, {7});
  add("unnormalized_angles", &StructureBlock::unnormalized_torsions, {7, 2});
  add("angles", &StructureBlock::torsions, {7, 2});
  add("positions", &StructureBlock::atoms, {kAtom14, 3});
  add("states", &StructureBlock::single, {structure.single.columns()});
  std::vector<Tensor> frames;
  for (const StructureBlock& block : structure.blocks) frames.push_back(FourByFour(block.group_frames));
  outputs.Blocks("sidechain_frames", frames, {kRigidGroups, 4, 4});
}

}  // namespace

void AddFoldingTensors(const FoldingFeatures& features, const FoldingOutputs& made, const std::vector<Tensor>& lddt,
                       const Padded& chains, std::size_t chain, NamedTensors& out) {
  const ChainOutputs outputs(chains, chain, out);
  AddResidues(features, outputs);
  AddStructure(made.structure, outputs);
  outputs.Residues("s_s", made.single, {made.single.columns()});
  outputs.Pairs("s_z", made.pair, {made.pair.columns()});
  outputs.Pairs("distogram_logits", made.distances, {made.distances.columns()});
  outputs.Residues("lm_logits", made.letters, {made.letters.columns()});

  const std::int64_t residues = std::ssize(features.types), bins = lddt.back().columns() / kAtom37;
  outputs.Blocks("lddt_head", lddt, {kAtom37, bins});
  const Tensor expected = Tensor::From<float>(ExpectedLddt({lddt.back().data<float>(), residues * kAtom37, bins, bins}),
                                              {residues, kAtom37});
  for (float& value : expected.span<float>()) value /= 100;
  outputs.Residues("plddt", expected, {kAtom37});

  const Tensor& errors = made.aligned_errors;
  outputs.Pairs("ptm_logits", errors, {errors.columns()});
  outputs.Pairs("aligned_confidence_probs", ops::Softmax(errors), {errors.columns()});
  outputs.Pairs("predicted_aligned_error",
                Tensor::From<float>(ExpectedErrors(errors.matrix<float>()), {errors.rows(), 1}), {});
  const std::vector<float> largest = {static_cast<float>(LargestExpectedError(errors.columns()))};
  out.tensors["max_predicted_aligned_error"] = Tensor::From<float>(largest, {});
  Tensor& tm_scores = out.tensors["ptm"];
  if (tm_scores.empty()) tm_scores = Tensor::Zeros({chains.batch});
  tm_scores.data<float>()[chain] = static_cast<float>(ExpectedTmScore(errors.matrix<float>(), residues));
}

}  // namespace headlight
