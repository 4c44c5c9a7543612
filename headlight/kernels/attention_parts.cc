#include "headlight/kernels/attention_parts.h"

#include <algorithm>
#include <utility>

#include "headlight/kernels/attention_head.h"

namespace headlight::kernels {

namespace {

// Groups sequences whose keys share rows, directly or through other sequences. Returns for each sequence the first
// index in `order` of its group.
std::span<const std::int32_t> GroupsByKeys(std::span<const Sequence> keys, std::int64_t key_tokens,
                                           std::span<const std::int32_t> order) {
  // `owner` is the last sequence that uses each row of the keys. `group` links a sequence to an earlier one of its
  // group.
  thread_local std::vector<std::int32_t> owner, group, of_sequence;
  owner.assign(static_cast<std::size_t>(key_tokens), -1);
  group.resize(order.size());
  of_sequence.resize(order.size());
  const auto first_of = [&](std::int32_t index) {
    while (group[static_cast<std::size_t>(index)] != index) index = group[static_cast<std::size_t>(index)];
    return index;
  };
  for (std::size_t index = 0; index < order.size(); ++index) {
    const auto own = static_cast<std::int32_t>(index);
    group[index] = own;
    const Sequence rows = keys[static_cast<std::size_t>(order[index])];
    for (std::int32_t i = 0; i < rows.length; ++i) {
      std::int32_t& of_row = owner[static_cast<std::size_t>(rows.row(i))];
      if (of_row >= 0) {
        const std::int32_t one = first_of(of_row), other = first_of(own);
        group[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
      }
      of_row = own;
    }
  }
  for (std::size_t index = 0; index < order.size(); ++index)
    of_sequence[static_cast<std::size_t>(order[index])] = first_of(static_cast<std::int32_t>(index));
  return of_sequence;
}

}  // namespace

const BackwardPlan& PlanBackward(std::span<const Sequence> queries, std::span<const Sequence> keys,
                                 std::int64_t key_tokens, std::int32_t key_heads, int threads) {
  thread_local BackwardPlan plan;
  auto& [order, parts] = plan;
  order.resize(keys.size());
  std::int64_t scores = 0;
  for (std::size_t sequence = 0; sequence < order.size(); ++sequence) {
    order[sequence] = static_cast<std::int32_t>(sequence);
    scores += std::int64_t{queries[sequence].length} * keys[sequence].length;
  }
  const auto by_keys = [&](std::int32_t sequence) {
    return std::pair(keys[static_cast<std::size_t>(sequence)].begin, sequence);
  };
  std::ranges::sort(order, {}, by_keys);
  const std::span<const std::int32_t> groups = GroupsByKeys(keys, key_tokens, order);
  const auto group_of = [&](std::int32_t sequence) { return groups[static_cast<std::size_t>(sequence)]; };
  std::ranges::sort(order, {}, [&](std::int32_t sequence) { return std::pair(group_of(sequence), by_keys(sequence)); });
  parts.clear();
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    last = first + 1;
    while (last < order.size() && group_of(order[last]) == group_of(order[first])) ++last;
    const auto sequence = static_cast<std::size_t>(order[first]);
    const std::int32_t of_queries = queries[sequence].length, of_keys = keys[sequence].length;
    if (last > first + 1 || std::int64_t{of_queries} * of_keys * threads <= scores * key_heads) {
      parts.push_back({BackwardPart::whole, first, last});
      continue;
    }
    for (std::int32_t key = 0; key < of_keys; key += kBackwardKeys)
      parts.push_back({BackwardPart::keys, first, last, key});
    for (std::int32_t query = 0; query < of_queries; query += kBackwardQueries)
      parts.push_back({BackwardPart::queries, first, last, query});
  }
  return plan;
}

}  // namespace headlight::kernels
