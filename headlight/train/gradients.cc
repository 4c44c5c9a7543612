#include "headlight/train/gradients.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/kernels/adam.h"
#include "headlight/kernels/arithmetic.h"
#include "headlight/kernels/dropout_hash.h"
#include "headlight/nn/convolution.h"
#include "headlight/train/rank_sum.h"

namespace headlight {
namespace {

// The loss of a part and its other results, except the gradient.
struct PartOutcome {
  double loss = 0;
  std::vector<double> sums;
  std::vector<BatchStatistic> statistics;
};

// Appends the outcome to `to` as numbers: the loss, the sums, and for each statistic its parameter's index, its length
// and its values.
void Append(const PartOutcome& outcome, const Parameters& parameters, std::vector<double>& to) {
  to.push_back(outcome.loss);
  to.insert(to.end(), outcome.sums.begin(), outcome.sums.end());
  to.push_back(static_cast<double>(outcome.statistics.size()));
  for (const auto& [average, of_batch] : outcome.statistics) {
    const auto found = std::ranges::find(parameters.all(), average, [](const Parameter& p) { return &p; });
    to.push_back(static_cast<double>(found - parameters.all().begin()));
    to.push_back(static_cast<double>(of_batch.size()));
    to.insert(to.end(), of_batch.begin(), of_batch.end());
  }
}

std::vector<PartOutcome> OutcomesOf(std::span<const std::string> of_ranks, std::size_t sums,
                                    const Parameters& parameters) {
  std::vector<PartOutcome> outcomes;
  for (const std::string& of_rank : of_ranks) {
    const std::vector<double> numbers = NumbersOf<double>(of_rank);
    auto at = numbers.begin();
    const auto take = [&](std::size_t count) {
      const auto begin = at;
      at += static_cast<std::ptrdiff_t>(count);
      return std::vector<double>(begin, at);
    };
    while (at != numbers.end()) {
      PartOutcome& outcome = outcomes.emplace_back();
      outcome.loss = *at++;
      outcome.sums = take(sums);
      for (auto left = static_cast<std::int64_t>(*at++); left > 0; --left) {
        const Parameter& average = parameters.all()[static_cast<std::size_t>(*at++)];
        const auto count = static_cast<std::size_t>(*at++);
        outcome.statistics.push_back({&average, take(count)});
      }
    }
  }
  return outcomes;
}

// Sends each piece of the gradient of this rank's last part as soon as the backward pass has completed it.
class LastPart {
 public:
  LastPart(std::int64_t part, const GradientTree& tree, const Tensor& gradients, RankSum& sum)
      : part_(part), tree_(tree), gradients_(gradients), sum_(sum) {
    for (const Piece& piece : sum.pieces()) unknown_.push_back(piece.end - piece.begin);
  }

  // Marks the gradient of a parameter as complete, and sends the pieces that are complete as a result.
  void Complete(const Tensor& gradient) {
    const std::int64_t begin = OffsetOf(gradient), end = begin + Parameters::Aligned(gradient.elements());
    const std::vector<Piece>& pieces = sum_.pieces();
    const auto first = std::ranges::upper_bound(pieces, begin, {}, &Piece::end);
    for (auto piece = first; piece != pieces.end() && piece->begin < end; ++piece) {
      const auto index = static_cast<std::size_t>(piece - pieces.begin());
      unknown_[index] -= std::min(end, piece->end) - std::max(begin, piece->begin);
      if (unknown_[index] == 0) Send(index);
    }
  }

  // Marks all gradients as complete, and sends the remaining pieces.
  void Finish() {
    for (std::size_t piece = 0; piece < unknown_.size(); ++piece)
      if (std::exchange(unknown_[piece], 0) != 0) Send(piece);
  }

 private:
  std::int64_t OffsetOf(const Tensor& gradient) const {
    std::int64_t offset = 0;
    Dispatch(gradient.dtype(), [&]<typename T>(T) { offset = gradient.data<T>() - gradients_.data<T>(); });
    return offset;
  }

  void Send(std::size_t index) {
    const Piece& piece = sum_.pieces()[index];
    const Tensor numbers = gradients_.ViewRows(piece.begin, piece.end - piece.begin);
    sum_.Add(tree_.AddRange(part_, numbers, piece.begin), index, gradients_);
  }

