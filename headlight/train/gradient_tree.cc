#include "headlight/train/gradient_tree.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "headlight/base/parallel.h"
#include "headlight/kernels/arithmetic.h"

namespace headlight {
namespace {

void AddTo(const Tensor& sum, const Tensor& more) {
  const std::int64_t columns = std::gcd(sum.elements(), std::int64_t{4096});  // row length; threads divide the rows
  const Shape rows{sum.elements() / columns, columns};
  Dispatch(sum.dtype(), [&]<typename T>(T) {
    const Matrix<T> to = sum.ViewAs(rows).matrix<T>();
    kernels::AddRows<T>(to, more.ViewAs(rows).matrix<T>(), to);
  });
}

// Moves `sum` to `kept` and sets `sum` to zeros, in one pass over blocks that fit into the cache.
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

// Rounds to nearest, ties to even. Infinities and NaN are unchanged.
void RoundToBfloat16(const Tensor& gradient) {
  Dispatch(gradient.dtype(), [&]<typename T>(T) {
    constexpr std::int64_t block = std::int64_t{1} << 14;
    const std::span<T> numbers = gradient.span<T>();
    ParallelFor((std::ssize(numbers) + block - 1) / block, [&](std::int64_t index) {
      const auto begin = static_cast<std::size_t>(index * block);
      for (T& number : numbers.subspan(begin, std::min<std::size_t>(block, numbers.size() - begin))) {
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
        const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
        const bool finite = (bits & 0x7f800000) != 0x7f800000;
        number = static_cast<T>(std::bit_cast<float>(finite ? rounded : bits & 0xffff0000));
      }
    });
  });
}

}  // namespace

bool GradientTree::Add(int level, std::int64_t index, const Tensor& sum) {
  if (level == 0 && type_ == GradientType::bfloat16) RoundToBfloat16(sum);
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
    if (type_ == GradientType::bfloat16) RoundToBfloat16(sum);
    free_.push_back(found->second);
    nodes_.erase(found);
  }
}

GradientTree::NodeIndex GradientTree::AddRange(std::int64_t part, const Tensor& sum, std::int64_t begin) const {
  if (type_ == GradientType::bfloat16) RoundToBfloat16(sum);
  NodeIndex node{0, part};
  for (; std::int64_t{1} << node.first < parts_; ++node.first, node.second /= 2) {
    const std::int64_t sibling = node.second ^ 1;
    if (sibling << node.first >= parts_) continue;
    const auto found = nodes_.find({node.first, sibling});
    if (found == nodes_.end()) break;
    AddTo(sum, found->second.ViewRows(begin, sum.elements()));
    if (type_ == GradientType::bfloat16) RoundToBfloat16(sum);
  }
  return node;
}

std::vector<GradientTree::NodeIndex> GradientTree::NodesOf(std::int64_t parts, std::int64_t begin, std::int64_t end) {
  GradientTree tree(parts);
  const Tensor one = Tensor::Zeros({1});
  bool complete = false;
  for (std::int64_t part = begin; part < end; ++part) complete = tree.Add(0, part, one);
  if (complete) return {{std::bit_width(static_cast<std::uint64_t>(parts - 1)), 0}};  // the root of the tree
  std::vector<NodeIndex> indices;
  for (const auto& [index, node] : tree.nodes()) indices.push_back(index);
  return indices;
}

}  // namespace headlight
