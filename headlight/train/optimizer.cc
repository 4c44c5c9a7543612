#include "headlight/train/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>

#include "headlight/base/error.h"
#include "headlight/kernels/adam.h"
#include "headlight/train/gradients.h"
#include "headlight/train/rank_sum.h"

namespace headlight {
namespace {

// A parameter name with a number between dots, such as "encoder.layers.3.fc1.weight". `stack` is the name before the
// number, and `index` is the number.
struct LayerName {
  std::string_view stack;
  std::int64_t index = -1;
};

LayerName LayerNameOf(std::string_view name) {
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    const std::string_view rest = name.substr(dot + 1), part = rest.substr(0, rest.find('.'));
    if (part.empty() || part.size() > 6 || part.size() == rest.size()) continue;
    if (std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; }))
      return {name.substr(0, dot), std::stoll(std::string(part))};
  }
  return {};
}

// Returns each parameter's distance from the top, for layer_decay. A parameter without a layer number is below the
// layers if it is an embedding or is declared before its stack's layers. Otherwise it is above them.
std::vector<std::int64_t> LayersBelowTheTop(const Parameters& parameters) {
  std::vector<std::int64_t> layers;
  std::set<std::string_view> parents;  // prefixes of earlier stacks, such as "encoder" of "encoder.layers"
  std::size_t last_layer = 0;          // index of the last parameter that is part of a layer
  std::int64_t top = 0;
  for (std::size_t i = 0; i < parameters.all().size(); ++i)
    if (const auto [stack, index] = LayerNameOf(parameters.all()[i].names.front()); index >= 0) {
      last_layer = i;
      top = std::max(top, index + 2);
    }
  for (std::size_t i = 0; i < parameters.all().size(); ++i) {
    const Parameter& parameter = parameters.all()[i];
    const std::string_view name = parameter.names.front();
    const auto [stack, index] = LayerNameOf(name);
    if (index >= 0) {
      parents.insert(stack.substr(0, stack.rfind('.')));
      layers.push_back(top - (index + 1));
      continue;
    }
    const bool above = i > last_layer || std::ranges::any_of(parents, [&](std::string_view parent) {
                         return name.starts_with(parent) && name.substr(parent.size()).starts_with('.');
                       });
    layers.push_back(above && !parameter.role.looked_up ? 0 : top);
  }
  return layers;
}

// Returns the length of the longest common substring.
std::size_t LongestInBoth(std::string_view a, std::string_view b) {
  std::size_t longest = 0;
  // ending[i]: length of the longest common suffix of the current prefix of `a` and b[0, i)
  std::vector<std::size_t> ending(b.size() + 1);
  for (const char c : a)
    for (std::size_t i = b.size(); i > 0; --i) {
      ending[i] = b[i - 1] == c ? ending[i - 1] + 1 : 0;
      longest = std::max(longest, ending[i]);
    }
  return longest;
}

// Returns the three names that are most similar to a pattern.
std::vector<std::string_view> NamesNear(const std::string& pattern, const Parameters& parameters) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : parameters.all())
    names.insert(names.end(), parameter.names.begin(), parameter.names.end());
  std::ranges::stable_sort(names, std::greater(), [&](std::string_view name) { return LongestInBoth(pattern, name); });
  names.resize(std::min<std::size_t>(names.size(), 3));
  return names;
}

}  // namespace