  std::int64_t part_;
  const GradientTree& tree_;
  Tensor gradients_;
  RankSum& sum_;
  std::vector<std::int64_t> unknown_;  // number of incomplete elements of each piece
};

}  // namespace

void ClipNorm(const Tensor& gradient, double longest) {
  Dispatch(gradient.dtype(), [&]<typename T>(T) {
    const double norm = std::sqrt(kernels::SumOfSquares<T>(gradient.span<T>()));
    if (norm <= longest) return;
    const Matrix<T> numbers = gradient.matrix<T>();
    kernels::ScaleRows<T>(numbers, longest / norm, numbers);
  });
}

double ComputeGradients(const Parameters& parameters, const PartLoss& loss, std::span<const TrainingPart> parts,
                        const StepOptions& options) {
  if (options.labels == 0) return 0;
  const auto count = std::ssize(parts);
  const int size = options.ranks == nullptr ? 1 : options.ranks->size();
  const auto rank = static_cast<std::size_t>(options.ranks == nullptr ? 0 : options.ranks->rank());
  const std::vector<std::int64_t> dealt = DivideParts(count, size);
  const Tensor& gradients = parameters.gradients();
  GradientTree tree(count, options.type);
  std::optional<RankSum> rank_sum;
  if (size > 1) rank_sum.emplace(*options.ranks, count, options.type, gradients, options.own_pieces);
  std::vector<GradientTree::NodeIndex> to_send;  // nodes of the tree that this rank contributes
  if (rank_sum) to_send = GradientTree::NodesOf(count, dealt[rank], dealt[rank + 1]);
  std::vector<double> own;  // outcomes of this rank's parts
  bool complete = false;
  for (std::int64_t i = dealt[rank]; i < dealt[rank + 1]; ++i) {
    std::optional<LastPart> last;
    if (rank_sum && i + 1 == dealt[rank + 1]) last.emplace(i, tree, gradients, *rank_sum);
    PartOutcome outcome;
    TrainingPart made;  // kept until the end of the backward pass, because gradient checkpointing uses it again
    const TrainingPart* part = &parts[static_cast<std::size_t>(i)];
    if (!part->made()) part = &(made = Made(*part));
    if (!options.sums.empty()) options.sums.Fill(0);
    {
      Tape tape;
      Context context;
      context.tape = &tape;
      context.training = {.seed = MixBits(MixBits(options.seed) + static_cast<std::uint64_t>(i) + 1),
                          .statistics = &outcome.statistics};
      const Tensor part_loss = loss(context, *part, 1 / static_cast<double>(options.labels));
      outcome.loss = static_cast<double>(part_loss.data<float>()[0]);
      std::function<void(const Tensor&)> known;
      if (last && options.clip_part_norm == 0) known = [&](const Tensor& gradient) { last->Complete(gradient); };
      tape.Backward(part_loss, known);
    }
    if (!options.sums.empty()) outcome.sums = options.sums.ToVector<double>();
    Append(outcome, parameters, own);
    if (options.clip_part_norm > 0) ClipNorm(gradients, options.clip_part_norm / static_cast<double>(options.labels));
    if (last) {
      last->Finish();
      break;
    }
    complete = tree.Add(0, i, gradients);
    std::erase_if(to_send, [&](const GradientTree::NodeIndex& node) {
      const auto found = tree.nodes().find(node);
      if (found == tree.nodes().end()) return false;
      for (std::size_t piece = 0; piece < rank_sum->pieces().size(); ++piece) rank_sum->Add(node, piece, found->second);
      return true;
    });
  }
  const std::string_view own_bytes(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double));
  std::vector<std::string> of_ranks;
  if (!rank_sum) {
    Ensure(complete, "the gradients of {} parts are not complete", parts.size());
    of_ranks.emplace_back(own_bytes);
  } else {
    rank_sum->Finish();
    of_ranks = GatherToAll(*options.ranks, own_bytes);
  }

  if (!options.sums.empty()) options.sums.Fill(0);
  double sum = 0;
  const auto sums = static_cast<std::size_t>(options.sums.empty() ? 0 : options.sums.elements());
  for (const PartOutcome& outcome : OutcomesOf(of_ranks, sums, parameters)) {
    sum += outcome.loss;
    for (std::size_t k = 0; k < sums; ++k) options.sums.data<double>()[k] += outcome.sums[k];
    for (const BatchStatistic& statistic : outcome.statistics) KeepAverage(statistic);
  }
  return sum;
}

}  // namespace headlight
