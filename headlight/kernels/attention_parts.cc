#include "headlight/kernels/attention_parts.h"

#include <algorithm>
#include <utility>

#include "headlight/kernels/attention_head.h"

namespace headlight::kernels {

namespace {

// Reorders sentences, so that those whose keys share rows come one after another, and marks the last of each such
// group: `ends[place]`. Groups stay in the order of their first sentences.
void GroupByKeys(std::span<const Sequence> keys, std::int64_t key_tokens, std::vector<std::int32_t>& order,
                 std::vector<char>& ends) {
  thread_local std::vector<std::int32_t> owner, group;  // of a row: a place in the order; of a place: an earlier one
  owner.assign(static_cast<std::size_t>(key_tokens), -1);
  group.resize(order.size());
  const auto first_of = [&](std::int32_t place) {
    while (group[static_cast<std::size_t>(place)] != place) place = group[static_cast<std::size_t>(place)];
    return place;
  };
  bool shared = false;
  for (std::int32_t place = 0; place < std::ssize(order); ++place) {
    group[static_cast<std::size_t>(place)] = place;
    const Sequence rows = keys[static_cast<std::size_t>(order[static_cast<std::size_t>(place)])];
    for (std::int32_t i = 0; i < rows.length; ++i) {
      std::int32_t& of_row = owner[static_cast<std::size_t>(rows.row(i))];
      if (of_row >= 0 && of_row != place) {
        const std::int32_t one = first_of(of_row), other = first_of(place);
        group[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
        shared = true;
      }
      of_row = place;
    }
  }
  ends.assign(order.size(), 1);
  if (!shared) return;
  std::vector<std::pair<std::int32_t, std::int32_t>> sorted;  // the group's first place, the sentence
  for (std::int32_t place = 0; place < std::ssize(order); ++place)
    sorted.emplace_back(first_of(place), order[static_cast<std::size_t>(place)]);
  std::ranges::stable_sort(sorted, {}, [](const auto& place) { return place.first; });
  for (std::size_t place = 0; place < order.size(); ++place) {
    order[place] = sorted[place].second;
    ends[place] = place + 1 == order.size() || sorted[place + 1].first != sorted[place].first;
  }
}

}  // namespace

const BackwardPlan& PlanBackward(std::span<const Sequence> queries, std::span<const Sequence> keys,
                                 std::int64_t key_tokens, std::int32_t key_heads, int threads) {
  thread_local BackwardPlan plan;
  thread_local std::vector<char> ends;
  auto& [order, parts] = plan;
  order.resize(keys.size());
  std::int64_t scores = 0;
  for (std::size_t sentence = 0; sentence < order.size(); ++sentence) {
    order[sentence] = static_cast<std::int32_t>(sentence);
    scores += std::int64_t{queries[sentence].length} * keys[sentence].length;
  }
  std::ranges::sort(order, {}, [&](std::int32_t sentence) {
    return std::pair(keys[static_cast<std::size_t>(sentence)].begin, sentence);
  });
  GroupByKeys(keys, key_tokens, order, ends);
  parts.clear();
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    last = first + 1;
    while (ends[last - 1] == 0) ++last;
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
