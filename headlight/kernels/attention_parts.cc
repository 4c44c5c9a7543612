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
  thread_local std::vector<std::int32_t> owner, group,
      of_sentence;  // owner: last sequence with this row; group: an earlier sequence of the same group
  owner.assign(static_cast<std::size_t>(key_tokens), -1);
  group.resize(order.size());
  of_sentence.resize(order.size());
  const auto first_of = [&](std::int32_t place) {
    while (group[static_cast<std::size_t>(place)] != place) place = group[static_cast<std::size_t>(place)];
    return place;
  };
  for (std::size_t place = 0; place < order.size(); ++place) {
    const auto own = static_cast<std::int32_t>(place);
    group[place] = own;
    const Sequence rows = keys[static_cast<std::size_t>(order[place])];
    for (std::int32_t i = 0; i < rows.length; ++i) {
      std::int32_t& of_row = owner[static_cast<std::size_t>(rows.row(i))];
      if (of_row >= 0) {
        const std::int32_t one = first_of(of_row), other = first_of(own);
        group[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
      }
      of_row = own;
    }
  }
  for (std::size_t place = 0; place < order.size(); ++place)
    of_sentence[static_cast<std::size_t>(order[place])] = first_of(static_cast<std::int32_t>(place));
  return of_sentence;
}

}  // namespace

const BackwardPlan& PlanBackward(std::span<const Sequence> queries, std::span<const Sequence> keys,
                                 std::int64_t key_tokens, std::int32_t key_heads, int threads) {
  thread_local BackwardPlan plan;
  auto& [order, parts] = plan;
  order.resize(keys.size());
  std::int64_t scores = 0;
  for (std::size_t sentence = 0; sentence < order.size(); ++sentence) {
    order[sentence] = static_cast<std::int32_t>(sentence);
    scores += std::int64_t{queries[sentence].length} * keys[sentence].length;
  }
  const auto by_keys = [&](std::int32_t sentence) {
    return std::pair(keys[static_cast<std::size_t>(sentence)].begin, sentence);
  };
  std::ranges::sort(order, {}, by_keys);
  const std::span<const std::int32_t> groups = GroupsByKeys(keys, key_tokens, order);
  const auto group_of = [&](std::int32_t sentence) { return groups[static_cast<std::size_t>(sentence)]; };
  std::ranges::sort(order, {}, [&](std::int32_t sentence) { return std::pair(group_of(sentence), by_keys(sentence)); });
  parts.clear();
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    last = first + 1;
    while (last < order.size() && group_of(order[last]) == group_of(order[first])) ++last;
    const auto sentence = static_cast<std::size_t>(order[first]);
    const std::int32_t of_queries = queries[sentence].length, of_keys = keys[sentence].length;
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
