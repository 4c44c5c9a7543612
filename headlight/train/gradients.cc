#include "headlight/train/gradients.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headlight/autograd/tape.h"
#include "headlight/base/error.h"
#include "headlight/base/parallel.h"
#include "headlight/kernels/adam.h"
#include "headlight/kernels/arithmetic.h"
#include "headlight/kernels/dropout_hash.h"

namespace headlight {
namespace {

void AddTo(const Tensor& sum, const Tensor& more) {
  const std::int64_t columns = std::gcd(sum.elements(), std::int64_t{4096});  // rows are shared among threads
  const Shape rows{sum.elements() / columns, columns};
  Dispatch(sum.dtype(), [&]<typename T>(T) {
    const Matrix<T> to = sum.ViewAs(rows).matrix<T>();
    kernels::AddRows<T>(to, more.ViewAs(rows).matrix<T>(), to);
  });
}

// kept = sum, sum = 0, while both are in the cache.
void MoveOut(const Tensor& sum, const Tensor& kept) {
  Dispatch(sum.dtype(), [&]<typename T>(T) {
    constexpr std::int64_t block = std::int64_t{1} << 14;
    const std::span<T> from = sum.span<T>(), to = kept.span<T>();
    ParallelFor((std::ssize(from) + block - 1) / block, [&](std::int64_t index) {
      const auto begin = static_cast<std::size_t>(index * block);
      const auto numbers = from.subspan(begin, std::min<std::size_t>(block, from.size() - begin));
      std::ranges::copy(numbers, to.begin() + index * block);
      std::ranges::fill(numbers, T{0});
    });
  });
}

}  // namespace

void ClipNorm(const Tensor& gradient, double longest) {
  Dispatch(gradient.dtype(), [&]<typename T>(T) {
    const double norm = std::sqrt(kernels::SumOfSquares<T>(gradient.span<T>()));
    if (norm <= longest) return;
    const Matrix<T> numbers = gradient.matrix<T>();
    kernels::ScaleRows<T>(numbers, longest / norm, numbers);
  });
}

bool GradientTree::Add(int level, std::int64_t index, const Tensor& sum) {
  for (;; ++level, index /= 2) {
    if (std::int64_t{1} << level >= parts_) return true;
    const std::int64_t sibling = index ^ 1;
    if (sibling << level >= parts_) continue;
    const auto found = nodes_.find({level, sibling});
    if (found == nodes_.end()) {
      if (free_.empty()) free_.push_back(Tensor::Empty(sum.shape(), sum.dtype()));
      MoveOut(sum, free_.back());
      nodes_[{level, index}] = free_.back();
      free_.pop_back();
      return false;
    }
    AddTo(sum, found->second);
    free_.push_back(found->second);
    nodes_.erase(found);
  }
}

double ComputeGradients(const Parameters& parameters, const PartLoss& loss, std::span<const std::any> parts,
                        std::int64_t labels, std::uint64_t seed, double clip_part_norm) {
  if (labels == 0) return 0;
  GradientTree tree(std::ssize(parts));
  double sum = 0;
  bool complete = false;
  for (std::int64_t i = 0; i < std::ssize(parts); ++i) {
    {
      Tape tape;
      Context context;
      context.tape = &tape;
      context.training = true;
      context.seed = MixBits(MixBits(seed) + static_cast<std::uint64_t>(i) + 1);
      const Tensor part_loss = loss(context, parts[static_cast<std::size_t>(i)], 1 / static_cast<double>(labels));
      sum += static_cast<double>(part_loss.data<float>()[0]);
      tape.Backward(part_loss);
    }
    if (clip_part_norm > 0) ClipNorm(parameters.gradients(), clip_part_norm / static_cast<double>(labels));
    complete = tree.Add(0, i, parameters.gradients());
  }
  Ensure(complete, "the gradients of {} parts are not complete", parts.size());
  return sum;
}

}  // namespace headlight
