// Reads AlphaFold's goldens, which tools/make_alphafold_goldens.py describes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/io/safetensors.h"
#include "headlight/kinds/folding_model.h"
#include "headlight/nn/parameters.h"
#include "headlight/ops/arithmetic.h"
#include "headlight/protein/templates.h"
#include "tests/parity_testing.h"

namespace headlight {

inline const std::string kAlphaFoldGoldens = HEADLIGHT_SOURCE_DIR "/tests/testdata/alphafold/";

// A golden file, and the parameters of the compared module.
class Golden {
 public:
  Golden(const std::string& name, DType dtype) : file_(kAlphaFoldGoldens + name + ".safetensors"), parameters_(dtype) {
    context_.tape = &tape_;
  }

  Parameters& parameters() { return parameters_; }
  Context& context() { return context_; }
  DType dtype() const { return parameters_.dtype(); }
  const Safetensors& file() const { return file_; }

  // Loads the parameters. Must be called after all declarations.
  void Load() {
    parameters_.Allocate();
    parameters_.PrepareTraining();
    std::size_t found = 0;
    for (const Parameter& parameter : parameters_.all()) {
      std::int64_t row = 0;
      for (const std::string& name : parameter.names) {
        const Tensor part = file_.Read("parameter." + name, dtype());
        parameter.value.ViewRows(row, part.shape()[0]).CopyFrom(part);
        row += part.shape()[0];
        ++found;
      }
      ASSERT_EQ(row, parameter.shape[0]) << parameter.names.front();
    }
    std::size_t stored = 0;
    for (const auto& [name, tensor] : file_.tensors()) stored += name.starts_with("parameter.") ? 1 : 0;
    EXPECT_EQ(found, stored);
  }

  // Returns an input that the tape watches, as a matrix. The columns are the last axis of the input.
  Tensor Input(const std::string& name) {
    const Tensor stored = file_.Read(name, dtype());
    const Tensor input = tape_.Watch(stored.ViewAs({stored.rows(), stored.columns()}));
    inputs_.emplace_back(name, input);
    return input;
  }

  // Compares an output and adds it to the loss. Rows that are not `present` must be zeros.
  void Output(const std::string& name, const Tensor& output, const std::vector<std::uint8_t>* present = nullptr) {
    Tensor weights = Tensor::Empty(output.shape(), dtype());
    Numbers numbers = ToDouble(output);
    Dispatch(dtype(), [&]<typename T>(T) {
      for (std::int64_t i = 0; i < output.elements(); ++i) {
        const bool counts = present == nullptr || (*present)[static_cast<std::size_t>(i / output.columns())] != 0;
        weights.data<T>()[i] = counts ? static_cast<T>(std::sin(static_cast<double>(i) + 1)) : T{0};
        if (!counts) numbers[static_cast<std::size_t>(i)] = 0;
      }
    });
    EXPECT_LT(Deviation(numbers, ToDouble(file_.Read(name, DType::float64))), Tolerance()) << name;
    const Tensor part = ops::Sum(ops::Multiply(output, weights));
    loss_ = loss_.empty() ? part : ops::Add(loss_, part);
  }

  void CheckGradients() { CheckGradients(parameters_); }
  void CheckGradients(const Parameters& parameters) {
    tape_.Backward(loss_);
    for (const auto& [name, input] : inputs_)
      EXPECT_LT(Deviation(ToDouble(tape_.GradientOf(input)), ToDouble(file_.Read("d_" + name, DType::float64))),
                Tolerance())
          << name;
    EXPECT_LT(Deviation(ByName(parameters, &Parameter::gradient), GradientsOf(file_)), Tolerance());
  }

  // Returns the tolerance. The goldens have single precision, so a double-precision model only differs by the rounding
  // of the goldens.
  double Tolerance() const { return dtype() == DType::float64 ? 1e-6 : 1e-4; }

 private:
  Safetensors file_;
  Parameters parameters_;
  Tape tape_;
  Context context_;
  std::vector<std::pair<std::string, Tensor>> inputs_;
  Tensor loss_;
};

// Returns a residue from atoms [residues, 37, 3] and masks [residues, 37].
inline Residue ResidueAt(std::size_t index, std::int32_t type, const std::vector<double>& atoms,
                         const std::vector<double>& known) {
  Residue residue;
  residue.type = type;
  for (std::size_t atom = 0; atom < kAtom37; ++atom) {
    const std::size_t at = index * kAtom37 + atom;
    residue.known[atom] = known[at] != 0;
    residue.atoms[atom] = {atoms[3 * at], atoms[3 * at + 1], atoms[3 * at + 2]};
  }
  return residue;
}

inline std::vector<ProteinTemplate> TemplatesOf(const Safetensors& file) {
  const Tensor types = file.Read("template_aatype", DType::int32);
  const std::vector<std::int32_t> all_types = types.ToVector<std::int32_t>();
  const std::vector<double> atoms = file.Read("template_all_atom_positions", DType::float64).ToVector<double>(),
                            known = file.Read("template_all_atom_mask", DType::float64).ToVector<double>(),
                            present = file.Read("template_mask", DType::float64).ToVector<double>();
  std::vector<ProteinTemplate> templates;
  std::size_t index = 0;
  for (const double mark : present) {
    ProteinTemplate one{"template", {}};
    for (std::int64_t i = 0; i < types.columns(); ++i, ++index)
      one.residues.push_back(ResidueAt(index, all_types[index], atoms, known));
    if (mark != 0) templates.push_back(std::move(one));
  }
  return templates;
}

inline std::vector<TemplateFeatures> TemplateFeaturesOf(const Safetensors& file, DType dtype) {
  std::vector<TemplateFeatures> all;
  if (!file.contains("template_aatype")) return all;
  for (const ProteinTemplate& one : TemplatesOf(file)) {
    TemplateFeatures& features = all.emplace_back(FeaturesOf(one));
    if (dtype == DType::float32) continue;
    for (Tensor* const x : {&features.beta, &features.angles}) *x = Tensor::From<double>(ToDouble(*x), x->shape());
  }
  return all;
}

// Returns the inputs of each pass of a golden.
inline std::vector<FoldingFeatures> PassesOf(const Safetensors& file, DType dtype) {
  std::vector<FoldingFeatures> passes;
  for (int pass = 0; pass < 2; ++pass) {
    const auto rows = [&](const std::string& name) {
      const Tensor stored = file.Read(name + "." + std::to_string(pass), dtype);
      return stored.ViewAs({stored.rows(), stored.columns()});
    };
    const auto numbers = [&](const char* name) { return file.Read(name, DType::int32).ToVector<std::int32_t>(); };
    auto marks = std::make_shared<std::vector<std::uint8_t>>();
    for (const double mark : ToDouble(rows("mask"))) marks->push_back(mark != 0);
    passes.push_back({numbers("aatype"), numbers("residue_index"), rows("target"), rows("msa"), marks, rows("extra"),
                      TemplateFeaturesOf(file, dtype)});
  }
  return passes;
}

}  // namespace headlight