Optimizer::Optimizer(const AdamOptions& adam, Parameters& parameters, Ranks* sharing)
    : options(adam), sharing_(sharing) {
  Check(adam.beta1 >= 0 && adam.beta1 < 1 && adam.beta2 >= 0 && adam.beta2 < 1 && adam.epsilon > 0 &&
            adam.weight_decay >= 0 && adam.clip_norm >= 0 && adam.clip_parameter_norm >= 0 && adam.average_decay >= 0 &&
            adam.average_decay < 1,
        "Adam needs betas and an average decay from 0 to below 1, an epsilon above 0, and a weight decay and clipping "
        "norms of 0 or more");
  Check(adam.layer_decay > 0 && adam.layer_decay <= 1, "the layer decay must be above 0 and at most 1, not {}",
        adam.layer_decay);
  for (const ParameterGroup& group : adam.groups) {
    Check(group.rate_factor >= 0 && group.decay_factor.value_or(0) >= 0, "the factors of {} cannot be negative",
          group.pattern);
    Check(std::ranges::any_of(parameters.all(), [&](const Parameter& p) { return Matches(p, group.pattern); }),
          "no parameter's name matches '{}'; similar names are {}", group.pattern,
          fmt::join(NamesNear(group.pattern, parameters), ", "));
    if (group.frozen) parameters.Freeze(group.pattern);
  }
  Check(parameters.values().elements() > 0, "every parameter is frozen, so nothing can be trained");
  Check(sharing == nullptr || adam.clip_parameter_norm == 0,
        "an optimizer that ranks share cannot clip the norms of single parameters, which several ranks may share");
  trained_ = parameters.values().elements();
  pieces_ = {{0, trained_, 0}};
  if (sharing != nullptr) {
    pieces_ = PiecesOf(trained_, sharing->size());
    rank_ = sharing->rank();
  }
  std::int64_t own = 0;
  ForOwn([&](const Piece& piece, std::int64_t) { own += piece.end - piece.begin; });
  m = Tensor::Zeros({own}, parameters.dtype());
  v = Tensor::Zeros({own}, parameters.dtype());
  if (options.average_decay > 0) average = parameters.state().Clone();

  const std::vector<std::int64_t> layers = LayersBelowTheTop(parameters);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Parameter& parameter = parameters.all()[i];
    if (!parameter.role.trained) continue;
    const auto group = std::ranges::find_if(
        options.groups, [&](const ParameterGroup& candidate) { return Matches(parameter, candidate.pattern); });
    const double default_decay = parameter.role.in_products && !parameter.role.looked_up ? 1 : 0;
    Segment segment{.begin = begin, .decay_factor = default_decay};
    if (group != options.groups.end()) {
      segment.decay_factor = group->decay_factor.value_or(default_decay);
      segment.rate_factor = group->rate_factor;
    }
    segment.rate_factor *= std::pow(options.layer_decay, static_cast<double>(layers[i]));
    begin += Parameters::Aligned(parameter.shape.elements());
    if (segments_.empty() || segments_.back().decay_factor != segment.decay_factor ||
        segments_.back().rate_factor != segment.rate_factor)
      segments_.push_back(segment);
    segments_.back().count = begin - segments_.back().begin;
  }
  Ensure(begin == trained_, "the segments have {} of {} trained numbers", begin, trained_);
}

void Optimizer::ForOwn(const std::function<void(const Piece& piece, std::int64_t offset)>& body) const {
  std::int64_t offset = 0;
  for (const Piece& piece : pieces_)
    if (piece.owner == rank_) {
      body(piece, offset);
      offset += piece.end - piece.begin;
    }
}

// Returns the gradient's norm. It has the same bits for any division into pieces, because pieces begin at block
// boundaries of the sum.
double Optimizer::Norm(const Parameters& parameters) const {
  std::vector<double> own;
  ForOwn([&](const Piece& piece, std::int64_t) {
    Dispatch(parameters.dtype(), [&]<typename T>(T) {
      const Tensor numbers = parameters.gradients().ViewRows(piece.begin, piece.end - piece.begin);
      const std::vector<double> sums = kernels::SquareSums<T>(numbers.span<T>());
      own.insert(own.end(), sums.begin(), sums.end());
    });
  });
  std::vector<std::vector<double>> sums = {own};  // sums of the blocks of each rank
  if (sharing_ != nullptr) {
    const std::string_view bytes(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double));
    sums.clear();
    for (const std::string& of_rank : GatherToAll(*sharing_, bytes)) sums.push_back(NumbersOf<double>(of_rank));
  }
  double sum = 0;
  std::vector<std::size_t> next(sums.size());
  for (const Piece& piece : pieces_)
    for (std::int64_t begin = piece.begin; begin < piece.end; begin += kernels::kSquareSumBlock) {
      const auto owner = static_cast<std::size_t>(piece.owner);
      sum += sums[owner][next[owner]++];
    }
  return std::sqrt(sum);
}

