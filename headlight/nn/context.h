// Context: what a pass through a model needs besides its inputs. No state of a pass is in members or globals, so that
// a model is constant and may be shared by any number of passes at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "headlight/autograd/tape.h"
#include "headlight/kernels/dropout_hash.h"
#include "headlight/nn/attention_sink.h"
#include "headlight/nn/parameters.h"
#include "headlight/ops/linear.h"

namespace headlight {

struct DecoderCache;  // nn/decoder_cache.h
namespace ops {
struct Routing;  // ops/routing.h
}

// A batch's own mean or variance, which a running average follows (KeepAverage in nn/convolution.h).
struct BatchStatistic {
  const Parameter* average = nullptr;
  std::vector<double> of_batch;
};

/// Settings of a pass in training.
struct TrainingPass {
  std::uint64_t seed = 0;  // of this pass's dropout
  double drop_path = 0;    // the probability that the last layer is left out (nn/drop_path.h)
  // Where set, receives what running averages follow; else they follow at once.
  std::vector<BatchStatistic>* statistics = nullptr;
};

/// Who observes a pass. Each is optional.
struct Hooks {
  AttentionSink attention = {};  // receives every head of every layer
  // Which of them it receives in a pass over a cache; all unless given.
  std::function<bool(const AttentionSource&)> wanted = {};
  // Receives them with their gradients; with a tape, without a cache and dropout.
  AttentionGradientSink attention_gradient = {};
  ResidueSink residues = {};  // receives the attentions over residues of every layer
  // Receives the routing of every layer with experts, in their order.
  std::function<void(const ops::Routing&)> routing = {};
};

struct HEADLIGHT_API Context {
  // With a tape, parameters become its leaves and their gradients are added to Parameter::gradient.
  Tape* tape = nullptr;
  std::optional<TrainingPass> training = {};  // where set, dropout is active
  DecoderCache* cache = nullptr;
  bool draft = false;  // products use Parameter::draft
  Hooks hooks = {};

  Tensor Use(const Parameter& parameter) const;
  ops::Weight UseWeight(const Parameter& parameter) const;

  // A dropout with a random stream of its own for each call in a pass; one that drops nothing outside of training.
  Dropout NextDropout(double probability);

 private:
  std::uint64_t dropouts_ = 0;
};

}  // namespace headlight
