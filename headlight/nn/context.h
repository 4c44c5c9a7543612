// The context of a forward pass: everything that the pass needs besides the model's inputs. Models and globals hold no
// per-pass state, so a model is immutable and concurrent passes may share it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/dropout_hash.h"
#include "headlight/nn/attention_hook.h"
#include "headlight/nn/parameters.h"
#include "headlight/ops/linear.h"

namespace headlight {

struct DecoderCache;  // defined in nn/decoder_cache.h
namespace ops {
struct Routing;  // defined in ops/routing.h
}

/// The mean or variance of a batch, which updates a running average (KeepAverage in nn/convolution.h).
struct BatchStatistic {
  const Parameter* average = nullptr;
  std::vector<double> of_batch;
};

/// Settings of a training pass.
struct TrainingPass {
  std::uint64_t seed = 0;  ///< seed of dropout in this pass
  double drop_path = 0;    ///< the drop probability of the last layer (nn/drop_path.h)
  /// If set, receives the batch statistics. Otherwise the pass itself updates running averages.
  std::vector<BatchStatistic>* statistics = nullptr;
};

/// Callbacks that observe a pass. Each is optional.
struct Hooks {
  AttentionHook attention = {};  ///< receives the weights of every head and layer
  /// Selects the attention layers to report in a pass over a cache. By default, all layers are reported.
  std::function<bool(const AttentionSource&)> wanted = {};
  /// Receives the weights with their gradients. Requires a tape, no cache and no dropout.
  AttentionGradientHook attention_gradient = {};
  ResidueHook residues = {};  ///< receives the attention over residues of every layer
  /// Receives the routing of every layer with experts, in the order of the layers.
  std::function<void(const ops::Routing&)> routing = {};
  /// Receives the input of every linear layer, [rows, inputs], before its product with the weight.
  std::function<void(const Parameter& weight, const Tensor& input)> product = {};
};

/// The context of one pass.
struct HEADLIGHT_API Context {
  /// If set, parameters are leaves of this tape, and their gradients are added to Parameter::gradient.
  Tape* tape = nullptr;
  std::optional<TrainingPass> training = {};  ///< if set, dropout is active
  DecoderCache* cache = nullptr;
  bool draft = false;  ///< if true, products use Parameter::draft
  Hooks hooks = {};

  Tensor Use(const Parameter& parameter) const;
  ops::Weight UseWeight(const Parameter& parameter) const;

  /// Returns a dropout with a new random stream for each call in a pass. Its probability is 0 outside training.
  Dropout NextDropout(double probability);

 private:
  std::uint64_t dropouts_ = 0;
};

}  // namespace headlight