double Optimizer::Step(Parameters& parameters, double learning_rate, std::optional<double> weight_decay) {
  const double norm = Norm(parameters);
  Check(std::isfinite(norm), "the gradient's norm is {} at step {}", norm, step + 1);
  ++step;
  double clipped = norm;
  if (options.clip_parameter_norm > 0) {
    for (const Parameter& parameter : parameters.all())
      if (!parameter.gradient.empty()) ClipNorm(parameter.gradient, options.clip_parameter_norm);
    clipped = Norm(parameters);
  }
  // The effective decay starts small to forget the initial values quickly. It is (1 + t) / (10 + t), up to
  // `average_decay`.
  const auto t = static_cast<double>(step);
  const double average_decay = std::min(options.average_decay, (1 + t) / (10 + t));
  Dispatch(parameters.dtype(), [&]<typename T>(T) {
    for (const Segment& segment : segments_) {
      const kernels::AdamStep adam{
          .step = step,
          .learning_rate = learning_rate * segment.rate_factor,
          .beta1 = options.beta1,
          .beta2 = options.beta2,
          .epsilon = options.epsilon,
          .weight_decay = segment.decay_factor * weight_decay.value_or(options.weight_decay),
          .gradient_scale = options.clip_norm > 0 && clipped > options.clip_norm ? options.clip_norm / clipped : 1,
          .average_decay = average_decay};
      ForOwn([&](const Piece& piece, std::int64_t offset) {
        const std::int64_t first = std::max(segment.begin, piece.begin);
        const std::int64_t count = std::min(segment.begin + segment.count, piece.end) - first;
        if (count <= 0) return;
        const auto part = [&](const Tensor& all, std::int64_t begin) {
          return all.span<T>().subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
        };
        const std::int64_t own = offset + first - piece.begin;
        kernels::AdamUpdate<T>(adam, part(parameters.values(), first), part(parameters.gradients(), first),
                               part(m, own), part(v, own), average.empty() ? std::span<T>() : part(average, first));
      });
    }
    if (!average.empty())
      for (std::int64_t i = trained_; i < average.elements(); ++i)  // running statistics
        average.data<T>()[i] +=
            static_cast<T>(1 - average_decay) * (parameters.state().data<T>()[i] - average.data<T>()[i]);
  });
  parameters.gradients().Fill(0);
  if (sharing_ != nullptr) GatherPieces(*sharing_, parameters.values());
  return norm;
}

void Optimizer::GatherAverage() const {
  if (sharing_ != nullptr && !average.empty()) GatherPieces(*sharing_, average.ViewRows(0, trained_));
}

Tensor Optimizer::Whole(const Tensor& moments) const {
  if (sharing_ == nullptr) return moments;
  const bool first = rank_ == 0;
  const Tensor all = first ? Tensor::Empty({trained_}, moments.dtype()) : moments;
  std::vector<Transfer> transfers;
  Dispatch(moments.dtype(), [&]<typename T>(T) {
    ForOwn([&](const Piece& piece, std::int64_t offset) {
      const Tensor own = moments.ViewRows(offset, piece.end - piece.begin);
      if (first)
        all.ViewRows(piece.begin, own.elements()).CopyFrom(own);
      else
        transfers.push_back({0, true, BytesOf(own.span<T>())});
    });
    for (const Piece& piece : pieces_)
      if (first && piece.owner != 0)
        transfers.push_back(
            {piece.owner, false, BytesOf(all.ViewRows(piece.begin, piece.end - piece.begin).span<T>())});
  });
  sharing_->Exchange(transfers);
  return all;
}

void Optimizer::Keep(const Tensor& moments, const Tensor& all) const {
  ForOwn([&](const Piece& piece, std::int64_t offset) {
    const std::int64_t count = piece.end - piece.begin;
    moments.ViewRows(offset, count).CopyFrom(all.ViewRows(piece.begin, count));
  });
}

}  // namespace headlight
