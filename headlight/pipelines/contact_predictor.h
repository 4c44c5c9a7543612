// The contacts between the residues of a protein, by what a language model of proteins attends to.
//   const ContactPredictor predictor = ContactPredictor::Load("esm2_t33_650M_UR50D");
//   const Tensor contacts = predictor.Predict("MKTVRQERLKSIVRILERSKEPVSGAQLAEELSVSRQVIVQDIAYLRSLGYNIVATPRGYVLAGG");
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "headlight/base/export.h"
#include "headlight/pipelines/load_options.h"
#include "headlight/tensor/tensor.h"

namespace headlight {

// Immutable and cheap to copy; every method may be called from many threads at once.
class HEADLIGHT_API ContactPredictor {
 public:
  // A folder of an ESM with its contact head. Throws Error naming the file and what is wrong with it or not
  // supported.
  static ContactPredictor Load(const std::string& folder, const LoadOptions& options = {});

  // The probability that two residues touch (their CB within 8 A), [residues, residues] in float32. Throws Error, which
  // begins with `name`, where the letters are none, more than the model reads, or not in its vocabulary.
  Tensor Predict(std::string_view letters, const std::string& name = "the sequence") const;

 private:
  struct State;
  explicit ContactPredictor(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace headlight
