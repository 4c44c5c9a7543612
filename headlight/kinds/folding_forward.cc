#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "headlight/base/error.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/kinds/forward_tensors.h"
#include "headlight/protein/alignment_features.h"
#include "headlight/protein/nn/covariation.h"
#include "headlight/protein/nn/folding_embedders.h"
#include "headlight/protein/predicted_error.h"
#include "headlight/protein/residues.h"

namespace headlight {
namespace {

using Axes = std::vector<std::int64_t>;

const std::vector<std::string_view> kInputs = {"aatype",
                                               "residue_index",
                                               "target_feat",
                                               "msa_feat",
                                               "msa_mask",
                                               "extra_msa",
                                               "extra_has_deletion",
                                               "extra_deletion_value",
                                               "covariation",
                                               "template_aatype",
                                               "template_mask",
                                               "template_pseudo_beta",
                                               "template_pseudo_beta_mask",
                                               "template_all_atom_mask",
                                               "template_torsion_angles_sin_cos",
                                               "template_alt_torsion_angles_sin_cos",
                                               "template_torsion_angles_mask"};

// Reads the features of one pass.
class PassReader {
 public:
  PassReader(const Safetensors& in, std::int64_t pass, std::int64_t passes, std::int64_t residues)
      : in_(in), pass_(pass), passes_(passes), residues_(residues) {}

  FoldingFeatures Read() const {
    FoldingFeatures features;
    features.types = Integers("aatype", {residues_}, 0, kResidueTypes - 1);
    features.positions = Integers("residue_index", {residues_}, 0, 1 << 30);
    features.target =
        Tensor::From<float>(Numbers("target_feat", {residues_, kTargetFeatures}), {residues_, kTargetFeatures});
    const std::int64_t rows = First("msa_feat", 4);
    features.alignment = Tensor::From<float>(Numbers("msa_feat", {rows, residues_, kAlignmentFeatures}),
                                             {rows * residues_, kAlignmentFeatures});
    if (in_.contains("msa_mask"))
      features.present = std::make_shared<const std::vector<std::uint8_t>>(Marks("msa_mask", {rows, residues_}));
    features.extra = Extra();
    if (in_.contains("template_aatype")) features.templates = Templates();
    if (in_.contains("covariation")) {
      const Axes pairs = {residues_, residues_, kCovariationFeatures};
      features.covariation = Tensor::From<float>(Numbers("covariation", pairs), {residues_ * residues_, pairs.back()});
    }
    return features;
  }

 private:
  // Reads this pass's slice of an input, whose remaining axes must be `axes`.
  template <typename T>
  std::vector<T> Part(std::string_view name, Axes axes, DType dtype) const {
    axes.push_back(passes_);
    const StoredTensor& stored = in_.At(name);
    Check(stored.shape == Shape(axes), "{}: {} has the shape {}, and must have {}", in_.path(), name,
          ToString(stored.shape), ToString(Shape(axes)));
    const std::vector<T> all = in_.Read(name, dtype).ToVector<T>();
    std::vector<T> part;
    for (std::size_t i = static_cast<std::size_t>(pass_); i < all.size(); i += static_cast<std::size_t>(passes_))
      part.push_back(all[i]);
    return part;
  }
  std::vector<float> Numbers(std::string_view name, const Axes& axes) const {
    std::vector<float> numbers = Part<float>(name, axes, DType::float32);
    for (const float number : numbers) Check(std::isfinite(number), "{}: {} is not finite", in_.path(), name);
    return numbers;
  }
  std::vector<std::int32_t> Integers(std::string_view name, const Axes& axes, std::int32_t least,
                                     std::int32_t most) const {
    const StoredType type = in_.At(name).type;
    Check(type == StoredType::i64 || type == StoredType::i32, "{}: {} is {}, and must be I64 or I32", in_.path(), name,
          Name(type));
    std::vector<std::int32_t> numbers = Part<std::int32_t>(name, axes, DType::int32);
    for (const std::int32_t number : numbers)
      Check(number >= least && number <= most, "{}: {} holds {}, and must be from {} to {}", in_.path(), name, number,
            least, most);
    return numbers;
  }
  std::vector<std::uint8_t> Marks(std::string_view name, const Axes& axes) const {
    std::vector<std::uint8_t> marks;
    for (const float mark : Part<float>(name, axes, DType::float32)) {
      Check(mark == 0 || mark == 1, "{}: {} holds {}, and must be 0 or 1", in_.path(), name, mark);
      marks.push_back(mark != 0);
    }
    return marks;
  }
  // Returns the size of the first axis of an input. The input must have rank `rank`.
  std::int64_t First(std::string_view name, std::size_t rank) const {
    const Shape& shape = in_.At(name).shape;
    Check(shape.rank() == static_cast<std::int64_t>(rank) && shape[0] > 0,
          "{}: {} has the shape {}, and must have {} axes, the first of them not 0", in_.path(), name, ToString(shape),
          rank);
    return shape[0];
  }

  Tensor Extra() const {
    if (!in_.contains("extra_msa")) return Tensor::Zeros({0, kExtraFeatures});
    const std::int64_t rows = First("extra_msa", 3);
    const Axes cells = {rows, residues_};
    const std::vector<std::int32_t> letters = Integers("extra_msa", cells, 0, kFeatureLetters - 1);
    const std::vector<float> has = Numbers("extra_has_deletion", cells), value = Numbers("extra_deletion_value", cells);
    const Tensor extra = Tensor::Zeros({rows * residues_, kExtraFeatures});
    for (std::size_t cell = 0; cell < letters.size(); ++cell) {
      float* const row = extra.matrix<float>().row(static_cast<std::int64_t>(cell));
      row[letters[cell]] = 1;
      row[kFeatureLetters] = has[cell];
      row[kFeatureLetters + 1] = value[cell];
    }
    return extra;
  }

