// Adam and AdamW for all parameters of a model.
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

/// Settings for the parameters whose names match a shell pattern (Matches in nn/parameters.h).
struct ParameterGroup {
  std::string pattern;
  /// The factor that multiplies AdamOptions::weight_decay. By default it is 1 for matrices of linear layers and
  /// convolutions, and 0 for biases, norm weights and embeddings.
  std::optional<double> decay_factor = {};
  double rate_factor = 1;  // multiplies the learning rate
  bool frozen = false;     // if true, the values are constant, and no gradients or moments are stored
};

/// Options of Adam, with the defaults of the Transformer paper (Vaswani et al., 2017, section 5.3). With weight decay,
/// the optimizer is AdamW.
struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9;
  double weight_decay = 0;
  double clip_norm = 0;  // upper limit of the gradient's norm; 0: no limit
  /// The maximum norm of each parameter's gradient, applied before clip_norm. 0 means no limit.
  double clip_parameter_norm = 0;
  double average_decay = 0;  // decay of the exponential moving average of the values; 0: no moving average
  /// The learning rate of layer l is multiplied by layer_decay^(layers + 1 - l). Embeddings are layer 0, and parameters
  /// above the layers are layer `layers` + 1 (Clark et al., "ELECTRA", 2020, appendix A).
  double layer_decay = 1;
  std::vector<ParameterGroup> groups = {};  // a parameter belongs to the first group with a matching pattern
};

/// Adam with its state. The vectors m and v have one number per trained parameter element, in the order of
/// Parameters::values. If ranks share the optimizer, the vectors only cover this rank's pieces (PiecesOf in
/// train/rank_sum.h).
struct HEADLIGHT_API Optimizer {
  /// Freezes the parameters of frozen groups. If `sharing` is not null, each rank stores and updates only its own
  /// pieces (Rajbhandari et al., "ZeRO", 2020, stages 1 and 2). Throws Error if an option is out of range or a group
  /// matches no parameter.
  Optimizer(const AdamOptions& options, Parameters& parameters, Ranks* sharing = nullptr);

  /// Updates the parameters and sets their gradients to zero. Returns the gradient's norm before clipping.
  /// `weight_decay` overrides the weight decay of the options. If ranks share the optimizer, only the gradients of this
  /// rank's pieces are read. After the step, all values are up to date, but `average` only in this rank's pieces.
  /// Throws Error, and changes nothing, if the norm is not finite.
  double Step(Parameters& parameters, double learning_rate, std::optional<double> weight_decay = {});

  AdamOptions options;
  std::int64_t step = 0;  // number of steps so far
  Tensor m, v;
  Tensor average;  // moving average of Parameters::state; empty without average_decay

  /// Completes `average` if ranks share the optimizer. All ranks must call this function.
  void GatherAverage() const;
  /// Returns all of m or v. If ranks share the optimizer, only rank 0 receives the result. All ranks must call this
  /// function.
  Tensor Whole(const Tensor& moments) const;
  /// Sets m or v to this rank's elements of `all`.
  void Keep(const Tensor& moments, const Tensor& all) const;

 private:
  double Norm(const Parameters& parameters) const;

  /// Consecutive parameters with the same settings.
  struct Segment {
    std::int64_t begin = 0, count = 0;
    double decay_factor = 0, rate_factor = 1;
  };
  std::vector<Segment> segments_;
  Ranks* sharing_;
  std::vector<Piece> pieces_;  // pieces of all ranks; a single piece without ranks
  /// Calls body(piece, offset) for each piece of this rank. `offset` is the piece's offset in m and v.
  void ForOwn(const std::function<void(const Piece& piece, std::int64_t offset)>& body) const;
  int rank_ = 0;
  std::int64_t trained_ = 0;  // number of trained elements
};

}  // namespace headlight
