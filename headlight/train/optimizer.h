// Adam and AdamW over all parameters of a model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headlight/base/export.h"
#include "headlight/base/ranks.h"
#include "headlight/nn/parameters.h"
#include "headlight/train/rank_sum.h"

namespace headlight {

// Settings of the parameters whose names match a shell pattern (Matches in nn/parameters.h).
struct ParameterGroup {
  std::string pattern;
  // Of AdamOptions::weight_decay. Unless given, matrices of linear layers and convolutions decay (1), biases, norms'
  // weights and embeddings do not (0).
  std::optional<double> decay_factor = {};
  double rate_factor = 1;  // of the learning rate
  bool frozen = false;     // they keep their values, have no gradient and no moments
};

// The paper's (section 5.3) unless told otherwise. With weight decay it is AdamW.
struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9;
  double weight_decay = 0;
  double clip_norm = 0;            // the gradient's norm is brought down to this; 0: as it is
  double clip_parameter_norm = 0;  // and before that the norm of each parameter's
  double average_decay = 0;        // of the moving average of the values; 0: none is kept
  // The learning rate of a layer is layer_decay^(layers + 1 - layer) times the schedule's, where embeddings are layer 0
  // and what follows the layers is layer `layers` + 1 (Clark et al., "ELECTRA", 2020, appendix A).
  double layer_decay = 1;
  std::vector<ParameterGroup> groups = {};  // a parameter is in the first that fits it
};

// The vectors m and v have a number for every trained one, in the order of Parameters::values, or for those of the own
// pieces (PiecesOf in train/rank_sum.h) where ranks share the optimizer.
struct HEADLIGHT_API Optimizer {
  // Freezes what a group says. `sharing`: the ranks each of which keeps and updates its pieces alone (Rajbhandari et
  // al., "ZeRO", 2020, stages 1 and 2); null: all is kept here. Throws Error where an option is impossible or a group
  // fits no parameter.
  Optimizer(const AdamOptions& options, Parameters& parameters, Ranks* sharing = nullptr);

  // Moves the parameters against their gradients and sets those to zero; the gradient's norm before it was clipped.
  // `weight_decay` is in the place of the options' where it is given. Where ranks share the optimizer the gradients of
  // the own pieces are read, and all values are there afterwards, but of `average` only the own pieces. Throws Error
  // where the norm is not finite: then nothing has been changed.
  double Step(Parameters& parameters, double learning_rate, std::optional<double> weight_decay = {});

  AdamOptions options;
  std::int64_t step = 0;  // steps taken
  Tensor m, v;
  Tensor average;  // of Parameters::state; empty without average_decay

  // Fills `average` where ranks share it. All of them call it.
  void GatherAverage() const;
  // All of m or v, where ranks share them on rank 0 alone. All of them call it.
  Tensor Whole(const Tensor& moments) const;
  // Sets m or v to its part of all.
  void Keep(const Tensor& moments, const Tensor& all) const;

 private:
  double Norm(const Parameters& parameters) const;

  // Neighbours in Parameters::values that are treated alike.
  struct Segment {
    std::int64_t begin = 0, count = 0;
    double decay_factor = 0, rate_factor = 1;
  };
  std::vector<Segment> segments_;
  Ranks* sharing_;
  std::vector<Piece> pieces_;  // of all ranks; without them one
  // Calls body(piece, place) for the own pieces, with their places in m and v.
  void ForOwn(const std::function<void(const Piece& piece, std::int64_t place)>& body) const;
  int rank_ = 0;
  std::int64_t trained_ = 0;  // numbers
};

}  // namespace headlight