  std::vector<TemplateFeatures> Templates() const {
    const std::int64_t count = First("template_aatype", 3);
    const Axes cells = {count, residues_};
    const std::vector<std::int32_t> types = Integers("template_aatype", cells, 0, kGap);
    const std::vector<float> beta = Numbers("template_pseudo_beta", {count, residues_, 3}),
                             torsions = Numbers("template_torsion_angles_sin_cos", {count, residues_, 7, 2}),
                             others = Numbers("template_alt_torsion_angles_sin_cos", {count, residues_, 7, 2});
    const std::vector<std::uint8_t> betas = Marks("template_pseudo_beta_mask", cells),
                                    atoms = Marks("template_all_atom_mask", {count, residues_, kAtom37}),
                                    known = Marks("template_torsion_angles_mask", {count, residues_, 7});
    std::vector<std::uint8_t> present(static_cast<std::size_t>(count), 1);
    if (in_.contains("template_mask")) present = Marks("template_mask", {count});
    std::vector<TemplateFeatures> templates;
    std::size_t cell = 0;
    for (const std::uint8_t mark : present) {
      TemplateFeatures one{.types = {},
                           .beta = Tensor::Zeros({residues_, 3}),
                           .beta_known = {},
                           .backbone_known = {},
                           .angles = Tensor::Zeros({residues_, kTemplateAngles})};
      for (std::int64_t i = 0; i < residues_; ++i, ++cell) {
        one.types.push_back(types[cell]);
        one.beta_known.push_back(betas[cell]);
        const std::uint8_t* const mask = atoms.data() + cell * kAtom37;
        one.backbone_known.push_back(mask[0] & mask[1] & mask[2]);  // 1 if N, CA and C are all known
        std::copy_n(beta.data() + 3 * cell, 3, one.beta.matrix<float>().row(i));
        float* row = one.angles.matrix<float>().row(i);
        row[types[cell]] = 1;
        row += kAlignmentLetters;
        row = std::copy_n(torsions.data() + 14 * cell, 14, row);
        row = std::copy_n(others.data() + 14 * cell, 14, row);
        std::copy_n(known.data() + 7 * cell, 7, row);
      }
      if (mark != 0) templates.push_back(std::move(one));
    }
    return templates;
  }

  const Safetensors& in_;
  std::int64_t pass_, passes_, residues_;
};

// Adds the last block's atoms in atom37 order, and a mask of the atoms that each residue has.
void AddAtoms(const Tensor& atoms, const std::vector<std::int32_t>& types, NamedTensors& out) {
  const ResidueTables& tables = TablesOfResidues();
  const std::int64_t residues = atoms.rows();
  const Tensor positions = Tensor::Zeros({residues, kAtom37, 3}), mask = Tensor::Zeros({residues, kAtom37});
  for (std::int64_t i = 0; i < residues; ++i) {
    const auto type = static_cast<std::size_t>(types[static_cast<std::size_t>(i)]);
    for (std::size_t atom = 0; atom < kAtom14; ++atom) {
      if (!tables.has_atom14[type][atom]) continue;
      const std::int64_t index = i * kAtom37 + tables.atom14_to_atom37[type][atom];
      mask.data<float>()[index] = 1;
      std::copy_n(atoms.matrix<float>().row(i) + 3 * atom, 3, positions.data<float>() + 3 * index);
    }
  }
  out.tensors["final_atom_positions"] = positions;
  out.tensors["final_atom_mask"] = mask;
}

}  // namespace

NamedTensors FoldingModel::Forward(const Safetensors& in) const {
  CheckInputs(in, kInputs);
  Check(plan().rows > 0, "{}: forward runs models of structures that read an alignment", parameters_.source());
  const Shape& shape = in.At("aatype").shape;
  Check(shape.rank() == 2 && shape.elements() > 0,
        "{}: aatype has the shape {}, and must be [residues, passes] with neither of them 0", in.path(),
        ToString(shape));
  const std::int64_t residues = shape[0];
  std::vector<FoldingFeatures> passes;
  for (std::int64_t pass = 0; pass < shape[1]; ++pass)
    passes.push_back(PassReader(in, pass, shape[1], residues).Read());
  Context context;
  const FoldingOutputs outputs = Fold(context, passes);

  NamedTensors out;
  const auto add = [&](const char* name, const Tensor& x, Axes axes) {
    if (x.empty()) return;
    axes.push_back(x.columns());
    out.tensors[name] = x.Clone().ViewAs(Shape(axes));
  };
  const std::int64_t rows = outputs.alignment.rows() / residues;
  add("msa", outputs.alignment, {rows, residues});
  add("pair", outputs.pair, {residues, residues});
  add("single", outputs.single, {residues});
  add("masked_msa_logits", outputs.letters, {rows, residues});
  add("distogram_logits", outputs.distances, {residues, residues});
  add("lddt_logits", outputs.lddt, {residues});
  add("experimentally_resolved_logits", outputs.resolved, {residues});
  add("tm_logits", outputs.aligned_errors, {residues, residues});
  const StructureBlock& last = outputs.structure.blocks.back();
  add("sm.single", outputs.structure.single, {residues});
  add("sm.frames", last.frames, {residues});
  out.tensors["sm.positions"] = last.atoms.Clone().ViewAs({residues, kAtom14, 3});
  out.tensors["sm.angles"] = last.torsions.Clone().ViewAs({residues, 7, 2});
  AddAtoms(last.atoms, passes.back().types, out);
  out.tensors["plddt"] = Tensor::From<float>(ExpectedLddt(outputs.lddt.matrix<float>()), {residues});
  return out;
}

}  // namespace headlight
